package io.coplane.worker;

import io.coplane.nativecache.Clock;

/**
 * A wall clock that stands still while durations and deadlines go on: answers of recorded requests that ask for the time can be compared.
 *
 * @param wallMicros microseconds since 1970
 */
public record FixedClock(long wallMicros) implements Clock {
    @Override
    public long nanoTime() {
        return Clock.system().nanoTime();
    }
}
