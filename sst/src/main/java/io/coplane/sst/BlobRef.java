package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/**
 * Where a value is that doesn't stand in its table (sst.md 2.7). All integers little-endian.
 *
 * <pre>
 * at  bytes  field        unit and bounds
 *  0      8  fileId       of the blob file
 *  8      4  offset       of the blob's record in the file
 * 12      4  storedBytes  as stored, without the record's header
 * 16      4  valueBytes   of the value itself
 * 20      4  padding      0, ignored
 * </pre>
 *
 * @param fileId      blob file
 * @param offset      of the blob's record; unsigned
 * @param storedBytes after compression; unsigned
 * @param valueBytes  before compression; unsigned
 */
public record BlobRef(long fileId, int offset, int storedBytes, int valueBytes) {
    private static final int OFFSET_AT = Long.BYTES;
    private static final int STORED_BYTES_AT = OFFSET_AT + Integer.BYTES;
    private static final int VALUE_BYTES_AT = STORED_BYTES_AT + Integer.BYTES;
    private static final int LEAST_BYTES = VALUE_BYTES_AT + Integer.BYTES;

    /** Bytes that a reference takes in a table. */
    public static final int BYTES = LEAST_BYTES + Integer.BYTES;

    /**
     * Reads the value of an entry with {@link ValueMeta#BLOB_REF}.
     *
     * @throws CoplaneException of code CORRUPT_VALUE if it is too short
     */
    public static BlobRef read(MemorySegment value, long offset, int length) {
        if (length < LEAST_BYTES) {
            throw new CoplaneException(ErrorCode.CORRUPT_VALUE, "blob reference is too short: bytes=" + length);
        }
        return new BlobRef(
                value.get(Layouts.LE_LONG, offset),
                value.get(Layouts.LE_INT, offset + OFFSET_AT),
                value.get(Layouts.LE_INT, offset + STORED_BYTES_AT),
                value.get(Layouts.LE_INT, offset + VALUE_BYTES_AT));
    }

    /** Appends the form of a table. */
    void write(NativeBytes to) {
        to.putLong(fileId);
        to.putInt(offset);
        to.putInt(storedBytes);
        to.putInt(valueBytes);
        to.putInt(0);
    }

    /** Stored bytes of a reference; 0 if it is too short to say. */
    static long storedBytes(MemorySegment bytes, long from, int length) {
        return length < LEAST_BYTES ? 0 : bytes.get(Layouts.LE_INT, from + STORED_BYTES_AT) & 0xFFFF_FFFFL;
    }

    /** Value bytes of a reference; 0 if it is too short to say. */
    static long valueBytes(MemorySegment bytes, long from, int length) {
        return length < LEAST_BYTES ? 0 : bytes.get(Layouts.LE_INT, from + VALUE_BYTES_AT) & 0xFFFF_FFFFL;
    }
}
