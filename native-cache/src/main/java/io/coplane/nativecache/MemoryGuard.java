package io.coplane.nativecache;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * The memory account of one request: what was admitted, and what is really held.
 *
 * <p>Owns its reservation in the limiter until {@link #close()}. {@link #charge} beyond what was admitted reserves more, or fails with
 * {@link MemoryLimitException} and charges nothing. Thread-safe.
 */
public final class MemoryGuard implements AutoCloseable {
    private final MemoryLimiter limiter;
    private final MemoryGuard outer; // charged as well; null: none
    private final long admittedBytes;
    private final AtomicLong chargedBytes = new AtomicLong();
    private final AtomicBoolean closed = new AtomicBoolean();

    MemoryGuard(MemoryLimiter limiter, long admittedBytes) {
        this(limiter, admittedBytes, null);
    }

    private MemoryGuard(MemoryLimiter limiter, long admittedBytes, MemoryGuard outer) {
        this.limiter = limiter;
        this.outer = outer;
        this.admittedBytes = admittedBytes;
    }

    /** A guard of a limiter of its own without a practical cap: for tools and tests that account but never refuse. */
    public static MemoryGuard unlimited() {
        return new MemoryLimiter(Long.MAX_VALUE / 4).acquire(0);
    }

    /**
     * A guard within this one for work that must not hold more than was admitted: what it is charged this one is charged too, and beyond that it
     * refuses. If nothing was admitted, the limiter alone bounds it.
     *
     * @param giveUp asked before it refuses: takes the bytes that are missing, and releases what it can, on the thread that needs them
     */
    public MemoryGuard within(LongConsumer giveUp) {
        var window = new MemoryLimiter(admittedBytes == 0 ? Long.MAX_VALUE / 4 : admittedBytes);
        window.onPressure(giveUp);
        return new MemoryGuard(window, 0, this);
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
                chargeOuter(after - before);
                return;
            }
            limiter.giveBack(more);
        }
    }

    private void chargeOuter(long bytes) {
        if (outer != null) {
            try {
                outer.charge(bytes);
            } catch (MemoryLimitException e) {
                releaseOwn(bytes);
                throw e;
            }
        }
    }

    /** Gives back bytes charged before. */
    public void release(long bytes) {
        releaseOwn(bytes);
        if (outer != null) {
            outer.release(bytes);
        }
    }

    private void releaseOwn(long bytes) {
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
