package io.coplane.nativecache;

import java.time.Instant;
import java.time.InstantSource;

/** Reads the machine's clocks; the only class that may. */
final class SystemClock implements Clock {
    static final SystemClock INSTANCE = new SystemClock();

    private final InstantSource source = InstantSource.system();

    private SystemClock() {}

    @Override
    public long wallMicros() {
        Instant now = source.instant();
        return Math.addExact(Math.multiplyExact(now.getEpochSecond(), 1_000_000L), now.getNano() / 1_000);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }
}
