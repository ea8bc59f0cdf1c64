package io.coplane.nativecache.store;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A bound on requests in flight; those above it wait in order and hold no thread. Lock-free, thread-safe. */
final class Permits {
    private final AtomicInteger free;
    private final Queue<CompletableFuture<Void>> waiters = new ConcurrentLinkedQueue<>();

    Permits(int count) {
        free = new AtomicInteger(count);
    }

    /** Completes with a permit. Whoever completes it himself before that gives his place up. */
    CompletableFuture<Void> acquire() {
        CompletableFuture<Void> waiter = new CompletableFuture<>();
        waiters.add(waiter);
        grant();
        return waiter;
    }

    void release() {
        free.incrementAndGet();
        grant();
    }

    private void grant() {
        while (!waiters.isEmpty()) {
            int count = free.get();
            if (count == 0) {
                return; // its holder grants when he releases
            }
            if (free.compareAndSet(count, count - 1)) {
                CompletableFuture<Void> next = waiters.poll();
                if (next == null || !next.complete(null)) {
                    free.incrementAndGet(); // nobody took it: look again, another may have come meanwhile
                }
            }
        }
    }

    int free() {
        return free.get();
    }
}
