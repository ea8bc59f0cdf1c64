package io.coplane.snapshot;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.cache.BlockCache;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.ShardKey;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Builds snapshots from {@code mem_data} and {@code snap_data} (snapshot.md 4). Files load concurrently; waiting for them holds no thread.
 *
 * <p>Borrows store, limiter and pool. Thread-safe.
 */
public final class SnapshotBuilder {
    private final ObjectStore store;
    private final MemoryLimiter limiter;
    private final Executor pool;
    private final byte[] masterKey;
    private final PrepareType prepare;
    private final BlockCache cache; // or null
    private final TxnChunkManager chunks;
    private final KeyspaceKeys keyspaceKeys; // or null

    /**
     * A builder that loads L0 files and SSTs.
     *
     * @param pool runs decoding and opening of files: never the store's own threads
     * @param masterKey 32 bytes, or empty if no shard is encrypted; copied
     */
    public SnapshotBuilder(ObjectStore store, MemoryLimiter limiter, Executor pool, byte[] masterKey) {
        this(store, limiter, pool, masterKey, PrepareType.SST_ONLY);
    }

    /**
     * As the other one, but txn chunks are loaded anew by each request that uses them.
     *
     * @param prepare which files to load; a shard that has columnar ones of them fails as unsupported
     */
    public SnapshotBuilder(
            ObjectStore store, MemoryLimiter limiter, Executor pool, byte[] masterKey, PrepareType prepare) {
        this(store, limiter, pool, masterKey, prepare, null);
    }

    /**
     * As the other ones, but txn chunks are loaded anew by each request that uses them. {@code cache}: where files are kept between requests;
     * borrowed, of the same limiter; null = every request reads its files itself.
     *
     * <p>With a cache, the cache is charged for files, and a request for its memtable and what its readers need; a request whose estimate is more
     * than the limiter's cap is refused all the same (snapshot.md 4.2).
     */
    public SnapshotBuilder(
            ObjectStore store,
            MemoryLimiter limiter,
            Executor pool,
            byte[] masterKey,
            PrepareType prepare,
            BlockCache cache) {
        this(
                store,
                limiter,
                pool,
                masterKey,
                prepare,
                cache,
                new TxnChunkManager(store, limiter, pool, Clock.system(), 0));
    }

    /**
     * As the other ones.
     *
     * @param chunks the txn chunks of all builders of the process; borrowed
     */
    public SnapshotBuilder(
            ObjectStore store,
            MemoryLimiter limiter,
            Executor pool,
            byte[] masterKey,
            PrepareType prepare,
            BlockCache cache,
            TxnChunkManager chunks) {
        this(store, limiter, pool, masterKey, prepare, cache, chunks, null);
    }

    /**
     * As the other ones.
     *
     * @param keyspaceKeys where data keys of keyspaces come from; null: files that name one are refused
     */
    public SnapshotBuilder(
            ObjectStore store,
            MemoryLimiter limiter,
            Executor pool,
            byte[] masterKey,
            PrepareType prepare,
            BlockCache cache,
            TxnChunkManager chunks,
            KeyspaceKeys keyspaceKeys) {
        this.keyspaceKeys = keyspaceKeys;
        this.chunks = chunks;
        this.store = store;
        this.limiter = limiter;
        this.pool = pool;
        this.masterKey = masterKey.clone();
        this.prepare = prepare;
        this.cache = cache;
    }

    /**
     * Builds a snapshot.
     *
     * @param memData borrowed until the future completes
     * @param snapData borrowed until the future completes
     * @param deadline asked between steps; borrowed
     * @return the snapshot, owned by the caller, who must not complete the future himself. Fails with {@link CoplaneException}: MEMORY_LIMIT
     *     ({@link io.coplane.nativecache.MemoryLimitException}), BAD_MEM_DATA, BAD_CHANGE_SET, NO_SNAPSHOT, BAD_ENCRYPTION_KEY, UNSUPPORTED,
     *     DEADLINE, SHUTTING_DOWN, or what loading and opening a file raise; nothing stays allocated then
     */
    public CompletableFuture<Snapshot> build(MemorySegment memData, MemorySegment snapData, DeadlineCheck deadline) {
        return build(memData, snapData, () -> {}, deadline, store);
    }

