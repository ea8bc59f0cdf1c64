package io.coplane.types.codec;

import java.util.Arrays;

/**
 * One column of a batch as it is stored: per row a v2 cell (coprocessor.md 4.6) or a datum (4.4) in one buffer, or NULL, or the column's default.
 * Output in default encoding copies it verbatim (3.12); {@link ColumnDecoder} decodes it.
 *
 * <p>The buffer is borrowed (the batch's rows) or the column's own. {@code lengths[row]} tells the form: 0 or more = bytes of a v2 cell;
 * {@link #NULL}; {@link #DEFAULT} = the datum given to {@link #setDefaultDatum}; any other negative number = {@link #datumLength} encoded. One
 * thread.
 */
public final class RawColumn {
    /** Length of a row that is NULL. */
    public static final int NULL = -1;
    /** Length of a row that has the column's default. */
    public static final int DEFAULT = Integer.MIN_VALUE;

    private static final byte[] NONE = {};

    private byte[] own = NONE;
    private byte[] data = NONE;
    private int used;
    private int[] starts = new int[0];
    private int[] lengths = new int[0];
    private int rows;
    private boolean hasCells;
    private boolean hasDatums;
    private boolean hasDefaults;
    private byte[] defaultDatum = {Datums.NIL};

    /** The datum of rows without a value; kept from batch to batch. */
    public void setDefaultDatum(byte[] datum) {
        defaultDatum = datum;
    }

    /** The datum of rows without a value; borrowed. */
    public byte[] defaultDatum() {
        return defaultDatum;
    }

    /**
     * Starts an empty batch whose values lie in {@code buffer}, which must stay unchanged while the batch is in use.
     *
     * @param capacityRows rows that will be added at most
     */
    public void resetBorrowed(int capacityRows, byte[] buffer) {
        reset(capacityRows);
        data = buffer;
    }

    /** Starts an empty batch whose values are copied into the column's own buffer. */
    public void resetOwned(int capacityRows) {
        reset(capacityRows);
        data = own;
        used = 0;
    }

    /** Becomes a copy of another column that borrows the same buffer. */
    public void resetLike(RawColumn other) {
        resetBorrowed(other.rows, other.data);
        System.arraycopy(other.starts, 0, starts, 0, other.rows);
        System.arraycopy(other.lengths, 0, lengths, 0, other.rows);
        rows = other.rows;
        hasCells = other.hasCells;
        hasDatums = other.hasDatums;
        hasDefaults = other.hasDefaults;
        defaultDatum = other.defaultDatum;
    }

    /** Makes room for {@code capacityRows} rows and keeps those in use. */
    public void ensureRows(int capacityRows) {
        if (capacityRows > starts.length) {
            int capacity = Math.max(capacityRows, 2 * starts.length);
            starts = Arrays.copyOf(starts, capacity);
            lengths = Arrays.copyOf(lengths, capacity);
        }
    }

    private void reset(int capacityRows) {
        ensureRows(capacityRows);
        rows = 0;
        hasCells = false;
        hasDatums = false;
        hasDefaults = false;
    }

    /** Adds a row whose v2 cell lies in the buffer. */
    public void addCell(int start, int length) {
        starts[rows] = start;
        lengths[rows++] = length;
        hasCells = true;
    }

    /** Adds a row whose datum, flag included, lies in the buffer. */
    public void addDatum(int start, int length) {
        starts[rows] = start;
        lengths[rows++] = ofDatum(length);
        hasDatums = true;
    }

    /** Adds a row that is NULL. */
    public void addNull() {
        starts[rows] = 0;
        lengths[rows++] = NULL;
    }

    /** Adds a row that has the column's default. */
    public void addDefault() {
        starts[rows] = 0;
        lengths[rows++] = DEFAULT;
        hasDefaults = true;
    }

    /** Copies a v2 cell into the own buffer and adds it. */
    public void copyCell(byte[] source, int offset, int length) {
        int start = reserve(length);
        System.arraycopy(source, offset, data, start, length);
        addCell(start, length);
    }

    /** Copies a datum into the own buffer and adds it. */
    public void copyDatum(byte[] source, int offset, int length) {
        int start = reserve(length);
        System.arraycopy(source, offset, data, start, length);
        addDatum(start, length);
    }

    /** Takes {@code length} more bytes of the own buffer. @return where they start in {@link #data()}, read after this call */
    public int reserve(int length) {
        int end = Math.addExact(used, length);
        if (end > own.length) {
            own = Arrays.copyOf(own, Math.max(end, (int) Math.min(Integer.MAX_VALUE - 8, 2L * own.length + 64)));
            data = own;
        }
        int start = used;
        used = end;
        return start;
    }

    /** Takes {@code count} rows, cells or NULL, that the caller wrote to {@link #starts()} and {@link #lengths()}, from row 0 on. */
    public void takeCells(int count) {
        rows = count;
        hasCells = true;
    }

    /** Sets a datum at a row within the capacity, which {@link #takeDatums} takes later. */
    public void putDatum(int row, int start, int length) {
        starts[row] = start;
        lengths[row] = ofDatum(length);
    }

    /** Takes {@code count} rows that {@link #putDatum} has set, from row 0 on. */
    public void takeDatums(int count) {
        rows = count;
        hasDatums = true;
    }

    /** Forgets the rows from {@code rows} on. */
    public void truncate(int rows) {
        this.rows = rows;
    }

    /** Keeps the given rows, in this order. @param kept ascending row numbers @param count how many of them */
    public void keep(int[] kept, int count) {
        for (int i = 0; i < count; i++) {
            starts[i] = starts[kept[i]];
            lengths[i] = lengths[kept[i]];
        }
        rows = count;
    }

    /** Rows of this batch. */
    public int rows() {
        return rows;
    }

    /** What {@link #starts()} points into; borrowed. */
    public byte[] data() {
        return data;
    }

    /** Where each row starts; borrowed. */
    public int[] starts() {
        return starts;
    }

    /** Form and length of each row, see the class comment; borrowed. */
    public int[] lengths() {
        return lengths;
    }

    /** Bytes of a datum, flag included, from its entry in {@link #lengths()}. */
    public static int datumLength(int length) {
        return -2 - length;
    }

    /** Entry of {@link #lengths()} for a datum of {@code length} bytes. */
    static int ofDatum(int length) {
        return -2 - length;
    }

    /** True if a row may be a v2 cell. */
    public boolean hasCells() {
        return hasCells;
    }

    /** True if a row may be a datum. */
    public boolean hasDatums() {
        return hasDatums;
    }

    /** True if a row may have the default. */
    public boolean hasDefaults() {
        return hasDefaults;
    }

    /** True if the row is NULL; a default or a datum that is NULL counts. */
    public boolean isNull(int row) {
        int length = lengths[row];
        if (length >= 0) {
            return false;
        }
        if (length == DEFAULT) {
            return defaultDatum[0] == Datums.NIL;
        }
        return length == NULL || data[starts[row]] == Datums.NIL;
    }

    /** Heap bytes held by the arrays, for the request's account. */
    public long heapBytes() {
        return own.length + 2L * Integer.BYTES * starts.length;
    }
}
