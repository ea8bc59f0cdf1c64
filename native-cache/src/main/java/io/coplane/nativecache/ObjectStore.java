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
     *     before {@code end}), STORE_UNAVAILABLE or MEMORY_LIMIT
     */
    CompletableFuture<MemorySegment> read(FileKind kind, long fileId, long start, long end, NativeArena arena);

    /** Bytes of a file; fails with FILE_NOT_FOUND. */
    CompletableFuture<Long> byteSize(FileKind kind, long fileId);

    /** Stores a whole file; readers see all of it or nothing. {@code bytes} is borrowed until the future completes. */
    CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes);

    @Override
    void close();
}
