package io.coplane.compaction;

import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.FileParts;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

/** A file of the object store, of a known size. What is read of it counts as progress. Borrows the store. */
record StoreFile(ObjectStore store, FileKind kind, long fileId, long byteSize, CompactionProgress progress)
        implements FileParts {
    @Override
    public CompletableFuture<MemorySegment> read(long start, long end, NativeArena arena) {
        return store.read(kind, fileId, start, end, arena).thenApply(bytes -> {
            progress.addRead(bytes.byteSize());
            return bytes;
        });
    }

    static CompletableFuture<StoreFile> find(
            ObjectStore store, FileKind kind, long fileId, CompactionProgress progress) {
        return store.byteSize(kind, fileId).thenApply(size -> {
            progress.addInput(size);
            return new StoreFile(store, kind, fileId, size, progress);
        });
    }
}
