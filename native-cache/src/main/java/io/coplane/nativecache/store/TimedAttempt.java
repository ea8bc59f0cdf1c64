package io.coplane.nativecache.store;

import io.coplane.nativecache.store.S3Failure.TransportException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** One request without a body worth the name in its answer: the whole of it has one time limit. */
final class TimedAttempt<T> implements Attempt<T> {
    private final CompletableFuture<T> sent;
    private final CompletableFuture<T> done = new CompletableFuture<>();

    TimedAttempt(CompletableFuture<T> sent, long limitNanos, ScheduledExecutorService timer) {
        this.sent = sent;
        ScheduledFuture<?> limit = timer.schedule(
                () -> abort(new TransportException("time-out of the request")), limitNanos, TimeUnit.NANOSECONDS);
        sent.whenComplete((value, failure) -> {
                    limit.cancel(false);
                    if (failure == null) {
                        done.complete(value);
                    } else {
                        done.completeExceptionally(failure);
                    }
                })
                .exceptionally(thrown -> null);
    }

    @Override
    public CompletableFuture<T> future() {
        return done;
    }

    @Override
    public void abort(Throwable reason) {
        if (done.completeExceptionally(reason)) { // first, so that it is this and not the cancellation that is told
            sent.cancel(true);
        }
    }
}
