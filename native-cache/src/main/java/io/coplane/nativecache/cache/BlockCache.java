package io.coplane.nativecache.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.Require;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.List;
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
 * <p>Owns its memory until {@link #close()}, after which nothing may be asked of it; pins that are still held then stay valid. Thread-safe.
 */
public final class BlockCache implements AutoCloseable {
    /** Counted for each value over its bytes (sst.md 9.5). */
    static final int OVERHEAD_BYTES = 16;

    private static final int EXPECTED_BLOCK_BYTES = 32 << 10;
    private static final int MOST_INITIAL_ENTRIES = 1 << 16;

    /** A load shared with a request whose deadline is over is tried again by the others, but not for ever. */
    private static final int MOST_RETRIES = 8;

    private final long capacityBytes;
    private final MemoryLimiter limiter;
    private final MemoryGuard guard;
    private final Slabs slabs;
    private final Cache<BlockKey, CachedBlock> values;
    private final ConcurrentMap<BlockKey, CompletableFuture<CachedBlock>> loading = new ConcurrentHashMap<>();
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
        Require.range("capacityBytes", capacityBytes, 1, Long.MAX_VALUE);
        this.capacityBytes = capacityBytes;
        this.limiter = limiter;
        guard = limiter.acquire(0);
        slabs = new Slabs(guard);
        values = Caffeine.newBuilder()
                .maximumWeight(capacityBytes)
                .initialCapacity((int) Math.min(MOST_INITIAL_ENTRIES, capacityBytes / EXPECTED_BLOCK_BYTES))
                .weigher((BlockKey key, CachedBlock value) ->
                        (int) Math.min(Integer.MAX_VALUE, OVERHEAD_BYTES + value.chargedBytes()))
                .executor(Runnable::run) // eviction frees memory at once, on the thread that needed it
                .removalListener((key, value, cause) -> {
                    dropped.increment();
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
     * A whole file, read from the store unless it is here.
     *
     * @return completes with a pin, which the caller releases; fails with what {@link ObjectStore#read} fails with
     */
    public CompletableFuture<CachedBlock> file(ObjectStore store, FileKind kind, long fileId) {
        return file(store, BlockKey.wholeFile(kind, fileId), 0);
    }

    private CompletableFuture<CachedBlock> file(ObjectStore store, BlockKey key, int retries) {
        CachedBlock present = pin(key);
        if (present != null) {
            return CompletableFuture.completedFuture(present);
        }
        var mine = new CompletableFuture<CachedBlock>();
        CompletableFuture<CachedBlock> theirs = loading.putIfAbsent(key, mine);
        if (theirs != null) {
            hits.increment();
            var joined = new CompletableFuture<CachedBlock>();
            var _ = theirs.whenComplete((value, failure) -> join(value, failure, joined, store, key, retries));
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
        var _ = read(store, key, arena).whenComplete((bytes, failure) -> {
            if (failure != null) {
                arena.close();
                fail(key, mine, failure);
                result.completeExceptionally(failure);
                return;
            }
            CachedBlock value = insert(key, new NativeSlot.Alone(arena, bytes), mine);
            complete(result, value);
        });
        return result;
    }

    private static void complete(CompletableFuture<CachedBlock> result, CachedBlock pinned) {
        if (!result.complete(pinned)) {
            pinned.release(); // somebody else completed it
        }
    }

    private static CompletableFuture<MemorySegment> read(ObjectStore store, BlockKey key, NativeArena arena) {
        try {
            return store.read(key.kind(), key.fileId(), 0, ObjectStore.TO_END, arena);
        } catch (RuntimeException | OutOfMemoryError e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Gives one who waited for another's load his own pin. Runs before that load's pin is given back, if he was early enough. */
    private void join(
            CachedBlock value,
            Throwable failure,
            CompletableFuture<CachedBlock> joined,
            ObjectStore store,
            BlockKey key,
            int retries) {
        if (failure == null && value.tryPin()) {
            complete(joined, value);
            return;
        }
        boolean othersDeadline = cause(failure) instanceof CoplaneException e && e.code() == ErrorCode.DEADLINE;
        if (failure != null && !(othersDeadline && retries < MOST_RETRIES)) {
            joined.completeExceptionally(cause(failure));
            return;
        }
        var _ = file(store, key, retries + 1).whenComplete((again, failedAgain) -> {
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
            if (cause(e) instanceof MemoryLimitException) {
                return null; // theirs; try ourselves
            }
            throw cause(e) instanceof CoplaneException typed
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
        return insert(key, slot, mine);
    }

    /** Puts a loaded value in. @return with a pin for the caller */
    private CachedBlock insert(BlockKey key, NativeSlot slot, CompletableFuture<CachedBlock> mine) {
        var value = new CachedBlock(this, key, slot, 2); // the cache's pin and the caller's
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

    private static Throwable cause(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
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
