package io.coplane.snapshot;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import java.util.List;

/**
 * One shard as a request saw it: memtable, L0 files, levels 1 to 3, blobs. Owns them and the request's memory guard; {@link #close()} frees all, after
 * every reader and row buffer is closed. Any number of readers at a time. Thread-safe.
 */
public final class Snapshot implements AutoCloseable {
    private final ShardFiles shard;
    private final List<TableSource> sources;
    private final Blobs blobs;
    private final MemoryGuard guard;
    private final NativeArena arena;

    /**
     * @param sources newest first: memtable, L0 files, levels
     * @param guard owned
     * @param arena owned; holds the bytes of the sources
     */
    Snapshot(ShardFiles shard, List<TableSource> sources, Blobs blobs, MemoryGuard guard, NativeArena arena) {
        this.shard = shard;
        this.sources = List.copyOf(sources);
        this.blobs = blobs;
        this.guard = guard;
        this.arena = arena;
    }

    /** The request's memory account: charge what executing the request holds to it. Borrowed. */
    public MemoryGuard guard() {
        return guard;
    }

    /** Files that it was made of. */
    public int fileCount() {
        return shard.files().size();
    }

    /** Shard id of the ChangeSet. */
    public long shardId() {
        return shard.shardId();
    }

    /** Shard version of the ChangeSet. */
    public long shardVersion() {
        return shard.shardVersion();
    }

    /** Version of the data for the coprocessor cache (coprocessor.md 3.14): base version + data sequence; 0 = unknown, as senders leave it. */
    public long dataVersion() {
        return shard.dataVersion();
    }

    /** First outer raw key of the shard; a copy. */
    public byte[] outerStart() {
        return shard.outerStart().clone();
    }

    /** End of the shard, exclusive outer raw key; a copy. */
    public byte[] outerEnd() {
        return shard.outerEnd().clone();
    }

    /**
     * A scanner over all sources.
     *
     * @param readTs newest commit timestamp to see; unsigned, all ones = latest
     * @param reverse keys descending
     * @param statistics counts what the scanner examines; borrowed
     * @param deadline asked every few thousand entries; borrowed
     * @param threads who will use and close it
     */
    public SnapshotScanner scanner(
            long readTs, boolean reverse, ReadStatistics statistics, DeadlineCheck deadline, ReaderThreads threads) {
        return new SnapshotScanner(shard, sources, blobs, readTs, reverse, statistics, deadline, arena(threads));
    }

    /** A reader of single keys; parameters as in {@link #scanner}. */
    public PointReader pointReader(long readTs, ReadStatistics statistics, ReaderThreads threads) {
        return new PointReader(shard, sources, blobs, readTs, statistics, arena(threads));
    }

    private NativeArena arena(ReaderThreads threads) {
        return switch (threads) {
            case CALLER -> NativeArena.ofThread(guard);
            case ANY -> new NativeArena(guard);
        };
    }

    List<TableSource> sources() {
        return sources;
    }

    Blobs blobs() {
        return blobs;
    }

    @Override
    public void close() {
        try (guard) {
            arena.close();
        }
    }
}
