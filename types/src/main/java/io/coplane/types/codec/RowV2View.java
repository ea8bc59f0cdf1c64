package io.coplane.types.codec;

/**
 * A row value in format v2 (coprocessor.md 4.6).
 *
 * <pre>
 * at  bytes  field
 *  0      1  80
 *  1      1  flags: 1 = big, 2 = with checksum; others ignored
 *  2      2  n, columns that are not NULL; little-endian like all that follows
 *  4      2  m, columns that are NULL
 *  6    n*w  their ids, ascending; w = 1, big: 4
 *       m*w  ids of the NULL columns, ascending
 *       n*o  where each value ends, from the start of the values; o = 2, big: 4
 *         -  values
 *    5 or 9  with checksum: header (bits 0-2 version, bit 3 extra), u32 checksum, u32 extra checksum if bit 3 is set
 * </pre>
 *
 * <p>Borrows the bytes it wraps; one thread. {@link #wrap} checks the header; {@link #find} checks the value it finds.
 */
public final class RowV2View {
    /** First byte of every row in this format. */
    public static final int CODEC_VERSION = 0x80;
    /** What {@link #find} says about a column that is NULL. */
    public static final int NULL = -1;
    /** What {@link #find} says about a column that the row does not have. */
    public static final int MISSING = -2;

    private static final int FLAGS_AT = 1;
    private static final int COLUMNS_AT = FLAGS_AT + 1;
    private static final int NULL_COLUMNS_AT = COLUMNS_AT + 2;
    private static final int IDS_AT = NULL_COLUMNS_AT + 2;

    private static final int BIG = 1;
    private static final int WITH_CHECKSUM = 2;
    private static final int EXTRA_CHECKSUM = 1 << 3;
    private static final int CHECKSUM_BYTES = 5;
    private static final int TWO_CHECKSUMS_BYTES = 9;

    private byte[] bytes;
    private boolean big;
    private int columns;
    private int nullColumns;
    private int idsAt;
    private int nullIdsAt;
    private int endsAt;
    private int valuesAt;
    private int valuesLength;
    private int checksumAt;
    private int checksumLength;
    private int cellStart;
    private int position;

    /** True if a row value is in this format; others are v1. */
    public static boolean isV2(byte[] bytes, int offset, int length) {
        return length > 0 && bytes[offset] == (byte) CODEC_VERSION;
    }

    /**
     * Wraps one row.
     *
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_ROW if ids, offsets, values or checksum don't fit into {@code length} bytes
     */
    public RowV2View wrap(byte[] bytes, int offset, int length) {
        if (length < IDS_AT || bytes[offset] != (byte) CODEC_VERSION) {
            throw Corrupt.row("row v2 header is corrupt: bytes=" + length);
        }
        int flags = bytes[offset + FLAGS_AT];
        this.bytes = bytes;
        big = (flags & BIG) != 0;
        columns = Endian.unsignedShortLe(bytes, offset + COLUMNS_AT);
        nullColumns = Endian.unsignedShortLe(bytes, offset + NULL_COLUMNS_AT);
        int shift = big ? 2 : 0;
        idsAt = offset + IDS_AT;
        nullIdsAt = idsAt + (columns << shift);
        endsAt = nullIdsAt + (nullColumns << shift);
        valuesAt = endsAt + (columns << (big ? 2 : 1));
        int end = offset + length;
        if (valuesAt > end) {
            throw truncated(length);
        }
        valuesLength = 0;
        valuesLength = columns == 0 ? 0 : valueEnd(columns - 1, end - valuesAt);
        checksumAt = valuesAt + valuesLength;
        checksumLength = 0;
        position = 0;
        if ((flags & WITH_CHECKSUM) != 0) {
            wrapChecksum(end);
        }
        return this;
    }

    private void wrapChecksum(int end) {
        checksumLength = end - checksumAt;
        if (checksumLength != CHECKSUM_BYTES && checksumLength != TWO_CHECKSUMS_BYTES
                || checksumLength == TWO_CHECKSUMS_BYTES != hasExtraChecksum()) {
            throw Corrupt.row("row v2 checksum is corrupt: bytes=" + checksumLength);
        }
    }

