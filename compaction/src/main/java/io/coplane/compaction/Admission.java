package io.coplane.compaction;

/**
 * What is decided about a parsed request before any permit, memory or work (compaction.md 1.2). Pure.
 *
 * <p>A request that we can't execute yet is answered as one that is too new: the store then compacts by itself at once, while a 500 would make it
 * drop the worker (compaction.md 7).
 */
public enum Admission {
    /** Execute it: an error from now on is one of the execution. */
    EXECUTE,
    /** Of a later version than ours: 501. */
    NEWER_VERSION,
    /** Needs work that is not built: 501. */
    NOT_BUILT;

    /** The version of requests that is executed; older ones fail when executed. */
    public static final long COMPACTOR_VERSION = 3;

    /** The body of a 501. */
    public static final String INCOMPATIBLE = "incompatible compactor version (" + COMPACTOR_VERSION + ")";

    /** Decides about a request. */
    public static Admission of(CompactionRequest request) {
        if (request.compactorVersion() > COMPACTOR_VERSION) {
            return NEWER_VERSION;
        }
        // an older version fails as such, whatever it asks for
        return request.compactorVersion() == COMPACTOR_VERSION
                        && !JobShape.of(request.type()).isBuilt()
                ? NOT_BUILT
                : EXECUTE;
    }

    /** A job holds this much whatever its input: pieces of each input, blocks in work, an output of some size. */
    private static final long LEAST_BYTES = 64 << 20;

    /** A small limiter is not used up by one small job. */
    private static final int LEAST_PART = 4;

    /**
     * Bytes to take from the memory limiter at once, which the job then stays within: {@link #admissionBytes(long, long)}, but at least 64 MiB, or a
     * quarter of a smaller cap, and never more than the window.
     *
     * @param inputBytes  what the request says, unsigned
     * @param windowBytes most bytes to take for one compaction; 0: no bound
     * @param capBytes    of the limiter
     */
    public static long admissionBytes(long inputBytes, long windowBytes, long capBytes) {
        long least = Math.min(LEAST_BYTES, capBytes / LEAST_PART);
        long bytes = admissionBytes(inputBytes, windowBytes);
        return bytes < 0 ? bytes : Math.max(bytes, windowBytes > 0 ? Math.min(windowBytes, least) : least);
    }

    /**
     * Bytes to take from the memory limiter at once: twice the input (compaction.md 1.2), or less.
     *
     * @param inputBytes  what the request says, unsigned
     * @param windowBytes most bytes to take for one compaction; 0: no bound
     * @return at least 0; -1 if twice the input is more than can be counted, which is refused
     */
    public static long admissionBytes(long inputBytes, long windowBytes) {
        boolean overflows = inputBytes < 0 || inputBytes > Long.MAX_VALUE / 2;
        if (windowBytes > 0) {
            return overflows ? windowBytes : Math.min(2 * inputBytes, windowBytes);
        }
        return overflows ? -1 : 2 * inputBytes;
    }
}
