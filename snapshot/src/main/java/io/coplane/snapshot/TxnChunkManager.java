package io.coplane.snapshot;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.ShardKey;
import io.coplane.sst.TxnChunkReader;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The txn chunks of a process: each loaded once however many requests want it, kept while it is used and for a time after (snapshot.md 7.7).
 *
 * <p>Owns the chunks' memory, charged to a guard of the limiter. A request pins what it uses; a pinned chunk stays readable after it was dropped or the
 * manager was closed. At most {@value #MOST_READS} reads are in flight, of all requests together. Lock-free. Borrows store, pool and clock.
 * Thread-safe.
 */
public final class TxnChunkManager implements AutoCloseable {
    /** Reads in flight at one time (worker.md 4.7). */
    static final int MOST_READS = 4;

    /** Pins of an entry that was dropped: it can't be pinned any more. */
    private static final int DROPPED = -1;

    private final ObjectStore store;
    private final Executor pool;
    private final Clock clock;
    private final MemoryGuard guard;
    private final long ttlNanos;

    private final ConcurrentHashMap<Long, Entry> entries = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Entry> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger reads = new AtomicInteger();
    private final AtomicInteger wakeUps = new AtomicInteger();
    private volatile boolean closed;

    /**
     * @param pool     parses chunks: never the store's own threads
     * @param ttlNanos how long a chunk is kept after its last use; 0: not at all
     */
    public TxnChunkManager(ObjectStore store, MemoryLimiter limiter, Executor pool, Clock clock, long ttlNanos) {
        this.store = store;
        this.pool = pool;
        this.clock = clock;
        this.ttlNanos = ttlNanos;
        this.guard = limiter.acquire(0);
    }

    /** Pinned chunks by id. Owned by whoever asked for them; closing unpins them. One thread. */
    static final class Pinned implements AutoCloseable {
        private final Map<Long, Entry> pinned;
        private final ShardKey key;
        private boolean open = true;

        private Pinned(Map<Long, Entry> pinned, ShardKey key) {
            this.pinned = pinned;
            this.key = key;
        }

        /**
         * A pinned chunk, readable with the shard's key until this is closed.
         *
         * @throws CoplaneException of code FILE_ENCRYPTED if it needs a key and the shard has none
         */
        TxnChunkReader get(long chunkId) {
            return get(chunkId, key);
        }

        /** As the other one, with a key that was found since. */
        TxnChunkReader get(long chunkId, ShardKey found) {
            return pinned.get(chunkId).loaded.join().withKey(found);
        }

        /** Idempotent. */
        @Override
        public void close() {
            if (open) {
                open = false;
                pinned.values().forEach(Entry::unpin);
            }
        }
    }

    /**
     * Pins chunks, reading those that are not here yet.
     *
     * @param chunkIds perhaps with duplicates
     * @param key of the shard; null if it has none
     * @return the chunks, owned by the caller; fails with what reading or parsing a chunk raises, and then pins nothing
     */
    CompletableFuture<Pinned> load(Collection<Long> chunkIds, ShardKey key) {
        var pinned = new HashMap<Long, Entry>();
        var loads = new ArrayList<CompletableFuture<TxnChunkReader>>();
        for (long id : new TreeSet<>(chunkIds)) {
            Entry entry = pin(id);
            pinned.put(id, entry);
            loads.add(entry.loaded);
        }
        readMore();
        var chunks = new Pinned(pinned, key);
        var result = new CompletableFuture<Pinned>();
        CompletableFuture.allOf(loads.toArray(CompletableFuture[]::new))
                .whenComplete((none, failed) -> {
                    if (failed == null) {
                        result.complete(chunks);
                    } else {
                        chunks.close();
                        result.completeExceptionally(firstFailure(loads));
                    }
                })
                .exceptionally(ignored -> null); // each load's failure was looked at
        return result;
    }

    /** The retryable failure if there is one, else the one of the least id. */
    private static CoplaneException firstFailure(List<CompletableFuture<TxnChunkReader>> loads) {
        CoplaneException first = null;
        for (CompletableFuture<TxnChunkReader> load : loads) {
            if (load.isCompletedExceptionally() && load.exceptionNow() instanceof CoplaneException error) {
                if (error instanceof MemoryLimitException) {
                    return error;
                }
                first = first == null ? error : first;
            }
        }
        return first;
    }

    private Entry pin(long id) {
        while (true) {
            Entry entry = entries.get(id);
            if (entry == null) {
                entry = new Entry(id);
                if (entries.putIfAbsent(id, entry) != null) {
                    continue;
                }
                waiting.add(entry);
                return entry;
            }
            if (entry.tryPin()) {
                return entry;
            }
            entries.remove(id, entry); // dropped, and about to be removed by whoever dropped it
        }
    }

    /** Starts reads while there is room for them. One thread at a time does it for all. */
    private void readMore() {
        if (wakeUps.getAndIncrement() != 0) {
            return;
        }
        int seen = 1;
        do {
            while (reads.get() < MOST_READS) {
                Entry next = waiting.poll();
                if (next == null) {
                    break;
                }
                reads.incrementAndGet();
                read(next);
            }
            seen = wakeUps.addAndGet(-seen);
        } while (seen != 0);
    }

    private void read(Entry entry) {
        CompletableFuture<MemorySegment> bytes;
        try {
            if (closed) {
                throw new CoplaneException(ErrorCode.SHUTTING_DOWN, "txn chunks are closed");
            }
            bytes = store.read(FileKind.TXN_CHUNK, entry.id, 0, ObjectStore.TO_END, entry.arena);
        } catch (RuntimeException | OutOfMemoryError e) {
            bytes = CompletableFuture.failedFuture(e);
        }
        bytes.whenComplete((read, failure) -> {
                    reads.decrementAndGet();
                    readMore();
                    if (failure != null) {
                        entry.fail(failure);
                    } else {
                        parse(entry, read);
                    }
                })
                .exceptionally(ignored -> null); // the entry has its failure
    }

    private void parse(Entry entry, MemorySegment bytes) {
        try {
            pool.execute(() -> entry.parse(bytes));
        } catch (RejectedExecutionException e) {
            entry.fail(new CoplaneException(ErrorCode.SHUTTING_DOWN, "the pool takes no more work", e));
        }
    }

    /** Drops chunks that were not used for their time to live. To be called now and then. @return bytes freed */
    public long dropIdle() {
        return dropIdle(ttlNanos);
    }

    /** Drops all chunks that nobody uses, to make room. @return bytes freed */
    long dropUnused() {
        return dropIdle(0);
    }

    private long dropIdle(long idleNanos) {
        long now = clock.nanoTime();
        long freed = 0;
        for (Entry entry : entries.values()) {
            if (now - entry.usedNanos >= idleNanos) {
                freed += entry.drop();
            }
        }
        return freed;
    }

    /** Chunks that are here or on their way. */
    public int count() {
        return entries.size();
    }

    /** Native bytes of all chunks. */
    public long ownedBytes() {
        return guard.chargedBytes();
    }

    /** Frees what nobody uses; the rest is freed with its last user. Idempotent. */
    @Override
    public void close() {
        closed = true;
        dropUnused();
    }

    /** One chunk, loading or loaded. Its memory is freed once it is dropped: by time, or with its last pin. */
    private final class Entry {
        private final long id;
        private final NativeArena arena = new NativeArena(guard);
        private final CompletableFuture<TxnChunkReader> loaded = new CompletableFuture<>();
        private final AtomicInteger pins = new AtomicInteger(2); // of the load, and of who asked first
        private volatile long usedNanos = clock.nanoTime();

        private Entry(long id) {
            this.id = id;
        }

        private void parse(MemorySegment bytes) {
            TxnChunkReader chunk;
            try {
                chunk = TxnChunkReader.openPlain(bytes, id);
            } catch (RuntimeException | OutOfMemoryError e) {
                fail(e);
                return;
            }
            loaded.complete(chunk);
            unpin();
        }

        private void fail(Throwable failure) {
            entries.remove(id, this); // whoever asks next tries again
            loaded.completeExceptionally(typed(failure));
            unpin();
        }

        private CoplaneException typed(Throwable failure) {
            Throwable cause = Failures.unwrap(failure);
            if (cause instanceof MemoryLimitException limit) {
                return limit;
            }
            ErrorCode code = cause instanceof CoplaneException error ? error.code() : ErrorCode.STORE_UNAVAILABLE;
            return new CoplaneException(
                    code,
                    "read_txn_chunk failed: " + cause.getMessage() + ", chunk_id " + Long.toUnsignedString(id),
                    cause);
        }

        private boolean tryPin() {
            int before;
            do {
                before = pins.get();
                if (before == DROPPED) {
                    return false;
                }
            } while (!pins.compareAndSet(before, before + 1));
            usedNanos = clock.nanoTime();
            return true;
        }

        private void unpin() {
            usedNanos = clock.nanoTime();
            // closed is looked at behind the count: whoever closes looks at counts behind having set it
            if (pins.decrementAndGet() == 0 && (ttlNanos == 0 || closed || loaded.isCompletedExceptionally())) {
                drop();
            }
        }

        /** @return bytes freed; 0 if somebody uses it */
        private long drop() {
            if (!pins.compareAndSet(0, DROPPED)) {
                return 0;
            }
            entries.remove(id, this);
            long bytes = arena.ownedBytes();
            arena.close();
            return bytes;
        }
    }
}
