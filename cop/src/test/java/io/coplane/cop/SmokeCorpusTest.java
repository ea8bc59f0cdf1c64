package io.coplane.cop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The requests of data set smoke over its rows in memory: executors, expressions and encoders without files. */
class SmokeCorpusTest {
    private static final RecordedData DATA = new RecordedData("smoke");

    static IntStream ordinals() {
        return IntStream.range(0, DATA.requests().size());
    }

    @ParameterizedTest
    @MethodSource("ordinals")
    void answersLikeTheReference(int ordinal) throws Exception {
        assertThat(CorpusSweep.run(DATA, ordinal)).isNull();
    }
}
