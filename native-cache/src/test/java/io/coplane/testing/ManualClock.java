package io.coplane.testing;

import io.coplane.nativecache.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that stands still until a test moves it. Its monotonic time starts at 0. Thread-safe. */
public final class ManualClock implements Clock {
    /** The time at which the clock stood when the recorded requests were answered ({@code testdata/corpus/README.md}). */
    public static final Instant RECORDED = Instant.parse("2026-11-29T12:00:00Z");

    private final AtomicLong wallMicros;
    private final AtomicLong nanos = new AtomicLong();

    /** @param start wall time, cut to microseconds */
    public ManualClock(Instant start) {
        wallMicros = new AtomicLong(ChronoUnit.MICROS.between(Instant.EPOCH, start));
    }

    /** Returns a clock at {@link #RECORDED}. */
    public static ManualClock recorded() {
        return new ManualClock(RECORDED);
    }

    /** Moves both times forward; wall time by whole microseconds. */
    public void advance(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException("monotonic time can't go back: " + by);
        }
        nanos.addAndGet(by.toNanos());
        wallMicros.addAndGet(by.toNanos() / 1_000);
    }

    /** Steps wall time, also back, as an administrator or NTP may; monotonic time stays. */
    public void stepWallTo(Instant time) {
        wallMicros.set(ChronoUnit.MICROS.between(Instant.EPOCH, time));
    }

    @Override
    public long wallMicros() {
        return wallMicros.get();
    }

    @Override
    public long nanoTime() {
        return nanos.get();
    }
}
