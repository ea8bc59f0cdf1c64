package io.coplane.nativecache;

import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

/**
 * Immutable objects by kind and file id (ia.md 14 to 17). A file is visible only when it is whole. Thread-safe.
 *
 * <p>Reads complete on the store's own I/O threads: hand heavy work over to a pool.
 */
public interface ObjectStore extends AutoCloseable {
    /** End offset that means "to the end of the file". */
    long TO_END = -1;

    /**
     * Reads bytes {@code start .. end - 1} of a file into memory allocated from {@code arena}.
     *
     * @param start 0 or more
     * @param end exclusive, more than {@code start}, or {@link #TO_END}
     * @return the bytes, owned by {@code arena}; fails with {@link CoplaneException} of code FILE_NOT_FOUND, FILE_TRUNCATED (the file ends
     *     before {@code end}), STORE_UNAVAILABLE, STORE_REFUSED, DEADLINE (see {@link #within}) or MEMORY_LIMIT. When it completes, well or not,
     *     nobody writes into the arena's memory any more
     */
    CompletableFuture<MemorySegment> read(FileKind kind, long fileId, long start, long end, NativeArena arena);

    /** Bytes of a file; fails with FILE_NOT_FOUND. */
    CompletableFuture<Long> byteSize(FileKind kind, long fileId);

    /** Stores a whole file; readers see all of it or nothing. {@code bytes} is borrowed until the future completes. */
    CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes);

    /**
     * Marks a file as removed, so that the bucket's own rule deletes it later (ia.md 17). For tools only: a worker removes nothing.
     *
     * @param byteSize bytes of the file, or {@link #TO_END} if they are not known
     * @return true if it is marked; a store that fails is logged and answers false
     */
    default CompletableFuture<Boolean> markRemoved(FileKind kind, long fileId, long byteSize) {
        return CompletableFuture.failedFuture(new CoplaneException(
                ErrorCode.UNSUPPORTED, "this store removes nothing: file=" + ObjectKeys.fileName(kind, fileId)));
    }

    /**
     * Whether a file is marked as removed (ia.md 17.2). For tools.
     *
     * @return fails with FILE_NOT_FOUND if it is gone; a refusal of the store is not repeated
     */
    default CompletableFuture<Boolean> isRemoved(FileKind kind, long fileId) {
        return CompletableFuture.failedFuture(new CoplaneException(
                ErrorCode.UNSUPPORTED, "this store removes nothing: file=" + ObjectKeys.fileName(kind, fileId)));
    }

    /**
     * Undoes {@link #markRemoved} (ia.md 17.2). For tools.
     *
     * @return whether the file was marked; fails with FILE_NOT_FOUND if it is gone
     */
    default CompletableFuture<Boolean> retain(FileKind kind, long fileId) {
        return CompletableFuture.failedFuture(new CoplaneException(
                ErrorCode.UNSUPPORTED, "this store removes nothing: file=" + ObjectKeys.fileName(kind, fileId)));
    }

    /**
     * Deletes a file at once (ia.md 17.2). For tools, and tests' stores only: on AWS and Alibaba Cloud only the bucket's own rule deletes.
     *
     * @return fails with STORE_REFUSED where that is forbidden; a file that is not there is none to delete
     */
    default CompletableFuture<Void> permanentlyRemove(FileKind kind, long fileId) {
        return CompletableFuture.failedFuture(new CoplaneException(
                ErrorCode.UNSUPPORTED, "this store removes nothing: file=" + ObjectKeys.fileName(kind, fileId)));
    }

    /**
     * Lists objects in the order of their keys. For tools.
     *
     * @param after lists keys behind this one, which need not exist; empty = from the first
     * @param most at most so many entries; 1 .. 1000
     */
    default CompletableFuture<ObjectListing> list(String after, int most) {
        return CompletableFuture.failedFuture(
                new CoplaneException(ErrorCode.UNSUPPORTED, "this store lists nothing: after=" + after));
    }

    /**
     * This store for one request: calls through the result fail with DEADLINE once the time is over, and neither wait nor retry beyond it. The result
     * shares all with this store and is not closed.
     *
     * @param deadlineNanos on {@link Clock#nanoTime}
     */
    default ObjectStore within(long deadlineNanos) {
        return this;
    }

    @Override
    void close();
}
