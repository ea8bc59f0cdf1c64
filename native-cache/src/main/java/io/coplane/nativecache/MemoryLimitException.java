package io.coplane.nativecache;

/** The limiter's cap does not allow the bytes asked for; the caller may retry. */
public final class MemoryLimitException extends CoplaneException {
    private static final long serialVersionUID = 1L;

    private final long exceededBytes;

    MemoryLimitException(long exceededBytes, long capBytes) {
        super(
                ErrorCode.MEMORY_LIMIT,
                "memory limit exceeded: exceededBytes=" + exceededBytes + " capBytes=" + capBytes);
        this.exceededBytes = exceededBytes;
    }

    /** By how many bytes the request would have gone over the cap (snapshot.md 4.3). */
    public long exceededBytes() {
        return exceededBytes;
    }
}
