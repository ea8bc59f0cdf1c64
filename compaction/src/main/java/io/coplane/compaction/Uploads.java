package io.coplane.compaction;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.ObjectStore;
import io.coplane.sst.NativeBytes;
import io.coplane.sst.SstFile;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Files on their way to the store, while the next ones are built. Owns their memory. A failed upload shows at the next call; the others are waited
 * for (compaction.md 3.3). One thread.
 */
final class Uploads implements AutoCloseable {
    private static final int MOST_AT_A_TIME = 2;

    private record Upload(CompletableFuture<Void> done, NativeBytes memory) {}

    private final ObjectStore store;
    private final FileMemory memory;
    private final CompactionProgress progress;
    private final JobJournal journal;
    private final ArrayDeque<Upload> underWay = new ArrayDeque<>();
    private int files;
    private long bytes;

    /**
     * Nothing is under way yet.
     *
     * @param memory  gets the memory of uploaded files; borrowed
     * @param journal told of each upload before it begins, and when the store has it
     */
    Uploads(ObjectStore store, FileMemory memory, CompactionProgress progress, JobJournal journal) {
        this.store = store;
        this.memory = memory;
        this.progress = progress;
        this.journal = journal;
    }

    /** Begins an upload; waits for an earlier one if there are many. @param of owns the file; taken. @return what is uploaded */
    JournalOutput submit(JournalOutput output, SstFile file, NativeBytes of) {
        CompletableFuture<Void> done;
        try {
            journal.begun(output);
            done = store.put(output.kind(), output.fileId(), file.bytes()).thenRun(() -> {
                journal.stored(output.fileId());
                progress.addOutput(output.byteSize());
            });
        } catch (RuntimeException e) {
            done = CompletableFuture.failedFuture(e);
        }
        underWay.add(new Upload(done, of));
        files++;
        bytes += output.byteSize();
        while (underWay.size() > MOST_AT_A_TIME
                || !underWay.isEmpty() && underWay.peek().done().isDone()) {
            awaitFirst(); // of one that is done the memory is wanted: the next file is built in it
        }
        return output;
    }

    /** Waits for all. */
    void awaitAll() {
        while (!underWay.isEmpty()) {
            awaitFirst();
        }
    }

    /** Waits for the upload that began first. @return whether there was one */
    boolean awaitOne() {
        if (underWay.isEmpty()) {
            return false;
        }
        awaitFirst();
        return true;
    }

    private void awaitFirst() {
        Upload upload = underWay.remove();
        try {
            upload.done().join();
        } catch (CompletionException e) {
            throw failure(e);
        } finally {
            memory.giveBack(upload.memory());
        }
    }

    /** A failed future's failure as a typed one. */
    static CoplaneException failure(CompletionException e) {
        Throwable cause = Failures.unwrap(e);
        return cause instanceof CoplaneException typed
                ? typed
                : new CoplaneException(ErrorCode.STORE_UNAVAILABLE, "store failed: " + cause, cause);
    }

    int files() {
        return files;
    }

    long bytes() {
        return bytes;
    }

    /** Waits for what is under way, whatever comes of it, and frees it. Idempotent. */
    @Override
    public void close() {
        while (!underWay.isEmpty()) {
            Upload upload = underWay.remove();
            upload.done().handle((nothing, failure) -> nothing).join();
            memory.giveBack(upload.memory());
        }
    }
}
