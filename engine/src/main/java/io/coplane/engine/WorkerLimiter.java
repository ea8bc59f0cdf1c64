package io.coplane.engine;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;

/**
 * Requests in work: at most so many per keyspace, and in all (worker.md 10). The keyspace's permit first, then the global one; each in the order in which
 * requests came.
 *
 * <p>Lock-free. Where both permits are free, {@link #tryAcquire} takes them by two compare-and-sets and allocates nothing once the keyspace is known.
 * Who waits is a future in the semaphore's queue; a timer ends waits whose time is over or whose client is gone. Thread-safe; the timer's task is this
 * object's until {@link #close}.
 */
final class WorkerLimiter implements AutoCloseable {
    /** Beyond so many keyspaces, those without work are forgotten when a new one comes. */
    private static final int KEYSPACES_KEPT = 65_536;

    private static final int BUCKET_BITS = 12;
    private static final int SCATTER = 0x9e37_79b9; // golden ratio

    /** By so much a wait may end late. */
    private static final long SWEEP_MILLIS = 10;

    private final int keyspacePermits;
    private final AsyncSemaphore global;
    private final AtomicReferenceArray<Chain> keyspaces = new AtomicReferenceArray<>(1 << BUCKET_BITS);
    private final AtomicInteger keyspaceCount = new AtomicInteger();
    private final ConcurrentLinkedQueue<Wait> waits = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final Clock clock;
    private ScheduledFuture<?> sweep; // or null

    /** Without a timer: waits end only by {@link #endLateWaits}. */
    WorkerLimiter(int globalPermits, int keyspacePermits, Clock clock) {
        this.keyspacePermits = keyspacePermits;
        this.global = new AsyncSemaphore(globalPermits);
        this.clock = clock;
    }

