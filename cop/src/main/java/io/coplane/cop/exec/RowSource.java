package io.coplane.cop.exec;

import io.coplane.snapshot.RowBuffer;

/** What scans read: rows at one read timestamp. Outer raw keys throughout. One thread. */
public interface RowSource extends AutoCloseable {
    /**
     * Starts an interval. All intervals of one source have the same direction.
     *
     * @param reverse keys descending
     * @param lower inclusive; borrowed until the next call
     * @param upper exclusive; borrowed until the next call
     */
    void setRange(boolean reverse, byte[] lower, byte[] upper);

    /**
     * Appends the next rows of the interval, at most {@code maxRows}.
     *
     * @return rows appended; fewer than {@code maxRows} only at the end of the interval
     */
    int fill(RowBuffer rows, int maxRows);

    /** Appends the row of a key if it is there. @return false if it is not */
    boolean get(byte[] key, RowBuffer rows);

    @Override
    void close();
}
