package io.coplane.snapshot;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.ObjectListing;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.snapshot.KeyspaceEncryption.MasterKeys;
import io.coplane.sst.ShardKey;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Data keys of the second generation, by keyspace (worker.md 14.3, 17.3): found in the object store, kept for ever, looked for anew when somebody
 * needs a key that is not among them.
 *
 * <p>How PD names the metadata object of a keyspace is not public. So all of them are read, from the folder {@code encryption/}: each tells its keyspace, and
 * of two the younger counts. An object never changes, so none is read twice. However many ask, one looks. An object that can't be read hides no other; it
 * is named to those whose keyspace is not found.
 *
 * <p>A keyspace's master key is asked of its key service, which may stall. No thread of a pool waits for that ({@link KeyCalls}), one call serves all who
 * need it, and {@link #ready} keeps requests of that keyspace from taking permits meanwhile.
 *
 * <p>Borrows store, pool and clock. Holds plain keys on the heap. Thread-safe.
 */
public final class KeyspaceKeys {
    /** More objects than this are refused: it would be another design then. */
    static final int MOST_OBJECTS = 10_000;

    /** A metadata object has a few keys of 33 bytes. */
    static final long MOST_OBJECT_BYTES = 1 << 20;

    private static final int READS_AT_ONCE = 16;
    private static final int LISTED_AT_ONCE = 1000;

    private static final CompletableFuture<Void> READY = CompletableFuture.completedFuture(null);

    /** Who does not find his key does not make everybody look all the time. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ObjectStore store;
    private final MemoryLimiter limiter;
    private final Executor pool;
    private final Clock clock;
    private final MasterKeys masterKeys;
    private final KeyCalls calls;

    private final Map<Integer, KeyspaceEncryption> newest = new ConcurrentHashMap<>();
    private final Map<Integer, Unwrapped> unwrapped = new ConcurrentHashMap<>();
    private final Map<KeyspaceEncryption, CompletableFuture<ShardKey>> unwrapping = new ConcurrentHashMap<>();
    private final Map<Integer, KeyspaceEncryption> wanted = new ConcurrentHashMap<>(); // what was not unwrapped yet
    private final Set<Long> read = ConcurrentHashMap.newKeySet(); // ids of the objects that were read
    private final AtomicReference<Look> last = new AtomicReference<>();

    /** The keys of a metadata object. */
    private record Unwrapped(KeyspaceEncryption of, ShardKey key) {}

    /** A look into the store, done or not; what it could not read. */
    private record Look(CompletableFuture<List<CoplaneException>> done, long startNanos) {}

    /**
     * @param limiter charged for an object while it is read
     * @param pool runs parsing; never the store's own threads
     * @param masterKeys called on virtual threads
     */
    public KeyspaceKeys(ObjectStore store, MemoryLimiter limiter, Executor pool, Clock clock, MasterKeys masterKeys) {
        this(store, limiter, pool, clock, masterKeys, new KeyCalls(KeyCalls.PATIENCE));
    }

    KeyspaceKeys(
            ObjectStore store,
            MemoryLimiter limiter,
            Executor pool,
            Clock clock,
            MasterKeys masterKeys,
            KeyCalls calls) {
        this.calls = calls;
        this.store = store;
        this.limiter = limiter;
        this.pool = pool;
        this.clock = clock;
        this.masterKeys = masterKeys;
    }

    /**
     * The keys of a keyspace.
     *
     * @param known what was found before and was not enough, or null
     * @return other keys than {@code known} where there are; fails with {@link CoplaneException}: FILE_NOT_FOUND if the store has no metadata of the
     *     keyspace, FILE_FORMAT or FILE_MISMATCH if some of what it has is broken, BAD_ENCRYPTION_KEY, or what the store raises
     */
    public CompletableFuture<ShardKey> key(int keyspaceId, ShardKey known) {
        Unwrapped before = unwrapped.get(keyspaceId);
        if (before != null && !before.key.equals(known)) {
            return CompletableFuture.completedFuture(before.key);
        }
        return look().thenApply(unreadable -> found(keyspaceId, unreadable)).thenCompose(this::unwrap);
    }

    /**
     * Completes once a request of a keyspace needs not wait for the keyspace's key service: at once, unless a key was wanted and is not there yet. To be
     * asked before a request takes a permit. Costs a look into an empty map where nobody waits.
     *
     * @return fails as {@link #key} does if the key service does
     */
    public CompletableFuture<Void> ready(int keyspaceId) {
        if (wanted.isEmpty()) {
            return READY;
        }
        KeyspaceEncryption missing = wanted.get(keyspaceId);
        return missing == null || unwrapped.containsKey(keyspaceId)
                ? READY
                : unwrap(missing).thenAccept(key -> {});
    }

    private KeyspaceEncryption found(int keyspaceId, List<CoplaneException> unreadable) {
        KeyspaceEncryption found = newest.get(keyspaceId);
        if (found == null) {
            throw new CoplaneException(
                    unreadable.isEmpty()
                            ? ErrorCode.FILE_NOT_FOUND
                            : unreadable.getFirst().code(),
                    "no encryption metadata of the keyspace: keyspace=" + Integer.toUnsignedString(keyspaceId)
                            + " objects=" + read.size() + " unreadable=" + unreadable.size()
                            + (unreadable.isEmpty()
                                    ? ""
                                    : " first=" + unreadable.getFirst().getMessage()));
        }
        return found;
    }

    private CompletableFuture<ShardKey> unwrap(KeyspaceEncryption found) {
        int keyspaceId = found.keyspaceId();
        CompletableFuture<ShardKey> mine = new CompletableFuture<>();
        CompletableFuture<ShardKey> other = unwrapping.putIfAbsent(found, mine);
        if (other != null) {
            return other;
        }
        Unwrapped before =
                unwrapped.get(keyspaceId); // after it was put: whoever is through puts it there before he leaves
        if (before != null && before.of == found) {
            unwrapping.remove(found);
            mine.complete(before.key);
            return mine;
        }
        wanted.put(keyspaceId, found);
        calls.call(keyspaceId, () -> found.key(masterKeys))
                .whenComplete((key, failure) -> {
                    if (failure == null) {
                        unwrapped.put(keyspaceId, new Unwrapped(found, key));
                        wanted.remove(keyspaceId, found);
                    }
                    unwrapping.remove(found);
                    if (failure == null) {
                        mine.complete(key);
                    } else {
                        mine.completeExceptionally(Failures.unwrap(failure));
                    }
                })
                .exceptionally(ignored -> null); // whoever waits for mine has it
        return mine;
    }

    /** Reads the objects that are new since the last time, unless somebody is at it or did so just now. */
    private CompletableFuture<List<CoplaneException>> look() {
        while (true) {
            Look before = last.get();
            long now = clock.nanoTime();
            if (before != null
                    && (!before.done.isDone()
                            || !before.done.isCompletedExceptionally() && now - before.startNanos < REST_NANOS)) {
                return before.done;
            }
            var mine = new Look(new CompletableFuture<>(), now);
            if (last.compareAndSet(before, mine)) {
                list("", new ArrayList<>())
                        .thenCompose(this::readAll)
                        .whenComplete((unreadable, failure) -> {
                            if (failure == null) {
                                mine.done.complete(unreadable);
                            } else {
                                mine.done.completeExceptionally(typed(failure));
                            }
                        })
                        .exceptionally(ignored -> null); // whoever waits for mine has it
                return mine.done;
            }
        }
    }

    private CompletableFuture<List<ObjectListing.Entry>> list(String after, List<ObjectListing.Entry> found) {
        String folder = FileKind.ENCRYPTION.folder();
        return store.list(after.isEmpty() ? folder : after, LISTED_AT_ONCE).thenCompose(listing -> {
            boolean over = false;
            for (ObjectListing.Entry entry : listing.entries()) {
                if (!entry.key().startsWith(folder)) {
                    over = true; // keys come in order
                    break;
                }
                ObjectKeys.parse(entry.key())
                        .filter(file -> file.kind() == FileKind.ENCRYPTION && !read.contains(file.fileId()))
                        .ifPresent(file -> found.add(entry));
            }
            if (found.size() + read.size() > MOST_OBJECTS) {
                throw new CoplaneException(
                        ErrorCode.UNSUPPORTED,
                        "more encryption metadata than can be looked through: most=" + MOST_OBJECTS);
            }
            return over || listing.next().isEmpty()
                    ? CompletableFuture.completedFuture(found)
                    : list(listing.next().get(), found);
        });
    }

    /** A few at a time. @return what could not be read */
    private CompletableFuture<List<CoplaneException>> readAll(List<ObjectListing.Entry> entries) {
        List<CoplaneException> unreadable = new ArrayList<>();
        CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
        for (int i = 0; i < entries.size(); i += READS_AT_ONCE) {
            List<ObjectListing.Entry> some = entries.subList(i, Math.min(entries.size(), i + READS_AT_ONCE));
            done = done.thenCompose(nothing -> CompletableFuture.allOf(
                    some.stream().map(entry -> read(entry, unreadable)).toArray(CompletableFuture[]::new)));
        }
        return done.thenApply(nothing -> unreadable);
    }

    /** Completes well also if the object is broken, but not if the store does not answer. */
    private CompletableFuture<Void> read(ObjectListing.Entry entry, List<CoplaneException> unreadable) {
        long fileId = ObjectKeys.parse(entry.key()).orElseThrow().fileId();
        if (entry.byteSize() > MOST_OBJECT_BYTES) {
            note(
                    unreadable,
                    new CoplaneException(
                            ErrorCode.FILE_FORMAT,
                            "encryption metadata is too large: bytes=" + entry.byteSize() + " file="
                                    + ObjectKeys.fileName(FileKind.ENCRYPTION, fileId)));
            return CompletableFuture.completedFuture(null);
        }
        MemoryGuard guard = limiter.acquire(0);
        NativeArena arena = new NativeArena(guard);
        long bytes = Math.max(1, entry.byteSize()); // an empty object ends before: it says nothing
        CompletableFuture<MemorySegment> reading;
        try {
            reading = store.read(FileKind.ENCRYPTION, fileId, 0, bytes, arena);
        } catch (RuntimeException | OutOfMemoryError e) {
            reading = CompletableFuture.failedFuture(e);
        }
        return reading.thenCompose(object -> onPool(() -> KeyspaceEncryption.parse(object, fileId)))
                .handle((parsed, failure) -> {
                    arena.close();
                    guard.close();
                    if (failure == null) {
                        newest.merge(parsed.keyspaceId(), parsed, KeyspaceEncryption::newer);
                        read.add(fileId);
                        return null;
                    }
                    CoplaneException error = typed(failure);
                    switch (error.code()) {
                        case FILE_FORMAT, FILE_MISMATCH, FILE_TRUNCATED, FILE_NOT_FOUND -> note(unreadable, error);
                        default -> throw error;
                    }
                    return null;
                });
    }

    private static void note(List<CoplaneException> unreadable, CoplaneException error) {
        synchronized (unreadable) {
            unreadable.add(error);
        }
    }

    private interface Work<T> {
        T run();
    }

    private <T> CompletableFuture<T> onPool(Work<T> work) {
        try {
            return CompletableFuture.supplyAsync(work::run, pool);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.failedFuture(
                    new CoplaneException(ErrorCode.SHUTTING_DOWN, "the pool takes no more work", e));
        }
    }

    static CoplaneException typed(Throwable failure) {
        Throwable cause = Failures.unwrap(failure);
        return cause instanceof CoplaneException error
                ? error
                : new CoplaneException(
                        ErrorCode.STORE_UNAVAILABLE, "encryption metadata does not load: " + cause, cause);
    }
}
