package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.testing.Seeds;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every decoder on its seeds and on mutations of them: about 25 s for all, or {@code -Dcoplane.fuzz.seconds} for each. Guided by coverage, and for
 * hours: {@code bin/fuzz}.
 */
class DecoderFuzzTest {
    private static final long SECONDS = Long.getLong("coplane.fuzz.seconds", 1);

    @ParameterizedTest
    @EnumSource
    void seedsAreDecodedOrRefused(FuzzTarget target) {
        List<byte[]> seeds = target.seeds();

        seeds.forEach(target::run);
        target.run(new byte[0]);
        assertThat(seeds).isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void anyBytesAreDecodedOrRefused(FuzzTarget target) {
        long executions = FuzzMain.fuzz(target, Seeds.fresh(), TimeUnit.SECONDS.toNanos(SECONDS));

        System.out.println("fuzz target=" + target + " executions=" + executions);
        assertThat(executions).isPositive();
    }
}
