package io.coplane.engine;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.snapshot.DeadlineCheck;
import java.util.function.BooleanSupplier;

/** A point on the injected clock after which work stops, or sooner if nobody waits for it. Thread-safe. */
record Deadline(Clock clock, long nanos, BooleanSupplier isAbandoned) implements DeadlineCheck {
    @Override
    public void check() {
        if (isOver()) {
            throw new CoplaneException(ErrorCode.DEADLINE, "deadline is exceeded");
        }
    }

    boolean isOver() {
        return clock.nanoTime() - nanos > 0 || isAbandoned.getAsBoolean();
    }
}
