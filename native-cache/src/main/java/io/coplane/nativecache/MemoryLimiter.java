package io.coplane.nativecache;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * Caps the bytes that all requests of a process hold together (snapshot.md 4.3, worker.md 11). Lock-free; never waits. Before it refuses, it asks
 * a cache to give memory back, if there is one.
 *
 * <p>Thread-safe.
 */
public final class MemoryLimiter {
    private final long capBytes;
    private final AtomicLong usedBytes = new AtomicLong();
    private volatile LongConsumer giveUp; // or null

    /** @param capBytes most bytes in use at one time; at least 0 */
    public MemoryLimiter(long capBytes) {
        if (capBytes < 0) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "memory cap is negative: capBytes=" + capBytes);
        }
        this.capBytes = capBytes;
    }

    /**
     * Reserves {@code bytes} at once or fails; nothing stays reserved on failure.
     *
     * @throws MemoryLimitException if the cap does not allow it
     */
    public MemoryGuard acquire(long bytes) {
        reserve(bytes);
        return new MemoryGuard(this, bytes);
    }

    /** Bytes reserved now. */
    public long usedBytes() {
        return usedBytes.get();
    }

    /** The cap. */
    public long capBytes() {
        return capBytes;
    }

    /**
     * Sets who is asked to give memory back when the cap is reached.
     *
     * @param cache takes the bytes that are missing and releases as many of its own as it can, on the thread that needs them; null = nobody
     */
    public void onPressure(LongConsumer cache) {
        giveUp = cache;
    }

    void reserve(long bytes) {
        if (bytes < 0) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "bytes to reserve are negative: bytes=" + bytes);
        }
        if (bytes > capBytes) {
            throw new MemoryLimitException(bytes - capBytes, capBytes);
        }
        if (bytes == 0) {
            return;
        }
        long exceeded = tryReserve(bytes);
        LongConsumer cache = giveUp;
        if (exceeded > 0 && cache != null) {
            cache.accept(exceeded);
            exceeded = tryReserve(bytes);
        }
        if (exceeded > 0) {
            throw new MemoryLimitException(exceeded, capBytes);
        }
    }

    /** @return bytes beyond the cap, with nothing reserved; 0 if {@code bytes} are reserved */
    private long tryReserve(long bytes) {
        long after = usedBytes.addAndGet(bytes);
        if (after <= capBytes) {
            return 0;
        }
        usedBytes.addAndGet(-bytes);
        return after - capBytes;
    }

    void giveBack(long bytes) {
        usedBytes.addAndGet(-bytes);
    }
}
