package io.coplane.cop.exec;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How much of the JVM's heap all executors may hold together: a quarter, because a growing array needs room for its old and its new self. The
 * memory limiter counts these bytes too, but its cap is one for native memory and may be larger than the heap. Thread-safe.
 */
final class HeapBudget {
    private static final long MOST_BYTES = Runtime.getRuntime().maxMemory() / 4;
    private static final AtomicLong HELD = new AtomicLong();

    private HeapBudget() {}

    /** @throws CoplaneException MEMORY_LIMIT if nothing is left; then nothing is taken */
    static void take(long bytes) {
        long held = HELD.addAndGet(bytes);
        if (held > MOST_BYTES) {
            HELD.addAndGet(-bytes);
            throw new CoplaneException(
                    ErrorCode.MEMORY_LIMIT,
                    "executors would hold too much of the heap: heldBytes=" + held + " mostBytes=" + MOST_BYTES);
        }
    }

    static void giveBack(long bytes) {
        HELD.addAndGet(-bytes);
    }
}