    /** @param timer borrowed; ends waits whose time is over */
    WorkerLimiter(int globalPermits, int keyspacePermits, ScheduledExecutorService timer, Clock clock) {
        this(globalPermits, keyspacePermits, clock);
        sweep = timer.scheduleWithFixedDelay(this::endLateWaits, SWEEP_MILLIS, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** The permits of one keyspace. Held by a request, it stands for both that {@link #release} gives back. */
    static final class Keyspace {
        private final int id;
        private final AsyncSemaphore semaphore;

        private Keyspace(int id, int permits) {
            this.id = id;
            semaphore = new AsyncSemaphore(permits);
        }
    }

    /** Keyspaces of one bucket. */
    private record Chain(Keyspace keyspace, Chain next) {}

    /**
     * Until when somebody waits.
     *
     * @param isAbandoned true once nobody wants the permit any more
     */
    private record Patience(long deadlineNanos, BooleanSupplier isAbandoned) {
        private CoplaneException over() {
            return isAbandoned.getAsBoolean()
                    ? new CoplaneException(ErrorCode.CANCELLED, "client is gone")
                    : new CoplaneException(ErrorCode.PERMIT_TIMEOUT, "wait permit timeout");
        }
    }

    private record Wait(AsyncSemaphore semaphore, CompletableFuture<Void> waiter, Patience patience) {}

    /**
     * Takes both permits if they are free and nobody waits for them.
     *
     * @return to be given back by {@link #release}; null if there is something to wait for, and nothing is held then
     */
    Keyspace tryAcquire(int keyspaceId) {
        Keyspace keyspace = keyspace(keyspaceId);
        if (!keyspace.semaphore.tryAcquire()) {
            return null;
        }
        if (!global.tryAcquire()) {
            keyspace.semaphore.release();
            return null;
        }
        return keyspace;
    }

    /**
     * Waits for both permits.
     *
     * @param deadlineNanos on the clock's nanoTime
     * @param isAbandoned   true once nobody waits for them any more: asked every few milliseconds, by the timer
     * @return to be given back by {@link #release}; fails with {@link CoplaneException} PERMIT_TIMEOUT or CANCELLED, and holds nothing then
     */
    CompletableFuture<Keyspace> acquire(int keyspaceId, long deadlineNanos, BooleanSupplier isAbandoned) {
        Keyspace keyspace = keyspace(keyspaceId);
        Patience patience = new Patience(deadlineNanos, isAbandoned);
        if (keyspace.semaphore.tryAcquire()) {
            return global.tryAcquire()
                    ? CompletableFuture.completedFuture(keyspace)
                    : acquireGlobal(keyspace, patience);
        }
        return waitFor(keyspace.semaphore, patience).thenCompose(taken -> acquireGlobal(keyspace, patience));
    }

    /** Gives both permits back. Once for each time they were taken. */
    void release(Keyspace keyspace) {
        global.release();
        keyspace.semaphore.release();
    }

    /** Global permits in all. */
    int globalPermits() {
        return global.permits();
    }

    /** Free permits in all. */
    int freeGlobalPermits() {
        return global.freePermits();
    }

    /** Permits taken, of keyspaces and in all together. */
    long heldPermits() {
        long held = (long) globalPermits() - freeGlobalPermits();
        for (int i = 0; i < keyspaces.length(); i++) {
            for (Chain chain = keyspaces.get(i); chain != null; chain = chain.next) {
                held += keyspacePermits - chain.keyspace.semaphore.freePermits();
            }
        }
        return held;
    }

    /** Requests that wait for a permit. */
    int waiting() {
        return waiting.get();
    }

    /** Ends the sweep; waits end no more by their deadline then. Idempotent. */
    @Override
    public void close() {
        if (sweep != null) {
            sweep.cancel(false);
        }
    }

    private CompletableFuture<Keyspace> acquireGlobal(Keyspace keyspace, Patience patience) {
        return waitFor(global, patience).handle((taken, failure) -> {
            if (failure != null) {
                keyspace.semaphore.release();
                throw patience.over();
            }
            return keyspace;
        });
    }

    private CompletableFuture<Void> waitFor(AsyncSemaphore semaphore, Patience patience) {
        waiting.incrementAndGet();
        CompletableFuture<Void> waiter = semaphore.acquire();
        if (!waiter.isDone()) {
            waits.add(new Wait(semaphore, waiter, patience));
        }
        return waiter.handle((taken, cancelled) -> {
            waiting.decrementAndGet();
            if (cancelled != null) {
                throw patience.over();
            }
            return null;
        });
    }

    /** Ends the waits whose time is over, or that nobody cares for. By one thread at a time. */
    void endLateWaits() {
        long now = clock.nanoTime();
        for (Iterator<Wait> all = waits.iterator(); all.hasNext(); ) {
            Wait wait = all.next();
            boolean isOver = now - wait.patience.deadlineNanos >= 0 || wait.patience.isAbandoned.getAsBoolean();
            if (wait.waiter.isDone() || isOver) {
                all.remove();
                wait.semaphore.cancel(wait.waiter);
            }
        }
    }

    private Keyspace keyspace(int id) {
        int bucket = (id * SCATTER) >>> (Integer.SIZE - BUCKET_BITS);
        Keyspace found = find(keyspaces.get(bucket), id);
        return found == null ? add(bucket, id) : found;
    }

    private static Keyspace find(Chain from, int id) {
        for (Chain chain = from; chain != null; chain = chain.next) {
            if (chain.keyspace.id == id) {
                return chain.keyspace;
            }
        }
        return null;
    }

    private Keyspace add(int bucket, int id) {
        Keyspace created = new Keyspace(id, keyspacePermits);
        while (true) {
            Chain head = keyspaces.get(bucket);
            Keyspace found = find(head, id);
            if (found != null) {
                return found;
            }
            Chain kept = keyspaceCount.get() < KEYSPACES_KEPT ? head : withWork(head);
            if (keyspaces.compareAndSet(bucket, head, new Chain(created, kept))) {
                keyspaceCount.addAndGet(1 + count(kept) - count(head));
                return created;
            }
        }
    }

    /** The keyspaces that have work. One that gets some at this very moment starts over with all its permits. */
    private static Chain withWork(Chain from) {
        Chain kept = null;
        for (Chain chain = from; chain != null; chain = chain.next) {
            if (!chain.keyspace.semaphore.isIdle()) {
                kept = new Chain(chain.keyspace, kept);
            }
        }
        return kept;
    }

    private static int count(Chain from) {
        int count = 0;
        for (Chain chain = from; chain != null; chain = chain.next) {
            count++;
        }
        return count;
    }
}
