package io.coplane.nativecache.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.Require;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * Whole files as stored, and blocks of them as decoded (sst.md 9.5), in native memory, for all requests of a process.
 *
 * <p>Which values stay is Caffeine's decision (W-TinyLFU over bytes). A value that is dropped while somebody holds a pin lives until the last
 * release. However many want a value that is not there, it is loaded once; a load that fails is not cached and fails all who waited for it.
 *
 * <p><b>Who is charged:</b> this cache, by an account of its own in the process's {@link MemoryLimiter}, for everything it ever handed out until
 * the last release; a request's guard is charged only for what the request holds alone. When the limiter runs out, it asks the cache to give up
 * values before it refuses anybody, so what is cached never costs a request its admission.
 *
 * <p><b>Idle files:</b> a table's filter and indexes have clocks (sst.md 9.1). {@link #dropIdle}, to be called now and then, gives them back when
 * nobody used the file for their time; the blocks stay. Who wants the file next asks for {@link #indexes} and {@link #filter}, which are read from
 * the store alone.
 *
 * <p>Owns its memory until {@link #close()}, after which nothing may be asked of it; pins that are still held then stay valid. Thread-safe.
 */
public final class BlockCache implements AutoCloseable {
    /** Counted for each value over its bytes (sst.md 9.5). */
    static final int OVERHEAD_BYTES = 16;

    private static final int EXPECTED_BLOCK_BYTES = 32 << 10;
    private static final int MOST_INITIAL_ENTRIES = 1 << 16;

    /** Pins of a fresh value. */
    private static final int CACHE_ONLY = 1;

    private static final int CACHE_AND_CALLER = 2;

    /** A load shared with a request whose deadline is over is tried again by the others, but not for ever. */
    private static final int MOST_RETRIES = 8;

    private final long capacityBytes;
    private final MemoryLimiter limiter;
    private final MemoryGuard guard;
    private final Clock clock;
    private final Slabs slabs;
    private final Cache<BlockKey, CachedBlock> values;
    private final ConcurrentMap<BlockKey, CompletableFuture<CachedBlock>> loading = new ConcurrentHashMap<>();
    private final Set<CachedBlock> clocked = ConcurrentHashMap.newKeySet(); // values that may be idle too long
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder dropped = new LongAdder();
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * @param capacityBytes most bytes of values that nobody holds; 1 or more
     * @param limiter of the process; borrowed, asks this cache to give up memory until it is closed
     */
    public BlockCache(long capacityBytes, MemoryLimiter limiter) {
        this(capacityBytes, limiter, Clock.system());
    }

    /** As the other one. {@code clock}: tells how long a file is idle. */
    public BlockCache(long capacityBytes, MemoryLimiter limiter, Clock clock) {
        Require.range("capacityBytes", capacityBytes, 1, Long.MAX_VALUE);
        this.capacityBytes = capacityBytes;
        this.limiter = limiter;
        this.clock = clock;
        guard = limiter.acquire(0);
        slabs = new Slabs(guard);
        values = Caffeine.newBuilder()
                .maximumWeight(capacityBytes)
                .initialCapacity((int) Math.min(MOST_INITIAL_ENTRIES, capacityBytes / EXPECTED_BLOCK_BYTES))
                .weigher((BlockKey key, CachedBlock value) ->
                        (int) Math.min(Integer.MAX_VALUE, OVERHEAD_BYTES + value.chargedBytes()))
                .executor(Runnable::run) // eviction frees memory at once, on the thread that needed it
                .removalListener((key, value, cause) -> {
                    if (cause != RemovalCause.REPLACED) { // else by the same file without its sections
                        dropped.increment();
                    }
                    clocked.remove(value);
                    value.release();
                })
                .build();
        limiter.onPressure(this::giveUp);
    }

    /** Fills the memory of a value with its bytes, or throws. Must not ask the cache for anything. */
    public interface Filler {
        /** @param into exactly as large as was asked for */
        void fill(MemorySegment into);
    }

    /**
     * What to read for a value.
     *
     * @param idleNanos the value's clock, or {@link CachedBlock#NEVER}
     */
    private record Source(ObjectStore store, BlockKey key, long start, long end, long idleNanos) {
        private CompletableFuture<MemorySegment> read(NativeArena arena) {
            try {
                return store.read(key.kind(), key.fileId(), start, end, arena);
            } catch (RuntimeException | OutOfMemoryError e) {
                return CompletableFuture.failedFuture(e);
            }
        }
    }

    /**
     * A whole file, read from the store unless it is here. A file that was idle may lack what {@link #indexes} and {@link #filter} bring back.
     *
     * @return completes with a pin, which the caller releases; fails with what {@link ObjectStore#read} fails with
     */
    public CompletableFuture<CachedBlock> file(ObjectStore store, FileKind kind, long fileId) {
        BlockKey key = BlockKey.wholeFile(kind, fileId);
        return load(new Source(store, key, 0, ObjectStore.TO_END, CachedBlock.NEVER), 0);
    }

    /**
     * The indexes of a file that is not whole, exactly; read from the store unless they are here.
     *
     * @param file pinned by the caller
     * @return as {@link #file}
     */
    public CompletableFuture<CachedBlock> indexes(ObjectStore store, CachedBlock file) {
        FileSections sections = file.sections();
        BlockKey key = file.key().section(BlockKey.INDEXES);
        return load(
                new Source(store, key, sections.indexStart(), sections.filterStart(), sections.indexIdleNanos()), 0);
    }

    /** The filter's section of a file that is not whole, as {@link #indexes}; completes with null if the file has none. */
    public CompletableFuture<CachedBlock> filter(ObjectStore store, CachedBlock file) {
        FileSections sections = file.sections();
        if (sections.filterStart() == sections.filterEnd()) {
            return CompletableFuture.completedFuture(null);
        }
        BlockKey key = file.key().section(BlockKey.FILTER);
        return load(
                new Source(store, key, sections.filterStart(), sections.filterEnd(), sections.filterIdleNanos()), 0);
    }

    private CompletableFuture<CachedBlock> load(Source source, int retries) {
        BlockKey key = source.key();
        CachedBlock present = pin(key);
        if (present != null) {
            return CompletableFuture.completedFuture(present);
        }
        var mine = new CompletableFuture<CachedBlock>();
        CompletableFuture<CachedBlock> theirs = loading.putIfAbsent(key, mine);
        if (theirs != null) {
            hits.increment();
            var joined = new CompletableFuture<CachedBlock>();
            var _ = theirs.whenComplete((value, failure) -> join(value, failure, joined, source, retries));
            return joined;
        }
        present = pinQuietly(key); // another load may have ended between the two look-ups
        if (present != null) {
            end(key, mine, present);
            return CompletableFuture.completedFuture(present);
        }
        misses.increment();
        var result = new CompletableFuture<CachedBlock>();
        var arena = new NativeArena(guard);
        var _ = source.read(arena).whenComplete((bytes, failure) -> {
            if (failure != null) {
                arena.close();
                fail(key, mine, failure);
                result.completeExceptionally(failure);
                return;
            }
            CachedBlock value = insert(source, new NativeSlot.Alone(arena, bytes), mine);
            complete(result, value);
        });
        return result;
    }

    private static void complete(CompletableFuture<CachedBlock> result, CachedBlock pinned) {
        if (!result.complete(pinned)) {
            pinned.release(); // somebody else completed it
        }
    }

    /** Gives one who waited for another's load his own pin. Runs before that load's pin is given back, if he was early enough. */
    private void join(
            CachedBlock value, Throwable failure, CompletableFuture<CachedBlock> joined, Source source, int retries) {
        if (failure == null && value.tryPin()) {
            complete(joined, value);
            return;
        }
        boolean othersDeadline =
                Failures.unwrap(failure) instanceof CoplaneException e && e.code() == ErrorCode.DEADLINE;
        if (failure != null && !(othersDeadline && retries < MOST_RETRIES)) {
            joined.completeExceptionally(Failures.unwrap(failure));
            return;
        }
        var _ = load(source, retries + 1).whenComplete((again, failedAgain) -> {
            if (failedAgain == null) {
                complete(joined, again);
            } else {
                joined.completeExceptionally(failedAgain);
            }
        });
    }

    /** A value if it is here, with a pin; else null. */
    public CachedBlock pin(BlockKey key) {
        CachedBlock value = pinQuietly(key);
        if (value != null) {
            hits.increment();
        }
        return value;
    }

    private CachedBlock pinQuietly(BlockKey key) {
        CachedBlock value = values.getIfPresent(key);
        return value != null && value.tryPin() ? value : null; // not pinned: dropped since the look-up, so it is a miss
    }

    /**
     * A block, decoded into memory of the cache unless it is here. Waits for another thread that is decoding it.
     *
     * @param bytes length of the block; 1 or more
     * @return a pin, which the caller releases; null if there is no memory for the block: decode it elsewhere
     * @throws CoplaneException what the filler throws, whoever's filler it was
     */
    public CachedBlock block(BlockKey key, long bytes, Filler filler) {
        while (true) {
            CachedBlock present = pin(key);
            if (present != null) {
                return present;
            }
            var mine = new CompletableFuture<CachedBlock>();
            CompletableFuture<CachedBlock> theirs = loading.putIfAbsent(key, mine);
            if (theirs == null) {
                present = pinQuietly(key);
                if (present != null) {
                    end(key, mine, present);
                    return present;
                }
                misses.increment();
                return decode(key, bytes, filler, mine);
            }
            CachedBlock shared = await(theirs);
            if (shared != null) {
                return shared;
            }
        }
    }

    private CachedBlock await(CompletableFuture<CachedBlock> theirs) {
        try {
            CachedBlock shared =
                    theirs.thenApply(value -> value.tryPin() ? value : null).join();
            if (shared != null) {
                hits.increment();
            }
            return shared;
        } catch (CompletionException e) {
            if (Failures.unwrap(e) instanceof MemoryLimitException) {
                return null; // theirs; try ourselves
            }
            throw Failures.unwrap(e) instanceof CoplaneException typed
                    ? new CoplaneException(typed.code(), typed.getMessage(), typed)
                    : e;
        }
    }

    private CachedBlock decode(BlockKey key, long bytes, Filler filler, CompletableFuture<CachedBlock> mine) {
        NativeSlot slot = null;
        try {
            slot = slabs.allocate(bytes);
            filler.fill(slot.segment());
        } catch (RuntimeException | OutOfMemoryError e) {
            boolean noMemory = slot == null && e instanceof MemoryLimitException;
            if (slot != null) {
                slot.free();
            }
            fail(key, mine, e);
            if (noMemory) {
                return null;
            }
            throw e;
        }
        return insert(new CachedBlock(this, key, slot, CACHE_AND_CALLER, true), mine);
    }

    private CachedBlock insert(Source source, NativeSlot slot, CompletableFuture<CachedBlock> mine) {
        var value = new CachedBlock(this, source.key(), slot, CACHE_AND_CALLER, true);
        value.startClock(source.idleNanos(), nanoTime());
        insert(value, mine);
        if (source.idleNanos() != CachedBlock.NEVER) {
            watch(value);
        }
        return value;
    }

    /** Puts a loaded value in, with a pin for the caller. */
    private CachedBlock insert(CachedBlock value, CompletableFuture<CachedBlock> mine) {
        BlockKey key = value.key();
        if (closed.get()) {
            value.release(); // nobody would ever drop it
        } else {
            values.put(key, value);
            if (closed.get()) {
                values.invalidate(key);
            }
        }
        end(key, mine, value);
        return value;
    }

    /** Tells those who wait, while {@code value} is pinned by the caller. */
    private void end(BlockKey key, CompletableFuture<CachedBlock> mine, CachedBlock value) {
        loading.remove(key, mine); // first: who comes now finds the value in the cache
        mine.complete(value);
    }

    private void fail(BlockKey key, CompletableFuture<CachedBlock> mine, Throwable failure) {
        failures.increment();
        loading.remove(key, mine);
        mine.completeExceptionally(failure);
    }

    void remove(BlockKey key, CachedBlock value) {
        values.asMap().remove(key, value);
    }

    long nanoTime() {
        return clock.nanoTime();
    }

    /** Has {@link #dropIdle} look at a value, as long as it is in the cache. */
    void watch(CachedBlock value) {
        clocked.add(value);
        if (values.asMap().get(value.key()) != value) {
            clocked.remove(value); // dropped before it was added
        }
    }

    /**
     * Gives filters and indexes back whose files nobody used for their time (sst.md 9.1). Of a file that is whole, the blocks are copied for that;
     * if the limiter has no room for the copy without somebody else's giving way, the file stays as it is until the next call. For one thread
     * at a time.
     */
    public void dropIdle() {
        long now = nanoTime();
        for (CachedBlock value : clocked) {
            if (!value.isOver(now)) {
                continue;
            }
            if (value.sections() != null) {
                shrink(value, now);
            } else {
                values.asMap().remove(value.key(), value);
            }
        }
    }

    /** Puts a file's blocks in its place, and its indexes beside them unless their time is over too. */
    private void shrink(CachedBlock whole, long now) {
        FileSections sections = whole.sections();
        long bytes = sections.filterStart();
        if (closed.get() || limiter.capBytes() - limiter.usedBytes() < bytes || !whole.tryPin()) {
            return;
        }
        long usedNanos = whole.usedNanos();
        try {
            if (now - usedNanos < sections.indexIdleNanos()) {
                BlockKey key = whole.key().section(BlockKey.INDEXES);
                NativeSlot copy = copy(whole, sections.indexStart(), sections.filterStart());
                var indexes = new CachedBlock(this, key, copy, CACHE_ONLY, true);
                indexes.startClock(sections.indexIdleNanos(), usedNanos);
                values.put(key, indexes);
                watch(indexes);
            }
            NativeSlot copy = copy(whole, 0, sections.indexStart());
            var blocks = new CachedBlock(this, whole.key(), copy, CACHE_ONLY, false);
            blocks.inherit(whole);
            if (!values.asMap().replace(whole.key(), whole, blocks)) {
                blocks.release(); // the file was dropped
            }
        } catch (MemoryLimitException | OutOfMemoryError e) {
            return; // somebody was faster: it stays as it is until the next call
        } finally {
            whole.unpin();
        }
    }

    private NativeSlot copy(CachedBlock whole, long from, long to) {
        var arena = new NativeArena(guard);
        try {
            MemorySegment bytes = arena.allocate(to - from);
            MemorySegment.copy(whole.segment(), from, bytes, 0, to - from);
            return new NativeSlot.Alone(arena, bytes);
        } catch (RuntimeException | OutOfMemoryError e) {
            arena.close();
            throw e;
        }
    }

    /** Drops the least useful values until the limiter could have {@code bytes} more, or all are gone. */
    private void giveUp(long bytes) {
        long goal = guard.chargedBytes() - bytes;
        for (long weight = Math.max(bytes, capacityBytes / 16); guard.chargedBytes() > Math.max(0, goal); weight *= 2) {
            long step = weight;
            List<BlockKey> coldest = values.policy()
                    .eviction()
                    .map(policy -> List.copyOf(policy.coldestWeighted(step).keySet()))
                    .orElse(List.of());
            values.invalidateAll(coldest.isEmpty() ? values.asMap().keySet() : coldest);
            slabs.trim();
            if (values.asMap().isEmpty() || weight > Long.MAX_VALUE / 4) {
                return;
            }
        }
    }

    /** Most bytes of values that nobody holds. */
    public long capacityBytes() {
        return capacityBytes;
    }

    /** Native bytes held, of values in the cache, of values dropped but pinned, and of free slots. */
    public long usedBytes() {
        return guard.chargedBytes();
    }

    /** Values in the cache. */
    public long valueCount() {
        return values.estimatedSize();
    }

    /** Look-ups that found a value or a load in work. */
    public long hitCount() {
        return hits.sum();
    }

    /** Look-ups that began a load. */
    public long missCount() {
        return misses.sum();
    }

    /** Loads that failed. */
    public long failureCount() {
        return failures.sum();
    }

    /** Values dropped, for room or because they were broken. */
    public long droppedCount() {
        return dropped.sum();
    }

    /** Drops all values and gives the account back. Idempotent. Values still pinned are freed by their last release. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            limiter.onPressure(null);
            values.invalidateAll();
            values.cleanUp();
            slabs.close();
            guard.close();
        }
    }
}
