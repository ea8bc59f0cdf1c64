package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.cache.BlockCache;
import io.coplane.nativecache.cache.CachedBlock;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.snapshot.ShardFiles.ShardFile;
import io.coplane.sst.BlobReader;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.L0Reader;
import io.coplane.sst.MissingDataKeyException;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstReader;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * One snapshot while its files load (snapshot.md 4.5, 4.6). Owns guard and arena until they go into the snapshot or the load fails; the arena
 * is freed only after every read has ended.
 *
 * <p>Used by one thread at a time: first the one that starts the reads, after the last of them the one that finishes.
 */
final class SnapshotLoad {
    private static final int LEVELS = 3;
    private static final int MAX_ERRORS_NAMED = 16;

    /** Once for keys at all, once more for keys that are newer than those in memory. */
    private static final int MOST_KEY_LOOKS = 2;

    private final ShardFiles shard;
    private final ShardKey shardKey; // of the first generation, or null
    private final Keyspace keyspace; // or null
    private ShardKey keyspaceKey; // of the second generation; null until a file needs it
    private ShardKey key; // of both
    private int keyLooks;
    private final MemorySegment rows;
    private final List<TxnFile> txnFiles;
    private final MemoryGuard guard;
    private final NativeArena arena;
    private final DeadlineCheck deadline;
    private final List<ShardFile> files = new ArrayList<>();
    private final List<CompletableFuture<LoadedFile>> reads = new ArrayList<>();
    private CompletableFuture<TxnChunkManager.Pinned> chunks; // null: no txn files
    private final List<BlobReader> blobs = new ArrayList<>();
    private List<TableSource> memTable = List.of();
    private final List<TableSource> sources = new ArrayList<>();
    private Throwable startFailure; // of what comes before the reads end; or null

    /**
     * Where data keys come from, for files that name one (worker.md 17.3).
     *
     * @param pool runs what is left to do once they are found
     */
    record Keyspace(int id, KeyspaceKeys keys, Executor pool) {}

    /**
     * @param key null if the shard has none, or only data keys of its keyspace
     * @param keyspace null: files that need a data key are refused
     * @param rows rows part of {@code mem_data}; borrowed until {@link #rebuildMemTable} returned
     * @param txnFiles newest version first
     * @param guard owned
     * @param arena owned
     */
    SnapshotLoad(
            ShardFiles shard,
            ShardKey key,
            Keyspace keyspace,
            MemorySegment rows,
            List<TxnFile> txnFiles,
            MemoryGuard guard,
            NativeArena arena,
            DeadlineCheck deadline) {
        this.shard = shard;
        this.shardKey = key;
        this.key = key;
        this.keyspace = keyspace;
        this.rows = rows;
        this.txnFiles = txnFiles;
        this.guard = guard;
        this.arena = arena;
        this.deadline = deadline;
    }

    /** Starts reading every file whole. {@code cache}: or null. @return completes when all reads ended, well or not */
    CompletableFuture<Void> startReads(ObjectStore store, BlockCache cache, TxnChunkManager manager) {
        try {
            files.addAll(shard.files());
            for (ShardFile file : files) {
                reads.add(read(store, cache, file));
            }
            if (!txnFiles.isEmpty()) {
                List<Long> chunkIds = txnFiles.stream()
                        .flatMap(file -> file.chunkIds().stream())
                        .toList();
                chunks = manager.load(chunkIds, key);
            }
        } catch (RuntimeException | Error e) {
            startFailure = e; // those that were started end all the same
        }
        var all = new ArrayList<CompletableFuture<?>>(reads);
        if (chunks != null) {
            all.add(chunks);
        }
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
    }

