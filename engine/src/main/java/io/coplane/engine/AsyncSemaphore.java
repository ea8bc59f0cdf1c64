package io.coplane.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Permits without threads that wait: who finds none parks a future, and the futures are completed in the order they came.
 *
 * <p>Lock-free. A free permit with nobody in the queue costs one compare-and-set and no allocation. A waiter enters the queue before it looks for a
 * permit again, and a releaser adds its permit before it looks at the queue, so one of the two sees the other. Whoever takes a permit for a
 * waiter that has given up puts it back and looks again.
 *
 * <p>One thread at a time hands out, and looks again for those that came meanwhile. So waiters are completed strictly in their order, and a waiter
 * that gives its permit back while it is completed makes no deeper stack. Waiters are completed by a thread that releases: dependents belong on a pool.
 */
final class AsyncSemaphore {
    private final int permits;
    private final AtomicInteger free;
    private final ConcurrentLinkedQueue<CompletableFuture<Void>> waiters = new ConcurrentLinkedQueue<>();

    /** Threads that want waiters looked at: the first of them does, for all. */
    private final AtomicInteger handingOut = new AtomicInteger();

    /** @param permits at least 1 */
    AsyncSemaphore(int permits) {
        this.permits = permits;
        this.free = new AtomicInteger(permits);
    }

    /** Takes a permit if one is free and nobody waits for it. */
    boolean tryAcquire() {
        return waiters.isEmpty() && take();
    }

    /**
     * Waits for a permit, behind those who wait already. The permit is the caller's once the future is complete; {@link #cancel} gives up.
     */
    CompletableFuture<Void> acquire() {
        CompletableFuture<Void> waiter = new CompletableFuture<>();
        waiters.add(waiter);
        handOut();
        return waiter;
    }

    /**
     * Gives up waiting.
     *
     * @return false if the permit came first: the caller has it
     */
    boolean cancel(CompletableFuture<Void> waiter) {
        if (!waiter.cancel(false)) {
            return false;
        }
        waiters.remove(waiter);
        return true;
    }

    /** Gives a permit back. */
    void release() {
        free.incrementAndGet();
        if (!waiters.isEmpty()) {
            handOut();
        }
    }

    /** Permits in all. */
    int permits() {
        return permits;
    }

    /** Permits free now. */
    int freePermits() {
        return free.get();
    }

    /** True if all permits are free and nobody waits. */
    boolean isIdle() {
        return free.get() == permits && waiters.isEmpty();
    }

    private boolean take() {
        int now = free.get();
        while (now > 0) {
            if (free.compareAndSet(now, now - 1)) {
                return true;
            }
            now = free.get();
        }
        return false;
    }

    private void handOut() {
        if (handingOut.getAndIncrement() > 0) {
            return; // whoever hands out looks again before he leaves
        }
        int seen = 1;
        while (seen > 0) {
            while (!waiters.isEmpty() && take()) {
                CompletableFuture<Void> waiter = waiters.poll();
                if (waiter == null || !waiter.complete(null)) {
                    free.incrementAndGet();
                }
            }
            seen = handingOut.addAndGet(-seen);
        }
    }
}
