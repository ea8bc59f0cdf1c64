package io.coplane.compaction;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.Arrays;
import java.util.Set;

/**
 * Ids of a compaction's outputs in a fixed order: those of the request from the end of its list, then batches of the allocator, each from its end
 * (compaction.md 1.11). One thread.
 */
final class OutputIds {
    private static final int MOST_IDS = 4096;
    private static final int BATCH = 64;

    private final FileIdAllocator allocator;
    private final Set<Long> taken;
    private long[] ids;
    private int left;
    private int quota;
    private int given;

    /**
     * @param requested the request's list
     * @param taken     ids of all inputs: an output must not replace one. Gets the ids given out
     */
    OutputIds(long[] requested, FileIdAllocator allocator, Set<Long> taken) {
        this.allocator = allocator;
        this.taken = taken;
        ids = requested;
        left = requested.length;
        quota = Math.max(0, MOST_IDS - requested.length);
    }

    /** Gives out the first ids again that were given out before. */
    long[] again(int count) {
        var again = new long[count];
        for (int i = 0; i < count; i++) {
            again[i] = next();
        }
        return again;
    }

    /** How many were given out. */
    int given() {
        return given;
    }

    long next() {
        given++;
        if (left == 0) {
            int count = Math.min(BATCH, quota);
            if (count == 0) {
                throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "compaction runs out of file ids");
            }
            ids = allocator.allocate(count);
            if (ids.length != count) {
                throw new CoplaneException(
                        ErrorCode.INVARIANT_BROKEN, "allocator gave another number of ids: " + Arrays.toString(ids));
            }
            left = count;
            quota -= count;
        }
        long id = ids[--left];
        if (!taken.add(id)) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT,
                    "file id for an output is one of an input or given twice: fileId=" + Long.toUnsignedString(id));
        }
        return id;
    }
}