    private CompletableFuture<LoadedFile> read(ObjectStore store, BlockCache cache, ShardFile file) {
        try {
            if (cache == null) {
                return store.read(file.kind(), file.id(), 0, ObjectStore.TO_END, arena)
                        .thenApply(LoadedFile::alone);
            }
            return held(cache.file(store, file.kind(), file.id())).thenCompose(pin -> sections(store, cache, pin));
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** What an idle file has given back since it was loaded (sst.md 9.1). */
    private CompletableFuture<LoadedFile> sections(ObjectStore store, BlockCache cache, CachedBlock file) {
        if (file.isWhole()) {
            return CompletableFuture.completedFuture(LoadedFile.cached(file, null, null));
        }
        return held(cache.indexes(store, file))
                .thenCombine(
                        held(cache.filter(store, file)), // waits for both, also if one fails
                        (indexes, filter) -> LoadedFile.cached(file, indexes, filter));
    }

    /** Gives the pin back with the arena. */
    private CompletableFuture<CachedBlock> held(CompletableFuture<CachedBlock> loading) {
        return loading.thenApply(pin -> {
            if (pin != null) {
                arena.onClose(pin::release);
            }
            return pin;
        });
    }

    /** Rebuilds the memtable while files load, then tells that its rows were read; a failure waits for {@link #finish}. */
    void rebuildMemTable(Runnable dataRead) {
        try {
            memTable = MemTables.rebuild(rows, guard, arena, deadline);
        } catch (RuntimeException | Error e) {
            startFailure = startFailure == null ? e : startFailure;
        }
        try {
            dataRead.run();
        } catch (RuntimeException | Error e) {
            startFailure = startFailure == null ? e : startFailure;
        }
    }

    /** Opens the files and completes {@code result}. All reads have ended. */
    void finish(CompletableFuture<Snapshot> result) {
        Snapshot snapshot;
        try {
            failOnChunkErrors();
            if (startFailure != null) {
                abandon(result, startFailure);
                return;
            }
            failOnReadErrors();
            assemble();
            snapshot = new Snapshot(shard, sources, new Blobs(blobs), guard, arena);
        } catch (RuntimeException | Error e) {
            if (!needsDataKey(e)) {
                abandon(result, e);
                return;
            }
            findDataKey(result, e);
            return;
        }
        releaseChunks();
        if (!result.complete(snapshot)) {
            snapshot.close();
        }
    }

    /** Whether the keyspace's data keys may help: a file names one that is not there. */
    private boolean needsDataKey(Throwable failure) {
        return keyspace != null && keyLooks < MOST_KEY_LOOKS && failure instanceof MissingDataKeyException;
    }

    /** Opens the files once more with data keys that are found, or fails. */
    private void findDataKey(CompletableFuture<Snapshot> result, Throwable why) {
        keyLooks++;
        keyspace.keys()
                .key(keyspace.id(), keyspaceKey)
                .whenComplete((found, failure) -> {
                    try {
                        keyspace.pool().execute(() -> {
                            if (failure != null) {
                                abandon(result, KeyspaceKeys.typed(failure));
                            } else if (found.equals(keyspaceKey)) {
                                abandon(result, why);
                            } else {
                                keyspaceKey = found;
                                key = shardKey == null ? found : shardKey.withDataKeys(found);
                                finish(result);
                            }
                        });
                    } catch (RejectedExecutionException e) {
                        abandon(
                                result,
                                new CoplaneException(ErrorCode.SHUTTING_DOWN, "the pool takes no more work", e));
                    }
                })
                .exceptionally(ignored -> null); // it was looked at
    }

    /** Frees everything and fails {@code result}. All reads have ended. */
    void abandon(CompletableFuture<Snapshot> result, Throwable failure) {
        try (guard) {
            releaseChunks();
            arena.close();
        } finally {
            result.completeExceptionally(failure);
        }
    }

    /** What txn files need of their chunks is copied by then. */
    private void releaseChunks() {
        if (chunks != null && !chunks.isCompletedExceptionally()) {
            chunks.join().close();
        }
    }

    private void failOnChunkErrors() {
        if (chunks != null && chunks.isCompletedExceptionally()) {
            Throwable failure = chunks.exceptionNow();
            throw failure instanceof CoplaneException error
                    ? error
                    : new CoplaneException(ErrorCode.INVARIANT_BROKEN, "txn chunks do not load", failure);
        }
    }

    private void failOnReadErrors() {
        var errors = new ArrayList<CoplaneException>();
        for (int i = 0; i < reads.size(); i++) {
            if (reads.get(i).isCompletedExceptionally()) {
                CoplaneException error = typed(reads.get(i), files.get(i));
                if (error instanceof MemoryLimitException) {
                    throw error; // retryable, whatever else went wrong
                }
                errors.add(error);
            }
        }
        if (!errors.isEmpty()) {
            List<String> named = errors.stream()
                    .limit(MAX_ERRORS_NAMED)
                    .map(Throwable::getMessage)
                    .toList();
            throw new CoplaneException(errors.getFirst().code(), "errors is not empty: " + named, errors.getFirst());
        }
    }

    private static CoplaneException typed(CompletableFuture<LoadedFile> read, ShardFile file) {
        Throwable failure = Failures.unwrap(read.exceptionNow());
        if (failure instanceof CoplaneException error) {
            return error;
        }
        return new CoplaneException(
                ErrorCode.STORE_UNAVAILABLE,
                "file does not load: kind=" + file.kind() + " id=" + Long.toUnsignedString(file.id()) + " cause="
                        + failure,
                failure);
    }

    /** Newest first: txn files and memtable, L0 files by their own snap version, then levels 1 to 3 (snapshot.md 4.6, 6.4). */
    private void assemble() {
        blobs.clear(); // of an attempt before the keys were there
        sources.clear();
        var l0Files = new ArrayList<L0Reader>();
        List<List<SstReader>> levels = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < files.size(); i++) {
            deadline.check();
            ShardFile file = files.get(i);
            switch (reads.get(i).resultNow().open(file, key)) {
                case BlobReader blob -> blobs.add(blob);
                case L0Reader l0 -> l0Files.add(l0);
                case SstReader table -> levels.get(file.level() - 1).add(table);
                case LoadedFile.Nothing _ -> {
                    // an L0 file without rows of the write CF
                }
                case Object other -> throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "no reader: " + other);
            }
        }
        for (TxnFile txnFile : txnFiles) { // at equal versions a txn file goes before rows (snapshot.md 6.4)
            deadline.check();
            sources.addAll(txnFile.load(id -> chunks.join().get(id, key), guard, arena));
        }
        sources.addAll(memTable);
        l0Files.sort((left, right) -> Long.compareUnsigned(right.snapVersion(), left.snapVersion()));
        for (L0Reader l0 : l0Files) {
            sources.add(TableSource.of(List.of(l0.family(ColumnFamily.WRITE))));
        }
        for (int level = 1; level <= LEVELS; level++) {
            List<SstReader> tables = levels.get(level - 1);
            if (!tables.isEmpty()) {
                tables.sort(Comparator.comparing(SstReader::smallest, Arrays::compareUnsigned));
                checkDisjoint(tables, level);
                sources.add(TableSource.of(tables));
            }
        }
    }

    private static void checkDisjoint(List<SstReader> tables, int level) {
        for (int i = 1; i < tables.size(); i++) {
            SstReader left = tables.get(i - 1);
            SstReader right = tables.get(i);
            if (Arrays.compareUnsigned(left.biggest(), right.smallest()) >= 0) {
                throw new CoplaneException(
                        ErrorCode.BAD_CHANGE_SET,
                        "tables of a level overlap: level=" + level + " left=" + Long.toUnsignedString(left.fileId())
                                + " right=" + Long.toUnsignedString(right.fileId()));
            }
        }
    }
}
