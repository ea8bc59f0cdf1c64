package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/** Point gets of the write CF at one read timestamp (snapshot.md 6.4, 6.7). Borrows from the snapshot; close it first. One thread. */
public final class PointReader implements AutoCloseable {
    PointReader() {}

    /**
     * Appends the row of a key if it is there.
     *
     * @param key outer raw key
     * @return false if the key is absent, deleted, or outside the shard
     * @throws CoplaneException if a file is broken
     */
    public boolean get(byte[] key, RowBuffer rows) {
        throw new CoplaneException(ErrorCode.UNSUPPORTED, "point gets are not built yet");
    }

    @Override
    public void close() {}
}