    /**
     * As the other one.
     *
     * @param dataRead run when {@code memData} and {@code snapData} are not looked at any more: the memtable is rebuilt, in memory of the snapshot's
     *     guard. Not run where the build fails before
     * @param near where this request's files are read, but for txn chunks (snapshot.md 4.7): the builder's own store with a deadline, or with the
     *     sender's copy before it (4.8). A file that the cache loads for several requests is read through the first one's. Borrowed
     */
    public CompletableFuture<Snapshot> build(
            MemorySegment memData,
            MemorySegment snapData,
            Runnable dataRead,
            DeadlineCheck deadline,
            ObjectStore near) {
        var result = new CompletableFuture<Snapshot>();
        try {
            pool.execute(() -> begin(memData, snapData, dataRead, deadline, near, result));
        } catch (RejectedExecutionException e) {
            result.completeExceptionally(shuttingDown(e));
        }
        return result;
    }

    private void begin(
            MemorySegment memData,
            MemorySegment snapData,
            Runnable dataRead,
            DeadlineCheck deadline,
            ObjectStore near,
            CompletableFuture<Snapshot> result) {
        try {
            SnapshotLoad load = open(memData, snapData, deadline);
            CompletableFuture<Void> ended = load.startReads(near, cache, chunks);
            load.rebuildMemTable(dataRead);
            ended.whenComplete((none, failed) -> {
                        try {
                            pool.execute(() -> load.finish(result));
                        } catch (RejectedExecutionException e) {
                            load.abandon(result, shuttingDown(e));
                        } catch (RuntimeException | Error e) {
                            load.abandon(result, e);
                        }
                    })
                    .exceptionally(ignored -> null); // each read's failure is looked at by finish
        } catch (RuntimeException | Error e) { // whoever waits holds permits
            result.completeExceptionally(e);
        }
    }

    /** Parses, admits, unwraps the key: what needs no file (snapshot.md 4.1). */
    private SnapshotLoad open(MemorySegment memData, MemorySegment snapData, DeadlineCheck deadline) {
        deadline.check();
        ShardFiles shard = ShardFiles.parse(snapData, prepare);
        MemoryGuard guard = admit(memData.byteSize(), shard.estimatedBytes());
        try {
            ShardKey key = shardKey(shard.exportedKey());
            for (ShardFiles.ShardFile file : shard.files()) {
                if (file.kind() != FileKind.SST && file.kind() != FileKind.BLOB) {
                    throw new CoplaneException(
                            ErrorCode.UNSUPPORTED,
                            "columnar files are not supported: kind=" + file.kind() + " id="
                                    + Long.toUnsignedString(file.id()));
                }
            }
            MemDataParts parts = MemDataParts.split(memData);
            List<TxnFile> txnFiles = TxnFile.parse(parts.txnFileRefs());
            return new SnapshotLoad(
                    shard, key, keyspace(shard), parts.rows(), txnFiles, guard, new NativeArena(guard), deadline);
        } catch (RuntimeException | Error e) {
            guard.close();
            throw e;
        }
    }

    /** The shard's own key. A data key there is one of its keyspace, whose keys are found when a file names one. */
    private ShardKey shardKey(byte[] exported) {
        if (exported == null || keyspaceKeys != null && ShardKey.isDataKey(exported)) {
            return null;
        }
        return ShardKey.unwrap(masterKey, exported);
    }

    private SnapshotLoad.Keyspace keyspace(ShardFiles shard) {
        int id = Math.max(0, InnerKeys.keyspaceId(shard.outerStart()));
        return keyspaceKeys == null ? null : new SnapshotLoad.Keyspace(id, keyspaceKeys, pool);
    }

    private MemoryGuard admit(long memDataBytes, long estimatedBytes) {
        long whole = memDataBytes + estimatedBytes;
        boolean refused = whole > limiter.capBytes(); // by the reference's rule, whoever is charged
        long bytes = cache == null || refused ? whole : memDataBytes;
        try {
            return limiter.acquire(bytes);
        } catch (MemoryLimitException e) {
            if (chunks.dropUnused() == 0) { // chunks that nobody uses make room
                throw e;
            }
            return limiter.acquire(bytes);
        }
    }

    private static CoplaneException shuttingDown(RejectedExecutionException e) {
        return new CoplaneException(ErrorCode.SHUTTING_DOWN, "the pool takes no more work", e);
    }
}
