package io.coplane.types.codec;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/**
 * The value of an index entry (coprocessor.md 3.6).
 *
 * <pre>
 * old form, at most 9 bytes:  [handle u64 BE] [untouched flag], or "0" alone; or tail length, 7d, version, [untouched flag]
 *
 * general form, more than 9 bytes:
 * bytes  field
 *     1  tail length
 *     2  version segment 7d 01, only if the index version is 1
 *   3+n  common handle segment, optional: 7f, u16 BE n, handle datums
 *     9  partition id segment, optional: 7e, memcomparable i64
 *     -  restored data segment, optional: a row v2 value up to the tail
 *  tail  padding, int handle u64 BE, untouched flag
 * </pre>
 *
 * <p>Borrows the bytes it wraps; one thread.
 */
public final class IndexValueView {
    /** Longest value in the old form. */
    public static final int OLD_MAX_BYTES = 9;

    private static final int VERSION_FLAG = 0x7d;
    private static final int PARTITION_FLAG = 0x7e;
    private static final int COMMON_HANDLE_FLAG = 0x7f;

    private byte[] bytes;
    private int offset;
    private int length;
    private int tailAt;
    private int handleAt;
    private int handleLength;
    private int partitionAt;
    private int restoredAt;
    private int restoredLength;

    /**
     * Version of an index, from the first value met in it.
     *
     * @return 1, else usually 0
     * @throws CoplaneException CORRUPT_VALUE if the tail is longer than the value
     */
    public static int indexVersion(byte[] bytes, int offset, int length) {
        if (length == 3 || length == 4) {
            return 1;
        }
        if (length <= OLD_MAX_BYTES) {
            return 0;
        }
        int tailLength = bytes[offset] & 0xff;
        checkTail(tailLength, 0, length);
        return tailLength <= 1 && bytes[offset + 1] == VERSION_FLAG ? bytes[offset + 2] & 0xff : 0;
    }

    /**
     * Wraps one value.
     *
     * @param indexVersion what {@link #indexVersion(byte[], int, int)} said for the first value of the scan
     * @throws CoplaneException CORRUPT_VALUE if the segments don't fit
     */
    public IndexValueView wrap(byte[] bytes, int offset, int length, int indexVersion) {
        this.bytes = bytes;
        this.offset = offset;
        this.length = length;
        handleLength = -1;
        partitionAt = -1;
        restoredLength = -1;
        tailAt = offset + length;
        if (!isOld()) {
            wrapSegments(indexVersion);
        }
        return this;
    }

    private void wrapSegments(int indexVersion) {
        int tailLength = bytes[offset] & 0xff;
        int front = indexVersion == 1 ? 3 : 1;
        checkTail(tailLength, front, length);
        tailAt = offset + length - tailLength;
        int at = offset + front;
        if (at < tailAt && bytes[at] == COMMON_HANDLE_FLAG) {
            int available = tailAt - at - 3;
            handleLength = available < 0 ? -1 : Endian.unsignedShortBe(bytes, at + 1);
            if (available < 0 || handleLength > available) {
                throw corrupt("`handle_len` is corrupted: " + handleLength);
            }
            handleAt = at + 3;
            at = handleAt + handleLength;
        }
        if (at < tailAt && bytes[at] == PARTITION_FLAG) {
            if (tailAt - at < 1 + Long.BYTES) {
                throw corrupt("partition id is corrupted: bytes=" + (tailAt - at));
            }
            partitionAt = at + 1;
            at += 1 + Long.BYTES;
        }
        if (at < tailAt && bytes[at] == (byte) RowV2View.CODEC_VERSION) {
            restoredAt = at;
            restoredLength = tailAt - at;
            at = tailAt;
        }
        if (at < tailAt) {
            throw corrupt("Unexpected corrupted extra bytes: " + Corrupt.hex(bytes, at, tailAt));
        }
    }

    private static void checkTail(int tailLength, int front, int length) {
        if (tailLength >= length || front + tailLength > length) {
            throw corrupt("`tail_len`: " + tailLength + " is corrupted");
        }
    }

    private static CoplaneException corrupt(String text) {
        return new CoplaneException(ErrorCode.CORRUPT_VALUE, text);
    }

    /** True for the old form: it has no segments. */
    public boolean isOld() {
        return isOld(length);
    }

    /** True if a value of this many bytes has the old form. */
    public static boolean isOld(int valueBytes) {
        return valueBytes <= OLD_MAX_BYTES;
    }

    /** True if there is a common handle segment. */
    public boolean hasCommonHandle() {
        return handleLength >= 0;
    }

    /** Where the datums of the common handle start in the wrapped bytes. */
    public int commonHandleStart() {
        return handleAt;
    }

    /** Bytes of the common handle, -1 if there is none. */
    public int commonHandleLength() {
        return handleLength;
    }

    /** True if there is a partition id segment. */
    public boolean hasPartitionId() {
        return partitionAt >= 0;
    }

    /** The partition id. */
    public long partitionId() {
        return Memcomparable.getLong(bytes, partitionAt);
    }

    /** True if there is restored data. */
    public boolean hasRestoredData() {
        return restoredLength >= 0;
    }

    /** Where the restored row (v2) starts in the wrapped bytes. */
    public int restoredStart() {
        return restoredAt;
    }

    /** Bytes of the restored row, -1 if there is none. */
    public int restoredLength() {
        return restoredLength;
    }

    /** True if the tail holds an int handle: 8 bytes or more. */
    public boolean tailHasHandle() {
        return offset + length - tailAt >= Long.BYTES;
    }

    /** The int handle that the tail starts with. */
    public long tailHandle() {
        return Endian.longBe(bytes, tailAt);
    }

    /** Int handle of a unique entry in the old form: the first 8 bytes. @throws CoplaneException CORRUPT_VALUE if there are fewer */
    public long oldHandle() {
        if (length < Long.BYTES) {
            throw corrupt("index value is too short for a handle: bytes=" + length);
        }
        return Endian.longBe(bytes, offset);
    }
}
