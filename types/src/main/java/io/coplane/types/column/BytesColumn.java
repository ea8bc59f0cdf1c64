package io.coplane.types.column;

import java.util.Arrays;

/**
 * Byte strings: Bytes, Json (type byte + value), VectorFloat32 (wire form). Row {@code i} is {@code lengths[i]} bytes from {@code starts[i]} of
 * {@link #data()}, which is the column's own growing buffer or a borrowed one.
 */
public final class BytesColumn extends Column {
    private static final byte[] NONE = {};

    private byte[] own = NONE;
    private byte[] data = NONE;
    private int used;
    private int[] starts = new int[0];
    private int[] lengths = new int[0];

    /** The buffer that the rows point into; borrowed, replaced when it grows. */
    public byte[] data() {
        return data;
    }

    /** Where each row starts in {@link #data()}; borrowed, replaced when the column grows. */
    public int[] starts() {
        return starts;
    }

    /** Bytes of each row; borrowed, replaced when the column grows. */
    public int[] lengths() {
        return lengths;
    }

    /** Starts a batch whose values are appended to the column's own buffer. */
    public void resetOwned(int rows) {
        reset(rows);
        data = own;
        used = 0;
    }

    /**
     * Starts a batch whose values lie in {@code buffer}, which must stay unchanged while the batch is in use. Set rows with {@link #setView}.
     */
    public void resetBorrowed(int rows, byte[] buffer) {
        reset(rows);
        data = buffer;
        used = -1;
    }

    /** Replaces a borrowed buffer that has moved; the rows' places in it are the same. */
    public void rebase(byte[] buffer) {
        data = buffer;
    }

    /** Points a row to bytes that already lie in {@link #data()}. */
    public void setView(int row, int start, int length) {
        starts[row] = start;
        lengths[row] = length;
    }

    /** Copies bytes into the column's own buffer and points the row to them. */
    public void set(int row, byte[] source, int offset, int length) {
        int start = reserve(length);
        System.arraycopy(source, offset, data, start, length);
        setView(row, start, length);
    }

    /** Makes the row the empty string. */
    public void setEmpty(int row) {
        setView(row, 0, 0);
    }

    /**
     * Makes room for {@code length} more bytes in the column's own buffer and takes them.
     *
     * @return where they start in {@link #data()}, read after this call
     */
    public int reserve(int length) {
        if (used < 0) {
            throw new IllegalStateException("column borrows its bytes");
        }
        int start = used;
        int end = Math.addExact(start, length);
        if (end > own.length) {
            own = Arrays.copyOf(own, Math.max(end, (int) Math.min(Integer.MAX_VALUE - 8, 2L * own.length + 64)));
            data = own;
        }
        used = end;
        return start;
    }

    /** Gives back the last {@code length} bytes taken by {@link #reserve}. */
    public void unreserve(int length) {
        used -= length;
    }

    @Override
    protected void ensureRows(int rows) {
        if (rows > starts.length) {
            int capacity = Math.max(rows, 2 * starts.length);
            starts = Arrays.copyOf(starts, capacity);
            lengths = Arrays.copyOf(lengths, capacity);
        }
    }

    @Override
    protected void moveValue(int from, int to) {
        starts[to] = starts[from];
        lengths[to] = lengths[from];
    }

    @Override
    public long heapBytes() {
        return nullBytes() + own.length + 2L * Integer.BYTES * starts.length;
    }
}