    private static RuntimeException truncated(int length) {
        return Corrupt.row("row v2 is truncated: bytes=" + length);
    }

    private int valueEnd(int index, int limit) {
        int end = big ? Endian.intLe(bytes, endsAt + 4 * index) : Endian.unsignedShortLe(bytes, endsAt + 2 * index);
        if (end < 0 || end > limit) {
            throw Corrupt.row("row v2 value lies outside of the row: column=" + index + " end=" + (end & 0xffff_ffffL));
        }
        return end;
    }

    /** Columns that are not NULL. */
    public int columnCount() {
        return columns;
    }

    /** Columns that are NULL. */
    public int nullColumnCount() {
        return nullColumns;
    }

    /** Id of the {@code index}-th column that is not NULL; 0 .. {@link #columnCount()} - 1. */
    public long columnId(int index) {
        return id(idsAt, index);
    }

    /** Id of the {@code index}-th NULL column; 0 .. {@link #nullColumnCount()} - 1. */
    public long nullColumnId(int index) {
        return id(nullIdsAt, index);
    }

    private long id(int base, int index) {
        return big ? Endian.unsignedIntLe(bytes, base + 4 * index) : bytes[base + index] & 0xff;
    }

    /**
     * Looks a column up. Fast if columns are asked for in ascending order and the row has most of them; else a binary search.
     *
     * @return bytes of its value, which starts at {@link #cellStart()}; or {@link #NULL} or {@link #MISSING}
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_ROW if the value lies outside of the row
     */
    public int find(long columnId) {
        return find(columnId, position);
    }

    /**
     * Looks a column up.
     *
     * @param hint where it may be, for instance its {@link #foundPosition()} in the row before; any value is right
     */
    public int find(long columnId, int hint) {
        if (hint >= 0 && hint < columns && id(idsAt, hint) == columnId) {
            return cell(hint);
        }
        if (columnId <= 0 || columnId > (big ? 0xffff_ffffL : 0xff)) {
            return MISSING;
        }
        int index = search(idsAt, columns, columnId);
        if (index >= 0) {
            return cell(index);
        }
        return search(nullIdsAt, nullColumns, columnId) >= 0 ? NULL : MISSING;
    }

    private int cell(int index) {
        int start = index == 0 ? 0 : valueEnd(index - 1, valuesLength);
        int end = valueEnd(index, valuesLength);
        if (start > end) {
            throw Corrupt.row("row v2 value ends before it starts: column=" + index);
        }
        cellStart = valuesAt + start;
        position = index + 1;
        return end - start;
    }

    private int search(int base, int count, long columnId) {
        int low = 0;
        int high = count - 1;
        while (low <= high) {
            int middle = low + high >>> 1;
            long id = id(base, middle);
            if (id < columnId) {
                low = middle + 1;
            } else if (id > columnId) {
                high = middle - 1;
            } else {
                return middle;
            }
        }
        return -1;
    }

    /** Where the value found last starts in the wrapped bytes. */
    public int cellStart() {
        return cellStart;
    }

    /** Position of the value found last among the columns that are not NULL, for {@link #find(long, int)} in the next row. */
    public int foundPosition() {
        return position - 1;
    }

    /** Where the values start in the wrapped bytes. */
    public int valuesStart() {
        return valuesAt;
    }

    /** True if the row carries a checksum. It is not verified. */
    public boolean hasChecksum() {
        return checksumLength != 0;
    }

    /** Version bits of the checksum header. */
    public int checksumVersion() {
        return bytes[checksumAt] & 0x7;
    }

    /** The checksum. */
    public int checksum() {
        return Endian.intLe(bytes, checksumAt + 1);
    }

    /** True if the row carries a second checksum. */
    public boolean hasExtraChecksum() {
        return checksumLength != 0 && (bytes[checksumAt] & EXTRA_CHECKSUM) != 0;
    }

    /** The second checksum. */
    public int extraChecksum() {
        return Endian.intLe(bytes, checksumAt + CHECKSUM_BYTES);
    }
}
