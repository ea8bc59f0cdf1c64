package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/**
 * Index of a blob file: the first of every few records, in file order (sst.md 7.1). Keys may come in any order. Borrows the file. Immutable,
 * thread-safe.
 *
 * <pre>
 * at         bytes  field            unit and bounds
 *  0             4  checksum         of everything behind it
 *  4             4  format           1
 *  8             4  entries n
 * 12           4 n  keyOffsets       in the key area, ascending
 * 12 + 4 n     4 n  recordOffsets    in the file, ascending; the first 0
 * 12 + 8 n       2  prefixLength p
 * 14 + 8 n       p  prefix           common to the first and the last key
 *  .             4  keysLength
 *  .                keys             each without the prefix
 * </pre>
 */
public final class BlobIndex {
    private static final int FORMAT_AT = Formats.CHECKSUM_BYTES;
    private static final int COUNT_AT = FORMAT_AT + Integer.BYTES;
    private static final int KEY_OFFSETS_AT = COUNT_AT + Integer.BYTES;
    private static final int ENTRY_BYTES = 2 * Integer.BYTES;

    private final MemorySegment bytes;
    private final int count;
    private final long keyOffsetsAt;
    private final long prefixAt;
    private final int prefixLength;
    private final int keysLength;

    /**
     * Opens the index section.
     *
     * @param from     of the section, in bounds
     * @param to       of the section, in bounds
     * @param dataEnd  file offset behind the last record
     */
    BlobIndex(MemorySegment bytes, long from, long to, long dataEnd, ChecksumType checksum, String file) {
        this.bytes = bytes;
        Formats.verifySection(bytes, from, to, checksum, file, "index");
        long left = to - from - KEY_OFFSETS_AT - Short.BYTES - Integer.BYTES;
        if (left < 0) {
            throw FileErrors.format(file, from, "index is cut");
        }
        if (bytes.get(Layouts.LE_INT, from + FORMAT_AT) != Formats.INDEX_FORMAT) {
            throw FileErrors.format(file, from, "unknown index format " + bytes.get(Layouts.LE_INT, from + FORMAT_AT));
        }
        count = bytes.get(Layouts.LE_INT, from + COUNT_AT);
        left -= ENTRY_BYTES * (long) count;
        if (count < 0 || left < 0) {
            throw FileErrors.format(
                    file, from, "index is too short for its entries: entries=" + Integer.toUnsignedString(count));
        }
        keyOffsetsAt = from + KEY_OFFSETS_AT;
        long at = keyOffsetsAt + ENTRY_BYTES * (long) count;
        prefixLength = bytes.get(Layouts.LE_SHORT, at) & 0xFFFF;
        prefixAt = at + Short.BYTES;
        left -= prefixLength;
        long keyBytes = left < 0 ? -1 : bytes.get(Layouts.LE_INT, prefixAt + prefixLength) & 0xFFFF_FFFFL;
        if (keyBytes != left || left > Integer.MAX_VALUE) {
            throw FileErrors.format(file, at, "index has another key area than it says: keyBytes=" + keyBytes);
        }
        keysLength = (int) keyBytes;
        check(dataEnd, file);
    }

    private void check(long dataEnd, String file) {
        int key = 0;
        long least = 0;
        for (int i = 0; i < count; i++) {
            int offset = keyOffset(i);
            if (offset < key || offset > keysLength) {
                throw FileErrors.format(file, keyOffsetsAt + 4L * i, "index key offset is out of order: entry=" + i);
            }
            if (offset(i) < least || offset(i) > dataEnd - BlobReader.RECORD_HEADER_BYTES) {
                throw FileErrors.format(file, keyOffsetsAt + 4L * (count + i), "record is out of bounds: entry=" + i);
            }
            key = offset;
            least = offset(i) + BlobReader.RECORD_HEADER_BYTES;
        }
    }

    private int keyOffset(int i) {
        return i < count ? bytes.get(Layouts.LE_INT, keyOffsetsAt + 4L * i) : keysLength;
    }

    /** Number of entries. */
    public int count() {
        return count;
    }

    /** File offset of the record of entry {@code i}; 0 .. count - 1. */
    public long offset(int i) {
        return bytes.get(Layouts.LE_INT, keyOffsetsAt + 4L * (count + i)) & 0xFFFF_FFFFL;
    }

    /** Inner key of entry {@code i}; a copy. */
    public byte[] copyKey(int i) {
        int from = keyOffset(i);
        int length = keyOffset(i + 1) - from;
        byte[] key = new byte[prefixLength + length];
        MemorySegment.copy(bytes, Layouts.BYTE, prefixAt, key, 0, prefixLength);
        MemorySegment.copy(
                bytes, Layouts.BYTE, prefixAt + prefixLength + Integer.BYTES + from, key, prefixLength, length);
        return Bytes.trim(key);
    }
}
