package io.coplane.cop.analyze;

import io.coplane.cop.kernel.Murmur3;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.tipb.CMSketch;
import io.coplane.proto.tipb.CMSketchRow;

/** Count-min sketch: rows of saturating 32-bit counters (coprocessor.md 6.1). One thread. */
final class CmSketch {
    private static final int MAX_COUNTERS = 1 << 24;

    private final int depth;
    private final int width;
    private final int[] counters;

    private CmSketch(int depth, int width) {
        this.depth = depth;
        this.width = width;
        counters = new int[depth * width];
    }

    /** A sketch, or null if one side is 0. */
    static CmSketch of(int depth, int width) {
        if (depth == 0 || width == 0) {
            return null;
        }
        if (depth < 0 || width < 0 || (long) depth * width > MAX_COUNTERS) {
            throw new CoplaneException(
                    ErrorCode.UNSUPPORTED, "CM sketch is too large: depth=" + depth + " width=" + width);
        }
        return new CmSketch(depth, width);
    }

    /** Counts the bytes that were hashed last. */
    void insert(Murmur3 hash) {
        for (int row = 0; row < depth; row++) {
            int at = index(hash, row);
            counters[at] += counters[at] == -1 ? 0 : 1;
        }
    }

    /** Takes a count of the bytes that were hashed last away. */
    void subtract(Murmur3 hash, long count) {
        for (int row = 0; row < depth; row++) {
            int at = index(hash, row);
            counters[at] = (int) Math.max(0, Integer.toUnsignedLong(counters[at]) - count);
        }
    }

    private int index(Murmur3 hash, int row) {
        return row * width + (int) Long.remainderUnsigned(hash.first() + hash.second() * row, width);
    }

    CMSketch.Builder message() {
        CMSketch.Builder message = CMSketch.newBuilder();
        for (int row = 0; row < depth; row++) {
            CMSketchRow.Builder counts = CMSketchRow.newBuilder();
            for (int i = 0; i < width; i++) {
                counts.addCounters(counters[row * width + i]);
            }
            message.addRows(counts);
        }
        return message;
    }

    long heapBytes() {
        return (long) counters.length * Integer.BYTES;
    }
}
