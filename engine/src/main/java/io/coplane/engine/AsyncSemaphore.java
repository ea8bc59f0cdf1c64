package io.coplane.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Permits without threads that wait: who finds none parks a future, and the futures are completed in the order they came.
 *
 * <p>Lock-free. Free permits and waiters are counted in one word, so that a free permit with nobody in the queue costs one compare-and-set to take and one
 * addition to give back; neither touches the queue nor allocates. A waiter is counted before it enters the queue and looks for a permit after that; a
 * releaser learns of waiters by the very addition that frees its permit. So one of the two sees the other.
 *
 * <p>One thread at a time hands out, and looks again for those that came meanwhile. So waiters are completed strictly in their order, and a waiter
 * that gives its permit back while it is completed makes no deeper stack. While anybody is counted as waiting nobody else takes a permit. Waiters are
 * completed by a thread that releases: dependents belong on a pool.
 */
final class AsyncSemaphore {
    /** One waiter in {@link #state}; below it are the free permits. */
    private static final long WAITER = 1L << Integer.SIZE;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(AsyncSemaphore.class, "state", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int permits;

    /** Free permits, 0 .. permits, and {@link #WAITER} times those that wait: the ones in the queue, and those about to enter it. */
    private volatile long state;

    private final ConcurrentLinkedQueue<CompletableFuture<Void>> waiters = new ConcurrentLinkedQueue<>();

    /** Threads that want waiters looked at: the first of them does, for all. */
    private final AtomicInteger handingOut = new AtomicInteger();

    /** @param permits at least 1 */
    AsyncSemaphore(int permits) {
        this.permits = permits;
        this.state = permits;
    }

    /** Takes a permit if one is free and nobody waits for it. */
    boolean tryAcquire() {
        long now = state;
        while (now > 0 && now < WAITER) {
            if (STATE.compareAndSet(this, now, now - 1)) {
                return true;
            }
            now = state;
        }
        return false;
    }

    /**
     * Waits for a permit, behind those who wait already. The permit is the caller's once the future is complete; {@link #cancel} gives up.
     */
    CompletableFuture<Void> acquire() {
        CompletableFuture<Void> waiter = new CompletableFuture<>();
        add(WAITER);
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
        if (waiters.remove(waiter)) { // else whoever hands out has taken it from the queue and from the count
            add(-WAITER);
        }
        return true;
    }

    /** Gives a permit back. */
    void release() {
        if (add(1) >= WAITER) {
            handOut();
        }
    }

    /** Permits in all. */
    int permits() {
        return permits;
    }

    /** Permits free now. */
    int freePermits() {
        return (int) state;
    }

    /** True if all permits are free and nobody waits. */
    boolean isIdle() {
        return state == permits;
    }

    /** @return the state before */
    private long add(long change) {
        return (long) STATE.getAndAdd(this, change);
    }

    private void handOut() {
        if (handingOut.getAndIncrement() > 0) {
            return; // whoever hands out looks again before he leaves
        }
        int seen = 1;
        while (seen > 0) {
            while (freePermits() > 0) {
                CompletableFuture<Void> waiter = waiters.poll();
                if (waiter == null) {
                    break; // counted but not there yet: it looks itself
                }
                add(-WAITER - 1); // the permit is still there: as long as this waiter was counted, nobody else took one
                if (!waiter.complete(null)) {
                    add(1); // it gave up
                }
            }
            seen = handingOut.addAndGet(-seen);
        }
    }
}
