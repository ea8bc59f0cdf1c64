package io.coplane.cop.exec;

import io.coplane.nativecache.MemoryGuard;

/** Keeps a guard's charge equal to the heap bytes that one executor holds. One thread. */
public final class HeapAccount implements AutoCloseable {
    private final MemoryGuard guard;
    private long chargedBytes;

    /** @param guard borrowed */
    public HeapAccount(MemoryGuard guard) {
        this.guard = guard;
    }

    /**
     * Charges or releases the difference to what was held before.
     *
     * @throws io.coplane.nativecache.MemoryLimitException if the guard refuses
     */
    public void holds(long bytes) {
        if (bytes > chargedBytes) {
            guard.charge(bytes - chargedBytes);
        } else {
            guard.release(chargedBytes - bytes);
        }
        chargedBytes = bytes;
    }

    @Override
    public void close() {
        holds(0);
    }
}
