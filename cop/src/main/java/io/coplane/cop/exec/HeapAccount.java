package io.coplane.cop.exec;

import io.coplane.nativecache.MemoryGuard;

/** Keeps a guard's charge equal to the heap bytes that one executor holds. One thread. */
public final class HeapAccount implements AutoCloseable {
    private final MemoryGuard guard;
    private final ExecutionSummary summary; // or null
    private long chargedBytes;

    /** @param guard borrowed */
    public HeapAccount(MemoryGuard guard) {
        this(guard, null);
    }

    /** @param summary told how much is held; null if nobody asks */
    HeapAccount(MemoryGuard guard, ExecutionSummary summary) {
        this.guard = guard;
        this.summary = summary;
    }

    /**
     * Charges or releases the difference to what was held before.
     *
     * @throws io.coplane.nativecache.CoplaneException MEMORY_LIMIT if the guard or the heap budget refuses
     */
    public void holds(long bytes) {
        if (bytes > chargedBytes) {
            take(bytes - chargedBytes);
        } else {
            guard.release(chargedBytes - bytes);
            HeapBudget.giveBack(chargedBytes - bytes);
        }
        chargedBytes = bytes;
        if (summary != null) {
            summary.holds(bytes);
        }
    }

    private void take(long bytes) {
        HeapBudget.take(bytes);
        boolean charged = false;
        try {
            guard.charge(bytes);
            charged = true;
        } finally {
            if (!charged) {
                HeapBudget.giveBack(bytes);
            }
        }
    }

    @Override
    public void close() {
        holds(0);
    }
}
