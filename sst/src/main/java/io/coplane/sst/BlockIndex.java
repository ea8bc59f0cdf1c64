package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/**
 * Index of the main or the old blocks of a table, read in place (sst.md 3.5). Borrows the file. Thread-safe.
 *
 * <pre>
 * at          bytes  field            unit and bounds
 *  0              4  format           1
 *  4              4  blocks n
 *  8            4 n  keyOffsets       in the key area, ascending
 *  8 +  4 n    16 n  addresses        origin file id (8), origin offset (4), current offset (4)
 *  8 + 20 n       2  prefixLength p
 * 10 + 20 n       p  prefix           shared by all block keys
 *  .              4  keysLength
 *  .                 keys             first key of each block without the prefix
 * </pre>
 */
final class BlockIndex {
    static final int COUNT_AT = 4;
    static final int KEY_OFFSETS_AT = COUNT_AT + Integer.BYTES;
    static final int ADDRESS_BYTES = 16;
    private static final int ORIGIN_OFFSET_AT = Long.BYTES;
    private static final int CURRENT_OFFSET_AT = ORIGIN_OFFSET_AT + Integer.BYTES;

    private final MemorySegment bytes;
    private final int count;
    private final long keyOffsetsAt;
    private final long addressesAt;
    private final long prefixAt;
    private final int prefixLength;
    private final long keysAt;
    private final int keysLength;
    private final long blocksEnd;
    private final boolean trimmed; // the prefix of all keys begins with a keyspace prefix, which is left out

    private BlockIndex(
            MemorySegment bytes, long at, int count, long prefixAt, int prefixLength, int keysLength, long blocksEnd) {
        this.bytes = bytes;
        this.count = count;
        this.keyOffsetsAt = at + KEY_OFFSETS_AT;
        this.addressesAt = keyOffsetsAt + 4L * count;
        this.keysAt = prefixAt + prefixLength + Integer.BYTES;
        this.keysLength = keysLength;
        this.blocksEnd = blocksEnd;
        this.trimmed = Bytes.hasKeyspace(bytes, prefixAt, prefixLength);
        int left = trimmed ? Bytes.KEYSPACE_PREFIX_BYTES : 0;
        this.prefixAt = prefixAt + left;
        this.prefixLength = prefixLength - left;
    }

    /**
     * Opens the body of an index section, after its checksum.
     *
     * @param from        of the body, in bounds
     * @param to          of the section, in bounds
     * @param blocksStart file offset of the first block
     * @param blocksEnd   file offset behind the last block
     */
    static BlockIndex open(MemorySegment bytes, long from, long to, long blocksStart, long blocksEnd, String file) {
        long left = to - from - KEY_OFFSETS_AT - Short.BYTES - Integer.BYTES;
        if (left < 0) {
            throw FileErrors.format(file, from, "index is cut");
        }
        if (bytes.get(Layouts.LE_INT, from) != Formats.INDEX_FORMAT) {
            throw FileErrors.format(file, from, "unknown index format " + bytes.get(Layouts.LE_INT, from));
        }
        int count = bytes.get(Layouts.LE_INT, from + COUNT_AT);
        left -= (Integer.BYTES + ADDRESS_BYTES) * (long) count;
        if (count < 0 || left < 0) {
            throw FileErrors.format(
                    file, from, "index is too short for its blocks: blocks=" + Integer.toUnsignedString(count));
        }
        long at = from + KEY_OFFSETS_AT + (Integer.BYTES + ADDRESS_BYTES) * (long) count;
        int prefixLength = bytes.get(Layouts.LE_SHORT, at) & 0xFFFF;
        left -= prefixLength;
        if (left < 0) {
            throw FileErrors.format(file, at, "index is too short for its key prefix: prefixBytes=" + prefixLength);
        }
        int keysLength = bytes.get(Layouts.LE_INT, at + Short.BYTES + prefixLength);
        if (keysLength != left) {
            throw FileErrors.format(
                    file,
                    at,
                    "index has another key area than it says: keyBytes=" + Integer.toUnsignedString(keysLength)
                            + " left=" + left);
        }
        var index = new BlockIndex(bytes, from, count, at + Short.BYTES, prefixLength, keysLength, blocksEnd);
        index.check(blocksStart, file);
        return index;
    }

