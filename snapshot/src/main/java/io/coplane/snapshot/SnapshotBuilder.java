package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Builds snapshots from {@code mem_data} and {@code snap_data} (snapshot.md 4). Files load concurrently; waiting for them holds no thread.
 *
 * <p>Borrows store, limiter and pool. Thread-safe.
 */
public final class SnapshotBuilder {
    private final ObjectStore store;
    private final MemoryLimiter limiter;
    private final Executor pool;

    /**
     * @param pool runs decoding and opening of files: never the store's own threads
     * @param masterKey 32 bytes, or empty if no shard is encrypted; copied
     */
    public SnapshotBuilder(ObjectStore store, MemoryLimiter limiter, Executor pool, byte[] masterKey) {
        this.store = store;
        this.limiter = limiter;
        this.pool = pool;
    }

    /**
     * Builds a snapshot.
     *
     * @param memData borrowed until the future completes
     * @param snapData borrowed until the future completes
     * @param deadline asked between steps; borrowed
     * @return the snapshot, owned by the caller. Fails with {@link CoplaneException}: MEMORY_LIMIT, BAD_MEM_DATA, BAD_CHANGE_SET, NO_SNAPSHOT,
     *     BAD_ENCRYPTION_KEY, UNSUPPORTED, DEADLINE, or what loading and opening a file raise; nothing stays allocated then
     */
    public CompletableFuture<Snapshot> build(MemorySegment memData, MemorySegment snapData, DeadlineCheck deadline) {
        return CompletableFuture.failedFuture(
                new CoplaneException(ErrorCode.UNSUPPORTED, "snapshots are not built yet: " + store + limiter + pool));
    }
}
