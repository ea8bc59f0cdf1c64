package io.coplane.nativecache.store;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * One call with its retries (ia.md 16.5): waits for a permit, makes an attempt, classifies its failure, pauses 2^n times the sleep interval, and so on.
 * A deadline cuts all of it short; where the next pause would end beyond it, the call fails at once, because nothing can come of it.
 *
 * <p>Holds no thread while it waits. Its steps follow one another; only the deadline's timer comes in between, and that only sets {@link #isOver}
 * and aborts the step of the moment.
 */
final class S3Call<T> {
    /** No deadline. */
    static final long NEVER = Long.MAX_VALUE;

    /**
     * What all calls of a store share.
     *
     * @param account charged with {@code bytesPerAttempt} while an attempt is on the wire
     */
    record Shared(
            S3Timing timing,
            Clock clock,
            ScheduledExecutorService timer,
            Permits permits,
            MemoryGuard account,
            long bytesPerAttempt,
            StoreMetrics metrics) {}

    private final Shared shared;
    private final StoreMetrics.Call kind;
    private final String object;
    private final long deadlineNanos;
    private final boolean retriesAll;
    private final Supplier<Attempt<T>> attempts;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private int retries;
    private ScheduledFuture<?> deadlineTimer;
    private volatile boolean isOver;
    private volatile Runnable abortStep = () -> {};

    /**
     * @param object what the call is about, as {@code key=value} pairs for errors
     * @param deadlineNanos on the clock, or {@link #NEVER}
     * @param retriesAll repeat whatever the failure was (ia.md 17.1)
     */
    S3Call(
            Shared shared,
            StoreMetrics.Call kind,
            String object,
            long deadlineNanos,
            boolean retriesAll,
            Supplier<Attempt<T>> attempts) {
        this.shared = shared;
        this.kind = kind;
        this.object = object;
        this.deadlineNanos = deadlineNanos;
        this.retriesAll = retriesAll;
        this.attempts = attempts;
    }

    CompletableFuture<T> start() {
        if (deadlineNanos != NEVER) {
            long left = left();
            if (left <= 0) {
                return CompletableFuture.failedFuture(deadline(null));
            }
            try {
                deadlineTimer = shared.timer().schedule(this::expire, left, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                return CompletableFuture.failedFuture(closed(e));
            }
        }
        waitForPermit();
        return result;
    }

    private void expire() {
        isOver = true;
        abortStep.run();
    }

    /** Says how to abort the step that begins now. */
    private void step(Runnable abort) {
        abortStep = abort;
        if (isOver) { // the timer may have run before it could see this step
            abort.run();
        }
    }

    private void waitForPermit() {
        CompletableFuture<Void> permit = shared.permits().acquire();
        step(() -> permit.completeExceptionally(deadline(null)));
        permit.whenComplete((granted, failure) -> {
                    if (failure == null) {
                        attempt();
                    } else {
                        fail(deadline(null));
                    }
                })
                .exceptionally(thrown -> null);
    }

    private void attempt() {
        Attempt<T> attempt;
        try {
            shared.account().charge(shared.bytesPerAttempt());
        } catch (RuntimeException e) {
            shared.permits().release();
            fail(S3Failure.of(e, object).error());
            return;
        }
        try {
            attempt = attempts.get();
        } catch (RuntimeException e) {
            release();
            attemptFailed(e);
            return;
        }
        step(() -> attempt.abort(deadline(null)));
        CompletableFuture<Void> followed = attempt.future().handle((value, failure) -> {
            release();
            if (failure != null) {
                attemptFailed(failure);
            } else {
                succeed(value);
            }
            return null;
        });
        followed.exceptionally(thrown -> {
            fail(S3Failure.of(thrown, object)
                    .error()); // of the lines above: a bug, but the caller must not wait for ever
            return null;
        });
    }

    private void release() {
        shared.account().release(shared.bytesPerAttempt());
        shared.permits().release();
    }

    private void attemptFailed(Throwable thrown) {
        S3Failure failure = S3Failure.of(thrown, object);
        CoplaneException error = failure.error();
        if (!failure.isRetryable() && (!retriesAll || error.code() == ErrorCode.DEADLINE)) {
            fail(error);
            return;
        }
        if (retries >= shared.timing().maxRetries()) {
            fail(new CoplaneException(error.code(), error.getMessage() + " attempts=" + (retries + 1), error));
            return;
        }
        retries++;
        long pause = shared.timing().pauseNanos(retries);
        if (deadlineNanos != NEVER && pause >= left()) {
            fail(deadline(error));
            return;
        }
        shared.metrics().retried(kind);
        try {
            ScheduledFuture<?> next = shared.timer().schedule(this::waitForPermit, pause, TimeUnit.NANOSECONDS);
            step(() -> {
                if (next.cancel(false)) {
                    fail(deadline(error));
                }
            });
        } catch (RejectedExecutionException e) {
            fail(closed(e));
        }
    }

    private long left() {
        return deadlineNanos - shared.clock().nanoTime();
    }

    private void succeed(T value) {
        stopTimer();
        result.complete(value);
    }

    private void fail(CoplaneException error) {
        stopTimer();
        result.completeExceptionally(error);
    }

    private void stopTimer() {
        if (deadlineTimer != null) {
            deadlineTimer.cancel(false);
        }
    }

    private CoplaneException deadline(Throwable cause) {
        return new CoplaneException(
                ErrorCode.DEADLINE,
                "S3 call exceeds the deadline: " + object + (cause == null ? "" : " cause=" + cause.getMessage()),
                cause);
    }

    private CoplaneException closed(Throwable cause) {
        return new CoplaneException(ErrorCode.SHUTTING_DOWN, "store is closed: " + object, cause);
    }
}
