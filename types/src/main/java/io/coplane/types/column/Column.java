package io.coplane.types.column;

import java.util.Arrays;

/**
 * Decoded values of one column of a batch: rows 0 to {@code rows - 1}, dense, with a null bitmap. The value at a null row is undefined but
 * readable. Owned by the request and reused from batch to batch; one thread.
 *
 * <p>A column may be {@linkplain #isConstant() constant}: then all rows hold the value of row 0, and kernels may read that one only.
 */
public abstract sealed class Column permits LongColumn, DoubleColumn, DecimalColumn, BytesColumn {
    private long[] nulls = new long[1];
    private int rows;
    private boolean hasNulls;
    private boolean constant;

    /** Rows in use. */
    public final int rows() {
        return rows;
    }

    /**
     * Starts a new batch of {@code rows} rows: no nulls, not constant, values undefined.
     *
     * @param rows at least 0
     */
    public final void reset(int rows) {
        if (hasNulls) {
            Arrays.fill(nulls, 0, words(this.rows), 0);
            hasNulls = false;
        }
        constant = false;
        this.rows = rows;
        int words = words(rows);
        if (words > nulls.length) {
            nulls = new long[Math.max(words, 2 * nulls.length)];
        }
        ensureRows(rows);
    }

    /** Changes the number of rows and keeps the values of those that stay; new rows are not null, their values undefined. */
    public final void resize(int rows) {
        for (int row = rows; hasNulls && row < this.rows; row++) {
            nulls[row >>> 6] &= ~(1L << row);
        }
        int words = words(rows);
        if (words > nulls.length) {
            nulls = Arrays.copyOf(nulls, Math.max(words, 2 * nulls.length));
        }
        ensureRows(rows);
        this.rows = rows;
    }

    /** Makes room for {@code rows} values and keeps those in use. */
    protected abstract void ensureRows(int rows);

    /** Copies the value (not the null bit) of {@code from} to {@code to}; {@code to <= from}. */
    protected abstract void moveValue(int from, int to);

    /**
     * Keeps the given rows, in this order.
     *
     * @param kept ascending row numbers
     * @param count how many of them
     */
    public final void keep(int[] kept, int count) {
        for (int i = 0; i < count; i++) {
            int row = kept[i];
            if (row != i) {
                moveValue(row, i);
                if (hasNulls) {
                    setNullBit(i, isNull(row));
                }
            }
        }
        resize(count);
    }

    /** True if the row is NULL. */
    public final boolean isNull(int row) {
        return (nulls[row >>> 6] >>> row & 1) != 0;
    }

    /** Makes the row NULL. */
    public final void setNull(int row) {
        nulls[row >>> 6] |= 1L << row;
        hasNulls = true;
    }

    private void setNullBit(int row, boolean isNull) {
        long bit = 1L << row;
        nulls[row >>> 6] = isNull ? nulls[row >>> 6] | bit : nulls[row >>> 6] & ~bit;
    }

    /** False if surely no row is NULL. */
    public final boolean mayHaveNulls() {
        return hasNulls;
    }

    /** The null bitmap: bit {@code row & 63} of word {@code row >>> 6}. Borrowed; call {@link #markNulls()} after setting bits. */
    public final long[] nullWords() {
        return nulls;
    }

    /** Tells the column that bits were set in {@link #nullWords()}. */
    public final void markNulls() {
        hasNulls = true;
    }

    /** Adds the nulls of another column with at least as many rows (or a constant) to this one. */
    public final void orNulls(Column other) {
        if (!other.hasNulls) {
            return;
        }
        if (other.constant) {
            if (other.isNull(0)) {
                setAllNull();
            }
            return;
        }
        for (int i = 0; i < words(rows); i++) {
            nulls[i] |= other.nulls[i];
        }
        clearTail();
        hasNulls = true;
    }

    /** Makes every row NULL. */
    public final void setAllNull() {
        Arrays.fill(nulls, 0, words(rows), -1L);
        clearTail();
        hasNulls = true;
    }

    private void clearTail() {
        if ((rows & 63) != 0) {
            nulls[rows >>> 6] &= (1L << rows) - 1;
        }
    }

    /** True if every row holds the value of row 0. */
    public final boolean isConstant() {
        return constant;
    }

    /** Declares that every row holds the value of row 0; the caller has filled them. */
    public final void markConstant() {
        constant = true;
    }

    /** Heap bytes held by the arrays, for the request's account. */
    public abstract long heapBytes();

    /** Heap bytes of the null bitmap. */
    protected final long nullBytes() {
        return (long) nulls.length * Long.BYTES;
    }

    private static int words(int rows) {
        return (rows + 63) >>> 6;
    }
}
