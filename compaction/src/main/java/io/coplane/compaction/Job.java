package io.coplane.compaction;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.BlobCreate;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.sst.CompressionType;
import io.coplane.sst.L0Reader;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstOptions;
import io.coplane.sst.SstReader;
import io.coplane.sst.StreamedFiles;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;

/** What one compaction holds while it runs: its inputs, what it uploads, its memory. Owns them until closed. One thread. */
final class Job implements AutoCloseable {
    private static final int LEAST_PIECE_BYTES = 16 << 10;
    private static final int MOST_PIECE_BYTES = 1 << 20;
    private static final int PIECES_OF_A_SOURCE = 4;
    private static final byte[] NOTHING = {};

    /** Least and most block size that the builder takes. */
    private static final long MOST_BLOCK_BYTES = 1 << 30;

    final CompactionConfig config;
    final ObjectStore store;
    final MemoryGuard guard; // never beyond what was admitted
    final ShardKey key; // null: no encryption
    final ShardBounds bounds;
    final OutputIds ids;
    final NativeArena arena;
    final FileMemory memory;
    final Uploads uploads;
    final CompactionProgress progress;
    final long[] idsAgain; // those given out before the resume point
    private final JobJournal journal;
    private final ResumePoint resume; // null: from the start
    private final List<JournalOutput> restored;
    long inputEntries;
    long outputEntries;
    long copiedBytes;
    private final Thread thread;
    private final StreamedFiles files;
    private final BooleanSupplier isStopping;
    private final List<SstReader> opened = new ArrayList<>();

    /** @param sources how many inputs are read at a time, which bounds what is read ahead of each */
    Job(
            CompactionConfig config,
            ObjectStore store,
            MemoryGuard guard,
            ShardKey key,
            ShardBounds bounds,
            OutputIds ids,
            int sources,
            BooleanSupplier isStopping,
            CompactionProgress progress,
            JobJournal journal,
            ResumePoint resume) {
        this.config = config;
        this.store = store;
        this.guard = guard.within(this::free);
        this.key = key;
        this.bounds = bounds;
        this.ids = ids;
        this.isStopping = isStopping;
        this.progress = progress;
        this.journal = journal;
        this.resume = resume;
        restored = journal.outputs();
        idsAgain = ids.again(resume == null ? 0 : resume.idsTaken());
        if (resume != null) {
            inputEntries = resume.inputEntries();
            outputEntries = resume.outputEntries();
            progress.addRead(resume.inputBytesRead());
            restored.forEach(output -> progress.addOutput(output.byteSize()));
        }
        thread = Thread.currentThread();
        arena = new NativeArena(this.guard);
        memory = new FileMemory(this.guard);
        uploads = new Uploads(store, memory, progress, journal);
        // a quarter of what was admitted: the rest is for outputs
        long admitted = guard.admittedBytes() == 0 ? Long.MAX_VALUE : guard.admittedBytes();
        long share = admitted / (4L * PIECES_OF_A_SOURCE * Math.max(1, sources));
        int pieceBytes = Math.clamp(share, LEAST_PIECE_BYTES, MOST_PIECE_BYTES);
        files = new StreamedFiles(arena, this.guard, key, pieceBytes, this::relieve);
    }

    /** Opens table files of levels 1 to 3, in the order of the ids. */
    List<SstReader> openTables(long[] fileIds) {
        List<SstReader> tables = await(
                fileIds,
                id -> StoreFile.find(store, FileKind.SST, id, progress).thenCompose(file -> files.openSst(file, id)));
        opened.addAll(tables);
        return tables;
    }

    /** Opens L0 files, in the order of the ids. */
    List<L0Reader> openL0s(long[] fileIds) {
        List<L0Reader> tables = await(
                fileIds,
                id -> StoreFile.find(store, FileKind.SST, id, progress).thenCompose(file -> files.openL0(file, id)));
        for (L0Reader table : tables) {
            opened.addAll(table.families());
        }
        return tables;
    }

    /** Number of the step at which the job goes on; those before it are complete. */
    int firstStep() {
        return resume == null ? 0 : resume.step();
    }

