package io.coplane.compaction;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** An object store of heap arrays that answers at once. */
class MemoryStore implements ObjectStore {
    /** Names an object. */
    record Name(FileKind kind, long fileId) {}

    final Map<Name, byte[]> objects = new ConcurrentHashMap<>();
    final AtomicLong bytesRead = new AtomicLong();
    final AtomicLong puts = new AtomicLong();

    @Override
    public CompletableFuture<MemorySegment> read(FileKind kind, long fileId, long start, long end, NativeArena arena) {
        byte[] object = objects.get(new Name(kind, fileId));
        if (object == null) {
            return missing(fileId);
        }
        long last = end == TO_END ? object.length : end;
        if (last > object.length) {
            return CompletableFuture.failedFuture(
                    new CoplaneException(ErrorCode.FILE_TRUNCATED, "file ends before the range: fileId=" + fileId));
        }
        try {
            MemorySegment to = arena.allocate(last - start);
            MemorySegment.copy(object, (int) start, to, Layouts.BYTE, 0, (int) (last - start));
            bytesRead.addAndGet(last - start);
            return CompletableFuture.completedFuture(to);
        } catch (CoplaneException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
        byte[] object = objects.get(new Name(kind, fileId));
        return object == null ? missing(fileId) : CompletableFuture.completedFuture((long) object.length);
    }

    @Override
    public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
        puts.incrementAndGet();
        objects.put(new Name(kind, fileId), bytes.toArray(Layouts.BYTE));
        return CompletableFuture.completedFuture(null);
    }

    private static <T> CompletableFuture<T> missing(long fileId) {
        return CompletableFuture.failedFuture(
                new CoplaneException(ErrorCode.FILE_NOT_FOUND, "File " + fileId + " not exists"));
    }

    @Override
    public void close() {
        // nothing to end
    }
}
