package io.coplane.compaction;

import io.coplane.testing.NoLeaks;
import io.coplane.testing.Seeds;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Random histories, levels, safe points and jobs: what a read at or above the safe point sees never changes. */
@ExtendWith(NoLeaks.class)
final class CompactionModelTest {
    private static final int SEEDS =
            Integer.getInteger("coplane.seeds", Boolean.getBoolean("coplane.long") ? 10_000 : 100);

    static Stream<Long> seeds() {
        return Seeds.fixedAndFresh();
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void keepsWhatReadsSee(long seed) {
        ModelRun.run(seed);
    }

    @Test
    void keepsWhatReadsSeeForManySeeds() {
        long fresh = Seeds.fresh();
        LongStream.range(1, SEEDS).forEach(i -> {
            try {
                ModelRun.run(fresh + i);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("failed with seed " + (fresh + i), e);
            }
        });
        System.out.println("modelled shards: seeds=" + SEEDS + " " + ModelRun.figures());
    }
}