    /** Where within a step the job goes on; null: at its beginning. */
    ResumePoint pointWithin(int step) {
        return resume != null && resume.step() == step && resume.isWithinStep() ? resume : null;
    }

    /** Tables of earlier attempts that the job keeps, in their order. */
    List<TableCreate> restoredTables() {
        return restored.stream()
                .filter(output -> output.kind() == FileKind.SST)
                .map(JournalOutput::tableCreate)
                .toList();
    }

    /** Blob tables of earlier attempts that the job keeps, in their order. */
    List<BlobCreate> restoredBlobs() {
        return restored.stream()
                .filter(output -> output.kind() == FileKind.BLOB)
                .map(JournalOutput::blobCreate)
                .toList();
    }

    /** The output of an id in an earlier attempt; null: there was none. */
    JournalOutput restored(long fileId) {
        return restored.stream()
                .filter(output -> output.fileId() == fileId)
                .findFirst()
                .orElse(null);
    }

    /** Notes that a step is complete. @param next the step that comes */
    void stepDone(int next) {
        point(next, NOTHING, 0, 0, NOTHING, 0, inputEntries);
    }

    /** Notes a place to go on from. */
    void point(int step, byte[] key, long tableId, long blobId, byte[] blobKey, long blobBytes, long entriesRead) {
        journal.point(new ResumePoint(
                step,
                key,
                tableId,
                blobId,
                blobKey,
                blobBytes,
                ids.given(),
                journal.outputCount(),
                entriesRead,
                outputEntries,
                progress.inputBytesRead()));
    }

    /** Files of this attempt and those kept of earlier ones. */
    int outputFiles() {
        return restored.size() + uploads.files();
    }

    /** Bytes of them. */
    long outputBytes() {
        return restoredBytes() + uploads.bytes();
    }

    private long restoredBytes() {
        return restored.stream().mapToLong(JournalOutput::byteSize).sum();
    }

    CompactionResult result(ChangeSet changeSet) {
        return new CompactionResult(
                changeSet,
                inputEntries,
                outputEntries,
                outputFiles(),
                outputBytes(),
                copiedBytes,
                resume == null ? 0 : resume.inputEntries(),
                restored.size(),
                restoredBytes());
    }

    /** Makes room when the job's memory is used up: memory for the next file goes, then uploads are waited for. Not on the store's threads. */
    private void free(long missing) {
        long enough = guard.chargedBytes() - missing;
        while (guard.chargedBytes() > enough && relieve()) {
            // goes on until that is enough, or all there is
        }
    }

    private boolean relieve() {
        return Thread.currentThread() == thread && (memory.freeSpare() || uploads.awaitOne());
    }

    /** Called at every key. */
    void checkAlive() {
        if (isStopping.getAsBoolean()) {
            throw new CoplaneException(ErrorCode.SHUTTING_DOWN, "compaction is given up: the worker stops");
        }
    }

    StreamedFiles files() {
        return files;
    }

    /** Begins all, waits for all, and only then fails if one failed: what is being read must not lose its memory. */
    static <T> List<T> await(long[] fileIds, LongFunction<CompletableFuture<T>> open) {
        var futures = new ArrayList<CompletableFuture<T>>(fileIds.length);
        for (long id : fileIds) {
            try {
                futures.add(open.apply(id));
            } catch (RuntimeException e) {
                futures.add(CompletableFuture.failedFuture(e));
            }
        }
        var results = new ArrayList<T>(fileIds.length);
        CompletionException failure = null;
        for (CompletableFuture<T> future : futures) {
            try {
                results.add(future.join());
            } catch (CompletionException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw Uploads.failure(failure);
        }
        return results;
    }

    SstOptions tableOptions(long blockBytes, CompressionType compression) {
        // as in the reference a block size of 0 closes a block at every key
        int block = (int) Math.clamp(blockBytes < 0 ? MOST_BLOCK_BYTES : blockBytes, 1, MOST_BLOCK_BYTES);
        return new SstOptions(block, compression, config.zstdLevel(), config.checksum(), key);
    }

    @Override
    public void close() {
        uploads.close();
        memory.close();
        for (SstReader table : opened) {
            table.release();
        }
        arena.close();
    }
}
