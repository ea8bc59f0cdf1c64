package io.coplane.compaction;

import io.coplane.compaction.CompactionType.Columnar;
import io.coplane.compaction.CompactionType.ColumnarMajor;
import io.coplane.compaction.CompactionType.FtsAddIndex;
import io.coplane.compaction.CompactionType.FtsCleanup;
import io.coplane.compaction.CompactionType.FtsCompactL0;
import io.coplane.compaction.CompactionType.FtsCompactL2;
import io.coplane.compaction.CompactionType.FtsCreateL0;
import io.coplane.compaction.CompactionType.InPlaceWithColumnar;
import io.coplane.compaction.CompactionType.L0;
import io.coplane.compaction.CompactionType.L1Plus;
import io.coplane.compaction.CompactionType.LevelFiles;
import io.coplane.compaction.CompactionType.Major;
import io.coplane.compaction.CompactionType.Unknown;
import io.coplane.compaction.CompactionType.VectorIndex;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectStore;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.sst.ShardKey;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;

/**
 * Executes compactions (compaction.md 3): reads input files of an object store piece by piece, merges or filters them, uploads new files, and says
 * what changes in the shard. Deletes nothing.
 *
 * <p>Borrows the store. Thread-safe.
 */
public final class Compactor {
    private static final int EXPORTED_PREFIX_BYTES = 4;

    private final CompactionConfig config;
    private final ObjectStore store;
    private final byte[] masterKey;

    /** @param masterKey 32 bytes, not copied; empty if there is none: then jobs of encrypted shards fail */
    public Compactor(CompactionConfig config, ObjectStore store, byte[] masterKey) {
        this.config = config;
        this.store = store;
        this.masterKey = masterKey;
    }

    /**
     * Runs a compaction to its end on the caller's thread, which waits for the store now and then.
     *
     * @param ids        asked when the request's ids are used up
     * @param guard      charged for all that is held; borrowed. At zero again when this returns
     * @param isStopping asked at every key: once true the compaction fails with SHUTTING_DOWN
     * @throws CoplaneException with the cause if it fails; files that were uploaded stay, nobody refers to them (compaction.md 7)
     */
    public CompactionResult compact(
            CompactionRequest request, FileIdAllocator ids, MemoryGuard guard, BooleanSupplier isStopping) {
        return compact(request, ids, guard, isStopping, new CompactionProgress(), JobJournal.off());
    }

