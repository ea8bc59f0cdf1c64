package io.coplane.engine;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.snapshot.DeadlineCheck;

/** A point on the injected clock after which work stops. Thread-safe. */
record Deadline(Clock clock, long nanos) implements DeadlineCheck {
    @Override
    public void check() {
        if (isOver()) {
            throw new CoplaneException(ErrorCode.DEADLINE, "deadline is exceeded");
        }
    }

    boolean isOver() {
        return clock.nanoTime() - nanos > 0;
    }
}
