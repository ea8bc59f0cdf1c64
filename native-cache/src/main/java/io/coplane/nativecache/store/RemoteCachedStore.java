package io.coplane.nativecache.store;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.ObjectListing;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store for one request whose sender still has young files on its own disk (ia.md 19): those are read there, all else, and whatever fails there, in
 * the store behind. Only reads go to the sender; it is asked once. Owns neither the peers nor the store behind. Thread-safe.
 */
public final class RemoteCachedStore implements ObjectStore {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteCachedStore.class);

    /** Bits below the milliseconds in a file id, which is a timestamp of PD. */
    private static final int LOGICAL_BITS = 18;

    private final ObjectStore inner;
    private final FilePeers peers;
    private final String address;
    private final long ttlMillis;
    private final Clock clock;
    private final long deadlineNanos;

    /**
     * @param address {@code host:port} of the sender, as it gave it; checked by {@link FilePeers}
     * @param ttlMillis files older than this are read behind; at least 0
     */
    public RemoteCachedStore(ObjectStore inner, FilePeers peers, String address, long ttlMillis, Clock clock) {
        this(inner, peers, address, ttlMillis, clock, S3Call.NEVER);
    }

    private RemoteCachedStore(
            ObjectStore inner, FilePeers peers, String address, long ttlMillis, Clock clock, long deadlineNanos) {
        this.inner = inner;
        this.peers = peers;
        this.address = address;
        this.ttlMillis = ttlMillis;
        this.clock = clock;
        this.deadlineNanos = deadlineNanos;
    }

    @Override
    public CompletableFuture<MemorySegment> read(FileKind kind, long fileId, long start, long end, NativeArena arena) {
        if (!isYoung(fileId) || start < 0 || end != TO_END && end <= start) {
            return inner.read(kind, fileId, start, end, arena);
        }
        return peers.read(address, kind, fileId, start, end, arena, deadlineNanos)
                .exceptionallyCompose(failure -> {
                    Throwable cause = Failures.unwrap(failure);
                    if (cause instanceof MemoryLimitException limit) {
                        return CompletableFuture.failedFuture(limit); // it would be no better behind
                    }
                    LOG.info(
                            "not read at the sender: file={} address={} cause={}",
                            ObjectKeys.fileName(kind, fileId),
                            address,
                            cause instanceof CoplaneException e ? e.getMessage() : cause);
                    return inner.read(kind, fileId, start, end, arena);
                });
    }

    /** Young enough; an age below zero, of a clock behind PD's, counts as zero (snapshot.md 4.8). */
    private boolean isYoung(long fileId) {
        return clock.wallMillis() - (fileId >>> LOGICAL_BITS) <= ttlMillis;
    }

    @Override
    public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
        return inner.byteSize(kind, fileId);
    }

    @Override
    public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
        return inner.put(kind, fileId, bytes);
    }

    @Override
    public CompletableFuture<ObjectListing> list(String after, int most) {
        return inner.list(after, most);
    }

    @Override
    public ObjectStore within(long deadline) {
        return new RemoteCachedStore(inner.within(deadline), peers, address, ttlMillis, clock, deadline);
    }

    /** Does nothing: all it uses belongs to others. */
    @Override
    public void close() {}
}
