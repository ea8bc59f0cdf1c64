package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/**
 * Scans ranges of the write CF at one read timestamp, in one direction (snapshot.md 6.4, 6.7): per key its newest version at or below the
 * timestamp, deletes left out. Borrows from the snapshot; close it first. One thread.
 */
public final class SnapshotScanner implements AutoCloseable {
    SnapshotScanner() {}

    /**
     * Starts a range; the position is kept when ranges are given in the direction of the scan.
     *
     * @param lower inclusive, outer raw key; borrowed until the next call
     * @param upper exclusive, outer raw key; borrowed until the next call
     * @throws CoplaneException BAD_KEY_RANGE if the range goes beyond the shard, with the reference's text
     */
    public void setRange(byte[] lower, byte[] upper) {
        throw new CoplaneException(ErrorCode.UNSUPPORTED, "scans are not built yet");
    }

    /**
     * Appends the next rows of the range, at most {@code maxRows}.
     *
     * @return rows appended; fewer than {@code maxRows} only at the end of the range
     * @throws CoplaneException if a file is broken or the deadline is over; rows appended before stay in the buffer and are right
     */
    public int fill(RowBuffer rows, int maxRows) {
        throw new CoplaneException(ErrorCode.UNSUPPORTED, "scans are not built yet");
    }

    @Override
    public void close() {}
}
