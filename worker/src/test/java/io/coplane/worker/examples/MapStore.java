package io.coplane.worker.examples;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

// tag::store
/** An object store of your own: here, files in a map. */
final class MapStore implements ObjectStore {
    private final ConcurrentHashMap<String, byte[]> files = new ConcurrentHashMap<>();

    @Override
    public CompletableFuture<MemorySegment> read(FileKind kind, long fileId, long start, long end, NativeArena arena) {
        byte[] file = files.get(ObjectKeys.fileName(kind, fileId));
        if (file == null) {
            return failed(ErrorCode.FILE_NOT_FOUND, kind, fileId);
        }
        long to = end == TO_END ? file.length : end;
        if (start > to || to > file.length) {
            return failed(ErrorCode.FILE_TRUNCATED, kind, fileId);
        }
        try {
            MemorySegment bytes = arena.allocate(to - start); // charged to the request; the arena owns it
            MemorySegment.copy(file, (int) start, bytes, ValueLayout.JAVA_BYTE, 0, (int) (to - start));
            return CompletableFuture.completedFuture(bytes);
        } catch (MemoryLimitException e) {
            return CompletableFuture.failedFuture(e); // the client is told to come again
        }
    }

    @Override
    public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
        byte[] file = files.get(ObjectKeys.fileName(kind, fileId));
        return file == null
                ? failed(ErrorCode.FILE_NOT_FOUND, kind, fileId)
                : CompletableFuture.completedFuture((long) file.length);
    }

    @Override
    public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
        files.put(ObjectKeys.fileName(kind, fileId), bytes.toArray(ValueLayout.JAVA_BYTE));
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {
        files.clear();
    }

    private static <T> CompletableFuture<T> failed(ErrorCode code, FileKind kind, long fileId) {
        return CompletableFuture.failedFuture(new CoplaneException(code, "file=" + ObjectKeys.fileName(kind, fileId)));
    }
}
// end::store
