package io.coplane.engine;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Requests between their arrival and their answer, loads of snapshots, and the end of a data plane: once it is closed it refuses requests, and whoever
 * closes it waits for what is in work, or gives it up. Thread-safe.
 */
final class InFlight {
    private final AtomicInteger inWork = new AtomicInteger(); // requests
    private final AtomicInteger unended = new AtomicInteger(); // requests and loads
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean givenUp; // work goes on no more
    private final CompletableFuture<Void> drained = new CompletableFuture<>();

    /** A request came. Each calls {@link #left} once, also if it is refused. */
    void entered() {
        inWork.incrementAndGet();
        unended.incrementAndGet();
    }

    /** A request is answered. */
    void left() {
        inWork.decrementAndGet();
        ended();
    }

    /** A load has begun, which may end after its request. Each calls {@link #ended} once. */
    void loading() {
        unended.incrementAndGet();
    }

    /** A load has ended. */
    void ended() {
        if (unended.decrementAndGet() == 0 && closed.get()) {
            drained.complete(null);
        }
    }

    /** Requests in work. */
    int count() {
        return inWork.get();
    }

    boolean isClosed() {
        return closed.get();
    }

    /** @throws CoplaneException SHUTTING_DOWN once it is closed */
    void refuseWhenClosed() {
        if (closed.get()) {
            throw new CoplaneException(ErrorCode.SHUTTING_DOWN, "data plane is closed");
        }
    }

    /** Refuses requests from now on. @return false if it was closed before */
    boolean close() {
        return closed.compareAndSet(false, true);
    }

    /** Has what is in work end at its next check. */
    void giveUp() {
        givenUp = true;
    }

    boolean isGivenUp() {
        return givenUp;
    }

    /** Waits for what is in work. After {@link #close}. @return false if some is still */
    boolean awaitDrained(Duration most) {
        if (unended.get() == 0) {
            return true;
        }
        try {
            drained.get(most.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "never completed so", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
