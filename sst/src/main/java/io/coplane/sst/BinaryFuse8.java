package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/**
 * Binary Fuse 8 filter of a table, read in place (sst.md 4.2, 4.3). Borrows the file. Thread-safe.
 *
 * <pre>
 * at  bytes  field                unit and bounds
 *  0      8  seed
 *  8      4  segmentLength        slots; a power of two
 * 12      4  segmentLengthMask    segmentLength - 1
 * 16      4  segmentCountLength   slots; a multiple of segmentLength
 * 20      n  fingerprints         one byte a slot; n at least segmentCountLength + 2 * segmentLength
 * </pre>
 */
final class BinaryFuse8 {
    static final int SEED_AT = 0;
    static final int SEGMENT_LENGTH_AT = SEED_AT + Long.BYTES;
    static final int MASK_AT = SEGMENT_LENGTH_AT + Integer.BYTES;
    static final int COUNT_LENGTH_AT = MASK_AT + Integer.BYTES;
    static final int HEADER_BYTES = COUNT_LENGTH_AT + Integer.BYTES;

    private final MemorySegment bytes;
    private final long fingerprintsAt;
    private final long seed;
    private final int segmentLength;
    private final int mask;
    private final long countLength;

    private BinaryFuse8(MemorySegment bytes, long at) {
        this.bytes = bytes;
        this.seed = bytes.get(Layouts.LE_LONG, at + SEED_AT);
        this.segmentLength = bytes.get(Layouts.LE_INT, at + SEGMENT_LENGTH_AT);
        this.mask = bytes.get(Layouts.LE_INT, at + MASK_AT);
        this.countLength = bytes.get(Layouts.LE_INT, at + COUNT_LENGTH_AT) & 0xFFFF_FFFFL;
        this.fingerprintsAt = at + HEADER_BYTES;
    }

    /**
     * Opens the serialised filter in {@code from .. to - 1}, which are in bounds. Sizes are checked, so that a lookup can't leave the filter.
     *
     * @throws io.coplane.nativecache.CoplaneException of code FILE_FORMAT
     */
    static BinaryFuse8 open(MemorySegment bytes, long from, long to, String file) {
        if (to - from < HEADER_BYTES) {
            throw FileErrors.format(file, from, "filter data too short");
        }
        var filter = new BinaryFuse8(bytes, from);
        long length = filter.segmentLength;
        boolean sound = length > 0
                && Long.bitCount(length) == 1
                && filter.mask == length - 1
                && filter.countLength > 0
                && filter.countLength % length == 0
                && filter.countLength + 2 * length <= to - filter.fingerprintsAt;
        if (!sound) {
            throw FileErrors.format(
                    file,
                    from,
                    "filter sizes don't fit: segmentLength=" + length + " mask=" + filter.mask
                            + " segmentCountLength=" + filter.countLength + " slots="
                            + (to - filter.fingerprintsAt));
        }
        return filter;
    }

    /** Whether a key with this hash may be in the table; false is certain. */
    boolean mayContain(long keyHash) {
        long h = mix(keyHash + seed);
        long h0 = firstSlot(h, countLength);
        long h1 = h0 + segmentLength;
        long h2 = h1 + segmentLength;
        h1 ^= (h >>> 18) & mask;
        h2 ^= h & mask;
        int f = fingerprint(h) ^ fingerprintAt(h0) ^ fingerprintAt(h1) ^ fingerprintAt(h2);
        return (byte) f == 0;
    }

    private byte fingerprintAt(long slot) {
        return bytes.get(Layouts.BYTE, fingerprintsAt + slot);
    }

    static long mix(long k) {
        long h = k;
        h ^= h >>> 33;
        h *= 0xff51afd7ed558ccdL;
        h ^= h >>> 33;
        h *= 0xc4ceb9fe1a85ec53L;
        h ^= h >>> 33;
        return h;
    }

    static int firstSlot(long h, long countLength) {
        return (int) Math.unsignedMultiplyHigh(h, countLength);
    }

    static byte fingerprint(long h) {
        return (byte) (h ^ (h >>> 32));
    }
}