    private void check(long blocksStart, String file) {
        int key = 0;
        long least = blocksStart;
        for (int i = 0; i < count; i++) {
            int offset = bytes.get(Layouts.LE_INT, keyOffsetsAt + 4L * i);
            long start = start(i);
            if (offset < key || offset > keysLength) {
                throw FileErrors.format(file, keyOffsetsAt + 4L * i, "index key offset is out of order: block=" + i);
            }
            if (start < least || start > blocksEnd - Formats.CHECKSUM_BYTES) {
                throw FileErrors.format(
                        file, addressesAt + (long) ADDRESS_BYTES * i, "block offset is out of bounds: block=" + i);
            }
            key = offset;
            least = start + Formats.CHECKSUM_BYTES;
        }
        for (int i = 1; i < count; i++) {
            if (!ascends(i)) {
                throw FileErrors.format(
                        file, keyOffsetsAt + 4L * i, "first keys of blocks are out of order: block=" + i);
            }
        }
    }

    /** Whether the first key of a block is greater than that of the block before it. */
    private boolean ascends(int block) {
        long before = keysAt + keyOffset(block - 1);
        long from = keysAt + keyOffset(block);
        long to = keysAt + keyOffset(block + 1);
        long mismatch = MemorySegment.mismatch(bytes, before, from, bytes, from, to);
        if (mismatch < 0 || from + mismatch >= to) {
            return false; // equal, or a part of the one before
        }
        return before + mismatch >= from
                || (bytes.get(Layouts.BYTE, before + mismatch) & 0xFF)
                        < (bytes.get(Layouts.BYTE, from + mismatch) & 0xFF);
    }

    /** Whether keys in the file still have their keyspace prefix, as in files of old versions (sst.md 13). */
    boolean hasKeyspaces() {
        return trimmed;
    }

    int count() {
        return count;
    }

    /** File offset of a block. */
    long start(int block) {
        return bytes.get(Layouts.LE_INT, addressesAt + (long) ADDRESS_BYTES * block + CURRENT_OFFSET_AT) & 0xFFFF_FFFFL;
    }

    /** File offset behind a block. */
    long end(int block) {
        return block + 1 < count ? start(block + 1) : blocksEnd;
    }

    long originFileId(int block) {
        return bytes.get(Layouts.LE_LONG, addressesAt + (long) ADDRESS_BYTES * block);
    }

    int originOffset(int block) {
        return bytes.get(Layouts.LE_INT, addressesAt + (long) ADDRESS_BYTES * block + ORIGIN_OFFSET_AT);
    }

    /** First key of a block. */
    byte[] copyKey(int block) {
        int from = keyOffset(block);
        int length = keyOffset(block + 1) - from;
        byte[] key = new byte[prefixLength + length];
        MemorySegment.copy(bytes, Layouts.BYTE, prefixAt, key, 0, prefixLength);
        MemorySegment.copy(bytes, Layouts.BYTE, keysAt + from, key, prefixLength, length);
        return key;
    }

    private int keyOffset(int block) {
        return block < count ? bytes.get(Layouts.LE_INT, keyOffsetsAt + 4L * block) : keysLength;
    }

    /** The block that a key would be in: the last whose first key is no more than it, or 0. */
    int blockOf(byte[] key, int offset, int length) {
        int shared = Math.min(prefixLength, length);
        int order = Bytes.compare(
                key, offset, shared, bytes, prefixAt, prefixLength); // below 0 if key is a part of the prefix
        if (order < 0) {
            return 0;
        }
        if (order > 0) {
            return Math.max(0, count - 1);
        }
        int low = 0; // blocks below have first keys <= key
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            int from = keyOffset(middle);
            int suffix = keyOffset(middle + 1) - from;
            if (Bytes.compare(key, offset + shared, length - shared, bytes, keysAt + from, suffix) >= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return Math.max(0, low - 1);
    }
}
