package io.coplane.engine;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.snapshot.DeadlineCheck;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** A point on the injected clock after which work stops, or sooner if nobody waits for it. Thread-safe. */
record Deadline(Clock clock, long nanos, BooleanSupplier isAbandoned) implements DeadlineCheck {
    @Override
    public void check() {
        if (isOver()) {
            throw exceeded();
        }
    }

    /** As {@code work}, but not beyond this deadline: fails with DEADLINE then. */
    <T> CompletableFuture<T> bound(CompletableFuture<T> work) {
        return work.isDone()
                ? work
                : work.copy()
                        .orTimeout(Math.max(0, nanos - clock.nanoTime()), TimeUnit.NANOSECONDS)
                        .exceptionallyCompose(failure -> CompletableFuture.failedFuture(
                                Failures.unwrap(failure) instanceof TimeoutException ? exceeded() : failure));
    }

    private static CoplaneException exceeded() {
        return new CoplaneException(ErrorCode.DEADLINE, "deadline is exceeded");
    }

    boolean isOver() {
        return clock.nanoTime() - nanos > 0 || isAbandoned.getAsBoolean();
    }
}
