package io.coplane.nativecache;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Caps the bytes that all requests of a process hold together (snapshot.md 4.3, worker.md 11). Lock-free; never waits.
 *
 * <p>Thread-safe.
 */
public final class MemoryLimiter {
    private final long capBytes;
    private final AtomicLong usedBytes = new AtomicLong();

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
        long after = usedBytes.addAndGet(bytes);
        if (after > capBytes) {
            usedBytes.addAndGet(-bytes);
            throw new MemoryLimitException(after - capBytes, capBytes);
        }
    }

    void giveBack(long bytes) {
        usedBytes.addAndGet(-bytes);
    }
}
