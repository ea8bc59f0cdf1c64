package io.coplane.cop;

import io.coplane.snapshot.Snapshot;
import java.util.Arrays;

/**
 * Finds the regions in which an index look-up may read table rows outside of the request's ranges (coprocessor.md 3.11). A sender selects memtable
 * rows by the request's ranges, so a server that has nothing but what was sent must use {@link #NONE}: its look-ups are disabled and the client
 * gets the index rows. Asked by the thread that executes the request.
 */
@FunctionalInterface
public interface RegionAccessor {
    /** No region but the request's own ranges: look-ups are disabled. */
    RegionAccessor NONE = (own, rowKey) -> null;

    /** For snapshots that hold every row of their shard: the shard itself, and no other. */
    RegionAccessor WHOLE_SHARD = (own, rowKey) -> {
        boolean isInside = Arrays.compareUnsigned(rowKey, own.outerStart()) >= 0
                && Arrays.compareUnsigned(rowKey, own.outerEnd()) < 0;
        return isInside ? own : null;
    };

    /**
     * The region that holds a row.
     *
     * @param own the request's snapshot; borrowed
     * @param rowKey outer raw key; borrowed
     * @return whole in the region of the key and good for the request's timestamp; the same object for all keys of a region. Stays open until the
     *     request ends, the caller borrows it. Null if the row can't be reached: then its index row goes to the client
     */
    Snapshot find(Snapshot own, byte[] rowKey);
}
