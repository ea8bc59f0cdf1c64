package io.coplane.compaction;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectStore;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.sst.ShardKey;
import java.util.List;
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
        JobShape shape = JobShape.of(request.type());
        if (!shape.isBuilt()) {
            throw new CoplaneException(ErrorCode.UNSUPPORTED, Admission.INCOMPATIBLE);
        }
        ShardKey key = request.exportedKey().length == 0 ? null : ShardKey.unwrap(masterKey, request.exportedKey());
        CompactionResult finished = journal.finished();
        ResumePoint resume = journal.lastPoint();
        boolean holdsAll = (finished != null || resume != null) && holds(store, journal.keptOutputs(finished != null));
        if (finished != null && holdsAll) {
            return finished;
        }
        journal.begin(!holdsAll);
        var outputIds = new OutputIds(request.fileIds(), journal.replaying(ids), shape.inputIds());
        ChangeSet.Builder change =
                ChangeSet.newBuilder().setShardID(request.shardId()).setShardVer(request.shardVersion());
        try (var job = new Job(
                config,
                store,
                guard,
                key,
                ShardBounds.of(request),
                outputIds,
                shape.sources(),
                isStopping,
                progress,
                journal,
                holdsAll ? resume : null)) {
            shape.work().run(job, request.innerKeyOffset(), change);
            job.uploads.awaitAll();
            CompactionResult result = job.result(change.build());
            journal.done(result);
            return result;
        }
    }

    /** Whether compactions of this kind may write files: others have nothing to resume. */
    public static boolean writesFiles(CompactionType type) {
        return JobShape.of(type).writesFiles();
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
}
