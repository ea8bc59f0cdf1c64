package io.coplane.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ManualClockTest {
    @Test
    void standsStillUntilMoved() {
        var clock = ManualClock.recorded();

        assertThat(clock.wallMillis()).isEqualTo(1_795_953_600_000L);
        assertThat(clock.nanoTime()).isZero();

        clock.advance(Duration.ofNanos(1_500_999));

        assertThat(clock.wallMicros()).isEqualTo(1_795_953_600_001_500L);
        assertThat(clock.nanoTime()).isEqualTo(1_500_999);
    }

    @Test
    void stepsWallTimeBackWithoutMonotonicTime() {
        var clock = ManualClock.recorded();

        clock.stepWallTo(Instant.EPOCH.minusMillis(1));

        assertThat(clock.wallMicros()).isEqualTo(-1_000);
        assertThat(clock.nanoTime()).isZero();
        assertThatThrownBy(() -> clock.advance(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
    }
}
