package io.coplane.compaction;

import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.FileParts;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

/** A file of the object store, of a known size. Borrows the store. */
record StoreFile(ObjectStore store, FileKind kind, long fileId, long byteSize) implements FileParts {
    @Override
    public CompletableFuture<MemorySegment> read(long start, long end, NativeArena arena) {
        return store.read(kind, fileId, start, end, arena);
    }

    static CompletableFuture<StoreFile> find(ObjectStore store, FileKind kind, long fileId) {
        return store.byteSize(kind, fileId).thenApply(size -> new StoreFile(store, kind, fileId, size));
    }
}