    /**
     * As the other one, behind the last resume point of an earlier attempt at the same request. If one was completed, and the store still holds its
     * files, its answer comes without work.
     *
     * @param progress written to while it runs; of this compaction alone
     * @param journal  of the request; borrowed
     */
    public CompactionResult compact(
            CompactionRequest request,
            FileIdAllocator ids,
            MemoryGuard guard,
            BooleanSupplier isStopping,
            CompactionProgress progress,
            JobJournal journal) {
        if (request.compactorVersion() != Admission.COMPACTOR_VERSION) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT, "invalid compactor_version " + request.compactorVersion());
        }
        if (!Admission.isBuilt(request.type())) {
            throw new CoplaneException(ErrorCode.UNSUPPORTED, Admission.INCOMPATIBLE);
        }
        ShardKey key = request.exportedKey().length == 0 ? null : ShardKey.unwrap(masterKey, request.exportedKey());
        Set<Long> inputs = inputs(request.type());
        CompactionResult finished = journal.finished();
        ResumePoint resume = journal.lastPoint();
        boolean holdsAll = (finished != null || resume != null) && holds(store, journal.keptOutputs(finished != null));
        if (finished != null && holdsAll) {
            return finished;
        }
        journal.begin(!holdsAll);
        var outputIds = new OutputIds(request.fileIds(), journal.replaying(ids), inputs);
        ChangeSet.Builder change =
                ChangeSet.newBuilder().setShardID(request.shardId()).setShardVer(request.shardVersion());
        try (var job = new Job(
                config,
                store,
                guard,
                key,
                ShardBounds.of(request),
                outputIds,
                sources(request.type()),
                isStopping,
                progress,
                journal,
                holdsAll ? resume : null)) {
            run(request, job, change);
            job.uploads.awaitAll();
            CompactionResult result = job.result(change.build());
            journal.done(result);
            return result;
        }
    }

    /** Whether compactions of this kind may write files: others have nothing to resume. */
    public static boolean writesFiles(CompactionType type) {
        return switch (type) {
            case L0 _, L1Plus _, Major _ -> true;
            case InPlaceWithColumnar t -> !t.fileIds().isEmpty();
            case Columnar _,
                    ColumnarMajor _,
                    VectorIndex _,
                    FtsCreateL0 _,
                    FtsAddIndex _,
                    FtsCompactL0 _,
                    FtsCompactL2 _,
                    FtsCleanup _,
                    Unknown _ -> false;
        };
    }

    /** Whether the store holds these files in their full length: others may have removed them since. */
    private static boolean holds(ObjectStore store, List<JournalOutput> outputs) {
        List<CompletableFuture<Boolean>> checks = outputs.stream()
                .map(output -> store.byteSize(output.kind(), output.fileId())
                        .thenApply(length -> length == output.byteSize())
                        .exceptionallyCompose(e -> OldBlobs.isMissing(e)
                                ? CompletableFuture.completedFuture(false)
                                : CompletableFuture.failedFuture(e)))
                .toList();
        boolean all = true;
        CompletionException failure = null;
        for (CompletableFuture<Boolean> check : checks) {
            try {
                all &= check.join();
            } catch (CompletionException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw Uploads.failure(failure);
        }
        return all;
    }

    private static void run(CompactionRequest request, Job job, ChangeSet.Builder to) {
        switch (request.type()) {
            case L0 t -> new RowCompaction(job).l0(t, to);
            case L1Plus t -> new RowCompaction(job).l1Plus(t, to);
            case Major t -> new RowCompaction(job).major(t, to);
            case InPlaceWithColumnar t ->
                new InPlaceJob(job, t, request.innerKeyOffset() > 0 ? EXPORTED_PREFIX_BYTES : 0).run(to);
            case Columnar t -> ContentFreeResults.columnar(t, to);
            case ColumnarMajor t -> ContentFreeResults.columnarMajor(t, to);
            case VectorIndex t -> ContentFreeResults.vectorIndex(t, to);
            case FtsCreateL0 t -> ContentFreeResults.ftsCreateL0(t, to);
            case FtsAddIndex t -> ContentFreeResults.ftsAddIndex(t, to);
            case FtsCompactL0 t -> ContentFreeResults.ftsCompactL0(t, to);
            case FtsCompactL2 t -> ContentFreeResults.ftsCompactL2(t, to);
            case FtsCleanup t -> ContentFreeResults.ftsCleanup(t, to);
            case Unknown t -> throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "unknown compaction");
        }
    }

    /** How many row files are read at the same time, at most. */
    static int sources(CompactionType type) {
        return switch (type) {
            case L0 t -> t.l0Tables().length + 1;
            case L1Plus t -> 2;
            case Major t ->
                t.l0Tables().length
                        + t.lnTables().values().stream()
                                .mapToInt(List::size)
                                .max()
                                .orElse(0);
            case InPlaceWithColumnar _,
                    Columnar _,
                    ColumnarMajor _,
                    VectorIndex _,
                    FtsCreateL0 _,
                    FtsAddIndex _,
                    FtsCompactL0 _,
                    FtsCompactL2 _,
                    FtsCleanup _,
                    Unknown _ -> 1;
        };
    }

    /** Ids of the row and blob files that a request reads. */
    private static Set<Long> inputs(CompactionType type) {
        var ids = new HashSet<Long>();
        switch (type) {
            case L0 t -> {
                addAll(ids, t.l0Tables());
                t.l1Tables().forEach(level -> addAll(ids, level));
            }
            case L1Plus t -> {
                addAll(ids, t.upperLevel());
                addAll(ids, t.lowerLevel());
            }
            case Major t -> {
                addAll(ids, t.l0Tables());
                addAll(ids, t.blobTables());
                for (List<LevelFiles> levels : t.lnTables().values()) {
                    levels.forEach(level -> addAll(ids, level.fileIds()));
                }
            }
            case InPlaceWithColumnar t -> ids.addAll(InPlaceJob.inputs(t));
            case Columnar _,
                    ColumnarMajor _,
                    VectorIndex _,
                    FtsCreateL0 _,
                    FtsAddIndex _,
                    FtsCompactL0 _,
                    FtsCompactL2 _,
                    FtsCleanup _,
                    Unknown _ -> {
                // the others write nothing
            }
        }
        return ids;
    }

    private static void addAll(Set<Long> to, long[] ids) {
        for (long id : ids) {
            to.add(id);
        }
    }
}
