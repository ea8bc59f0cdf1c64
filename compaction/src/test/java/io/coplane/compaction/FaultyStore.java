package io.coplane.compaction;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** A store that fails, cuts what it reads short, loses what it was to keep, and answers late, on a seed. */
final class FaultyStore implements ObjectStore {
    private final ObjectStore store;
    private final SplittableRandom random;
    private final int oneIn;
    private final ExecutorService late = Executors.newFixedThreadPool(1, task -> {
        var thread = new Thread(task, "late-store");
        thread.setDaemon(true);
        return thread;
    });

    /** @param oneIn of so many calls one fails */
    FaultyStore(ObjectStore store, SplittableRandom random, int oneIn) {
        this.store = store;
        this.random = random;
        this.oneIn = oneIn;
    }

    private synchronized boolean isBad() {
        return random.nextInt(oneIn) == 0;
    }

    private synchronized boolean isLate() {
        return random.nextInt(4) == 0;
    }

    private static <T> CompletableFuture<T> gone() {
        return CompletableFuture.failedFuture(new CoplaneException(ErrorCode.STORE_UNAVAILABLE, "connection reset"));
    }

    private <T> CompletableFuture<T> sooner(Supplier<CompletableFuture<T>> call) {
        return isLate() ? CompletableFuture.completedFuture(call).thenComposeAsync(Supplier::get, late) : call.get();
    }

    @Override
    public CompletableFuture<MemorySegment> read(FileKind kind, long fileId, long start, long end, NativeArena arena) {
        if (isBad()) {
            return gone();
        }
        CompletableFuture<MemorySegment> read = sooner(() -> store.read(kind, fileId, start, end, arena));
        return isBad() ? read.thenApply(bytes -> bytes.asSlice(0, bytes.byteSize() / 2)) : read;
    }

    @Override
    public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
        return isBad() ? gone() : sooner(() -> store.byteSize(kind, fileId));
    }

    @Override
    public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
        return isBad() ? gone() : sooner(() -> store.put(kind, fileId, bytes));
    }

    @Override
    public void close() {
        late.close();
    }
}
