package io.coplane.compaction;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** A store that fails, cuts what it reads short, loses what it was to keep, and answers late, on a seed. Thread-safe. */
final class FaultyStore implements ObjectStore {
    private final ObjectStore store;
    private final long seed;
    private final int oneIn;
    private final Map<List<Long>, Integer> calls = new ConcurrentHashMap<>();
    private final ExecutorService late = Executors.newFixedThreadPool(1, task -> {
        var thread = new Thread(task, "late-store");
        thread.setDaemon(true);
        return thread;
    });

    /** @param oneIn of so many calls one fails */
    FaultyStore(ObjectStore store, SplittableRandom random, int oneIn) {
        this.store = store;
        seed = random.nextLong();
        this.oneIn = oneIn;
    }

    /** What befalls a call hangs on what it asks for, and for which time, and not on the thread that comes first: so a seed repeats. */
    private SplittableRandom chance(long method, FileKind kind, long fileId, long start, long end) {
        List<Long> call = List.of(method, (long) kind.ordinal(), fileId, start, end);
        int times = calls.merge(call, 1, Integer::sum);
        return new SplittableRandom(seed + 31L * call.hashCode() + times);
    }

    private boolean isBad(SplittableRandom chance) {
        return chance.nextInt(oneIn) == 0;
    }

    private static <T> CompletableFuture<T> gone() {
        return CompletableFuture.failedFuture(new CoplaneException(ErrorCode.STORE_UNAVAILABLE, "connection reset"));
    }

    private <T> CompletableFuture<T> soonOrLate(SplittableRandom chance, Supplier<CompletableFuture<T>> call) {
        return chance.nextInt(4) == 0
                ? CompletableFuture.completedFuture(call).thenComposeAsync(Supplier::get, late)
                : call.get();
    }

    @Override
    public CompletableFuture<MemorySegment> read(FileKind kind, long fileId, long start, long end, NativeArena arena) {
        SplittableRandom chance = chance(0, kind, fileId, start, end);
        if (isBad(chance)) {
            return gone();
        }
        CompletableFuture<MemorySegment> read = soonOrLate(chance, () -> store.read(kind, fileId, start, end, arena));
        return isBad(chance) ? read.thenApply(bytes -> bytes.asSlice(0, bytes.byteSize() / 2)) : read;
    }

    @Override
    public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
        SplittableRandom chance = chance(1, kind, fileId, 0, 0);
        return isBad(chance) ? gone() : soonOrLate(chance, () -> store.byteSize(kind, fileId));
    }

    @Override
    public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
        SplittableRandom chance = chance(2, kind, fileId, 0, 0);
        return isBad(chance) ? gone() : soonOrLate(chance, () -> store.put(kind, fileId, bytes));
    }

    @Override
    public void close() {
        late.close();
    }
}
