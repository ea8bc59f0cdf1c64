package io.coplane.nativecache;

import java.util.concurrent.TimeUnit;

/** The one source of time. Injected; tests use a manual one. Thread-safe. */
public interface Clock {
    /** Wall clock: milliseconds since 1970-01-01T00:00:00Z. */
    default long wallMillis() {
        return TimeUnit.MICROSECONDS.toMillis(wallMicros());
    }

    /** Wall clock: microseconds since 1970-01-01T00:00:00Z. */
    long wallMicros();

    /** Monotonic nanoseconds from an arbitrary origin, for durations and deadlines. */
    long nanoTime();

    /** The machine's clocks. */
    static Clock system() {
        return SystemClock.INSTANCE;
    }
}
