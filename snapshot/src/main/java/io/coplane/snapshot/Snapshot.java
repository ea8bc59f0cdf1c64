package io.coplane.snapshot;

import io.coplane.nativecache.MemoryGuard;

/**
 * One shard as a request saw it: memtable, L0 files, levels 1 to 3. Owns them and the request's memory guard; {@link #close()} frees all, after
 * every reader and row buffer is closed. Any number of readers at a time. Thread-safe.
 */
public final class Snapshot implements AutoCloseable {
    private final MemoryGuard guard;

    Snapshot(MemoryGuard guard) {
        this.guard = guard;
    }

    /** The request's memory account: charge what executing the request holds to it. Borrowed. */
    public MemoryGuard guard() {
        return guard;
    }

    /** Shard id of the ChangeSet. */
    public long shardId() {
        return 0;
    }

    /** Shard version of the ChangeSet. */
    public long shardVersion() {
        return 0;
    }

    /** First outer raw key of the shard; borrowed. */
    public byte[] outerStart() {
        return new byte[0];
    }

    /** End of the shard, exclusive outer raw key; borrowed. */
    public byte[] outerEnd() {
        return new byte[0];
    }

    /**
     * A scanner over all sources.
     *
     * @param readTs newest commit timestamp to see; unsigned, all ones = latest
     * @param reverse keys descending
     * @param statistics counts what the scanner examines; borrowed
     * @param deadline asked every few thousand entries; borrowed
     */
    public SnapshotScanner scanner(long readTs, boolean reverse, ReadStatistics statistics, DeadlineCheck deadline) {
        return new SnapshotScanner();
    }

    /** A reader of single keys; parameters as in {@link #scanner}. */
    public PointReader pointReader(long readTs, ReadStatistics statistics) {
        return new PointReader();
    }

    @Override
    public void close() {
        guard.close();
    }
}
