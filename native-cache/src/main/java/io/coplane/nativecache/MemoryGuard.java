package io.coplane.nativecache;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory account of one request: what was admitted, and what is really held.
 *
 * <p>Owns its reservation in the limiter until {@link #close()}. {@link #charge} beyond what was admitted reserves more, or fails with
 * {@link MemoryLimitException} and charges nothing. Thread-safe.
 */
public final class MemoryGuard implements AutoCloseable {
    private final MemoryLimiter limiter;
    private final long admittedBytes;
    private final AtomicLong chargedBytes = new AtomicLong();
    private final AtomicBoolean closed = new AtomicBoolean();

    MemoryGuard(MemoryLimiter limiter, long admittedBytes) {
        this.limiter = limiter;
        this.admittedBytes = admittedBytes;
    }

    /** A guard of a limiter of its own without a practical cap: for tools and tests that account but never refuse. */
    public static MemoryGuard unlimited() {
        return new MemoryLimiter(Long.MAX_VALUE / 4).acquire(0);
    }

    /**
     * Charges bytes that are about to be allocated.
     *
     * @throws MemoryLimitException if they go beyond the admitted bytes and the limiter's cap allows no more
     */
    public void charge(long bytes) {
        if (bytes < 0) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "bytes to charge are negative: bytes=" + bytes);
        }
        while (true) {
            long before = chargedBytes.get();
            long after = before + Math.min(bytes, Long.MAX_VALUE - before);
            long more = over(after) - over(before);
            limiter.reserve(more); // before it is charged: a refusal must leave nothing that others counted on
            if (chargedBytes.compareAndSet(before, after)) {
                return;
            }
            limiter.giveBack(more);
        }
    }

    /** Gives back bytes charged before. */
    public void release(long bytes) {
        long before;
        do {
            before = chargedBytes.get();
            if (bytes < 0 || bytes > before) {
                throw new CoplaneException(
                        ErrorCode.INVARIANT_BROKEN,
                        "released more than charged: bytes=" + bytes + " chargedBytes=" + before);
            }
        } while (!chargedBytes.compareAndSet(before, before - bytes));
        long less = over(before) - over(before - bytes);
        limiter.giveBack(less);
    }

    /** Bytes admitted when the guard was acquired. */
    public long admittedBytes() {
        return admittedBytes;
    }

    /** Bytes charged now. */
    public long chargedBytes() {
        return chargedBytes.get();
    }

    private long over(long charged) {
        return Math.max(0, charged - admittedBytes);
    }

    /** Gives the admission back. Idempotent. What is still charged then stays reserved and shows as a leak. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            limiter.giveBack(admittedBytes);
        }
    }
}
