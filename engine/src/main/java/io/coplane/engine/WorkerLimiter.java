package io.coplane.engine;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Requests in work: at most so many per keyspace, and in all (worker.md 10). The keyspace's permit first, then the global one. Thread-safe. */
final class WorkerLimiter {
    /** Beyond so many keyspaces, those without work are forgotten when a new one comes. */
    private static final int KEYSPACES_KEPT = 65_536;

    private final int keyspacePermits;
    private final AsyncSemaphore global;
    private final ConcurrentHashMap<Integer, AsyncSemaphore> keyspaces = new ConcurrentHashMap<>();
    private final ScheduledExecutorService timer;
    private final Clock clock;

    /** @param timer borrowed; ends waits whose time is over */
    WorkerLimiter(int globalPermits, int keyspacePermits, ScheduledExecutorService timer, Clock clock) {
        this.keyspacePermits = keyspacePermits;
        this.global = new AsyncSemaphore(globalPermits);
        this.timer = timer;
        this.clock = clock;
    }

    /** Both permits of one request. {@link #close()} gives them back, once. */
    final class Permit implements AutoCloseable {
        private final AsyncSemaphore keyspace;
        private final AtomicBoolean closed = new AtomicBoolean();

        private Permit(AsyncSemaphore keyspace) {
            this.keyspace = keyspace;
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                global.release();
                keyspace.release();
            }
        }
    }

    /**
     * Waits for both permits.
     *
     * @param deadlineNanos on the clock's nanoTime
     * @return the permits; fails with {@link CoplaneException} PERMIT_TIMEOUT, and holds nothing then
     */
    CompletableFuture<Permit> acquire(int keyspaceId, long deadlineNanos) {
        AsyncSemaphore keyspace = keyspace(keyspaceId);
        if (keyspace.tryAcquire()) {
            if (global.tryAcquire()) {
                return CompletableFuture.completedFuture(new Permit(keyspace));
            }
            return acquireGlobal(keyspace, deadlineNanos);
        }
        return waitFor(keyspace, deadlineNanos).thenCompose(taken -> acquireGlobal(keyspace, deadlineNanos));
    }

    /** Free permits in all; for the status page and tests. */
    int freeGlobalPermits() {
        return global.freePermits();
    }

    private CompletableFuture<Permit> acquireGlobal(AsyncSemaphore keyspace, long deadlineNanos) {
        return waitFor(global, deadlineNanos).handle((taken, failure) -> {
            if (failure != null) {
                keyspace.release();
                throw timeout();
            }
            return new Permit(keyspace);
        });
    }

    private CompletableFuture<Void> waitFor(AsyncSemaphore semaphore, long deadlineNanos) {
        CompletableFuture<Void> waiter = semaphore.acquire();
        if (waiter.isDone()) {
            return waiter;
        }
        long left = Math.max(0, deadlineNanos - clock.nanoTime());
        ScheduledFuture<?> alarm = timer.schedule(() -> semaphore.cancel(waiter), left, TimeUnit.NANOSECONDS);
        return waiter.handle((taken, cancelled) -> {
            alarm.cancel(false);
            if (cancelled != null) {
                throw timeout();
            }
            return null;
        });
    }

    private static CoplaneException timeout() {
        return new CoplaneException(ErrorCode.PERMIT_TIMEOUT, "wait permit timeout");
    }

    private AsyncSemaphore keyspace(int keyspaceId) {
        AsyncSemaphore semaphore = keyspaces.get(keyspaceId);
        if (semaphore != null) {
            return semaphore;
        }
        if (keyspaces.size() >= KEYSPACES_KEPT) {
            keyspaces.values().removeIf(AsyncSemaphore::isIdle);
        }
        AsyncSemaphore created = new AsyncSemaphore(keyspacePermits);
        AsyncSemaphore other = keyspaces.putIfAbsent(keyspaceId, created);
        return other == null ? created : other;
    }
}
