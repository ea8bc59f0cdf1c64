package io.coplane.worker.encryption;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.engine.TxnChunkSettings;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.Properties;
import io.coplane.proto.enginepb.Snapshot;
import io.coplane.proto.keyspace_encryptionpb.EncryptionMeta;
import io.coplane.proto.keyspacepb.KeyspaceMeta;
import io.coplane.proto.metapb.Store;
import io.coplane.proto.pdpb.GetRegionResponse;
import io.coplane.snapshot.KeyCalls;
import io.coplane.snapshot.KeyspaceEncryption;
import io.coplane.sst.ShardKey;
import io.coplane.types.ByteSink;
import io.coplane.types.codec.Memcomparable;
import io.coplane.worker.config.MasterKeyConfig;
import io.coplane.worker.pd.PdClient;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;

/**
 * The key that files of a keyspace are written with (worker.md 14.3).
 *
 * <p>A keyspace whose setting in PD says that it is encrypted has an {@code EncryptionMeta}, which storage nodes hand out; the reference asks PD for the
 * object's file id by a call that is not public. Every other keyspace has its key, or none, in the properties of its shard, which the leader's
 * store tells. The first kind is kept for ever, the second is asked for each time. Look-ups of one keyspace at one time are one.
 *
 * <p>Owns a timer and an HTTP client; borrows the client of PD. No thread of either waits for a key service ({@link KeyCalls}). Thread-safe.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a look-up ends in the future that its askers have
public final class WriteKeys implements TxnChunkSettings.Keys, AutoCloseable {
    private static final String SHARD_KEY = "_encryption";
    private static final String SETTING = "encryption";
    private static final byte TXN_KEYSPACE = 'x';
    private static final int KEYSPACE_BITS = 24;
    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final PdClient pd;
    private final byte[] masterKey;
    private final StatusClient stores;
    private final ObjectMapper json = new ObjectMapper();
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(
            1, Thread.ofPlatform().name("coplane-keys").daemon().factory());
    private final KeyCalls keyCalls = new KeyCalls(KeyCalls.PATIENCE);
    private final ConcurrentHashMap<Integer, CompletableFuture<Found>> lookups = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<ByteString, byte[]> masterKeys = new ConcurrentHashMap<>();

    /** @param isLasting it is of the keyspace, not of a shard */
    private record Found(Optional<ShardKey> key, boolean isLasting) {}

    /**
     * @param masterKey the start-up master key, 32 bytes; not to be modified
     * @param tls for status addresses with TLS; empty: plain HTTP
     */
    public WriteKeys(PdClient pd, byte[] masterKey, Optional<SSLContext> tls) {
        this.pd = pd;
        this.masterKey = masterKey;
        stores = new StatusClient(tls);
    }

    @Override
    public CompletableFuture<Optional<ShardKey>> of(int keyspaceId) {
        CompletableFuture<Found> mine = new CompletableFuture<>();
        CompletableFuture<Found> other = lookups.putIfAbsent(keyspaceId, mine);
        if (other != null) {
            return other.thenApply(Found::key);
        }
        CompletableFuture.completedFuture(keyspaceId)
                .thenCompose(this::find)
                .whenComplete((found, failure) -> {
                    if (failure != null || !found.isLasting()) {
                        lookups.remove(keyspaceId, mine);
                    }
                    if (failure == null) {
                        mine.complete(found);
                    } else {
                        mine.completeExceptionally(failure);
                    }
                })
                .exceptionally(thrown -> null); // told to whoever waits
        return mine.thenApply(Found::key);
    }

    private CompletableFuture<Found> find(int keyspaceId) {
        return pd.keyspace(keyspaceId)
                .thenCompose(keyspace -> keyspace.filter(this::isEncrypted).isPresent()
                        ? pd.stores()
                                .thenCompose(all -> meta(keyspaceId, all.iterator()))
                                .thenCompose(meta -> unwrapped(keyspaceId, meta))
                        : CompletableFuture.completedFuture(Optional.empty()))
                .thenCompose(key -> key.isPresent()
                        ? CompletableFuture.completedFuture(new Found(key, true))
                        : ofShard(keyspaceId, System.nanoTime() + PATIENCE.toNanos())
                                .thenApply(found -> new Found(found, false)));
    }

    /** What is missing or is no JSON means that it is not (worker.md 14.3). */
    private boolean isEncrypted(KeyspaceMeta keyspace) {
        try {
            return json.readTree(keyspace.getConfigOrDefault(SETTING, "{}"))
                    .path("enabled")
                    .asBoolean(false);
        } catch (IOException e) {
            return false;
        }
    }

    /** The metadata of the first node that has them; nodes that fail are an error only if no other node answers. */
    private CompletableFuture<Optional<KeyspaceEncryption>> meta(int keyspaceId, Iterator<Store> nodes) {
        if (!nodes.hasNext()) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        Store node = nodes.next();
        if (isTiFlash(node)) {
            return meta(keyspaceId, nodes);
        }
        String path = "/encryption/get-meta?keyspace_id=" + Integer.toUnsignedString(keyspaceId);
        return stores.get(node.getStatusAddress(), path)
                .thenCompose(body -> body.isPresent()
                        ? CompletableFuture.completedFuture(Optional.of(parse(body.get(), keyspaceId)))
                        : meta(keyspaceId, nodes))
                .exceptionallyCompose(failure -> meta(keyspaceId, nodes)
                        .thenCompose(found -> found.isPresent()
                                ? CompletableFuture.completedFuture(found)
                                : CompletableFuture.failedFuture(failure)));
    }

    private CompletableFuture<Optional<ShardKey>> unwrapped(int keyspaceId, Optional<KeyspaceEncryption> meta) {
        return meta.isPresent()
                ? keyCalls.call(keyspaceId, () -> Optional.of(meta.get().key(this::decrypt)))
                : CompletableFuture.completedFuture(Optional.empty());
    }

    private static KeyspaceEncryption parse(byte[] body, int keyspaceId) {
        long fileId;
        try {
            fileId = EncryptionMeta.parseFrom(body).getCurrent().getFileId();
        } catch (InvalidProtocolBufferException e) {
            throw new CoplaneException(
                    ErrorCode.BAD_PROTOBUF, "EncryptionMeta does not parse: cause=" + e.getMessage(), e);
        }
        return KeyspaceEncryption.parse(MemorySegment.ofArray(body), fileId, keyspaceId);
    }

    private byte[] decrypt(String vendor, String keyId, String region, String endpoint, byte[] ciphertext) {
        ByteString known =
                ByteString.copyFromUtf8(vendor + "\n" + keyId + "\n").concat(ByteString.copyFrom(ciphertext));
        byte[] cached = masterKeys.get(known);
        if (cached == null) {
            cached = MasterKeyConfig.ofKeyspace(vendor, keyId, region, endpoint, ciphertext);
            masterKeys.put(known, cached);
        }
        return cached;
    }

    /** The key of the shard at the keyspace's start, asked of its leader's store until it knows it (worker.md 14.3). */
    private CompletableFuture<Optional<ShardKey>> ofShard(int keyspaceId, long untilNanos) {
        if (keyspaceId >>> KEYSPACE_BITS != 0) {
            return CompletableFuture.failedFuture(new CoplaneException(
                    ErrorCode.BAD_ARGUMENT,
                    "keyspace id has more than 24 bits: keyspace=" + Integer.toUnsignedString(keyspaceId)));
        }
        byte[] start = bound(keyspaceId);
        return pd.region(encoded(start))
                .thenCompose(region -> pd.store(region.getLeader().getStoreId())
                        .thenCompose(store -> stores.get(store.getStatusAddress(), metaPath(region))))
                .thenCompose(body -> {
                    ChangeSet meta = changeSet(body);
                    if (meta.getShardID() != 0) {
                        return CompletableFuture.completedFuture(key(meta.getSnapshot(), keyspaceId));
                    }
                    if (System.nanoTime() - untilNanos > 0) {
                        throw new CoplaneException(
                                ErrorCode.STORE_UNAVAILABLE,
                                "the leader's store does not know the shard of keyspace " + keyspaceId);
                    }
                    return CompletableFuture.supplyAsync(() -> null, later())
                            .thenCompose(nothing -> ofShard(keyspaceId, untilNanos));
                });
    }

    private Executor later() {
        return CompletableFuture.delayedExecutor(PAUSE.toMillis(), TimeUnit.MILLISECONDS, timer);
    }

    private static String metaPath(GetRegionResponse region) {
        return "/kvengine/meta/" + Long.toUnsignedString(region.getRegion().getId());
    }

    /** A node that has no such shard answers 404: asked again like one that answers an empty ChangeSet. */
    private static ChangeSet changeSet(Optional<byte[]> body) {
        try {
            return body.isPresent() ? ChangeSet.parseFrom(body.get()) : ChangeSet.getDefaultInstance();
        } catch (InvalidProtocolBufferException e) {
            throw new CoplaneException(
                    ErrorCode.BAD_PROTOBUF, "ChangeSet of a shard does not parse: cause=" + e.getMessage(), e);
        }
    }

    private Optional<ShardKey> key(Snapshot shard, int keyspaceId) {
        ByteString least = ByteString.copyFrom(bound(keyspaceId));
        ByteString end = ByteString.copyFrom(bound(keyspaceId + 1));
        var order = ByteString.unsignedLexicographicalComparator();
        if (order.compare(shard.getOuterStart(), least) < 0 || order.compare(shard.getOuterEnd(), end) > 0) {
            throw new CoplaneException(ErrorCode.FILE_MISMATCH, "keyspace range mismatch: keyspace=" + keyspaceId);
        }
        Properties properties = shard.getProperties();
        int at = properties.getKeysList().indexOf(SHARD_KEY);
        List<ByteString> values = properties.getValuesList();
        return at < 0 || at >= values.size() || values.get(at).isEmpty()
                ? Optional.empty()
                : Optional.of(ShardKey.unwrap(masterKey, values.get(at).toByteArray()));
    }

    /** First outer key of a keyspace; of the one behind the last, the end of all. */
    private static byte[] bound(int keyspaceId) {
        return ByteBuffer.allocate(Integer.BYTES)
                .putInt((TXN_KEYSPACE << KEYSPACE_BITS) + keyspaceId)
                .array();
    }

    private static byte[] encoded(byte[] key) {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                ByteSink out = new ByteSink(guard)) {
            Memcomparable.putBytes(out, key, 0, key.length);
            return out.copyBytes();
        }
    }

    private static boolean isTiFlash(Store store) {
        return store.getLabelsList().stream()
                .anyMatch(label -> label.getKey().toLowerCase(Locale.ROOT).equals("engine")
                        && label.getValue().startsWith("tiflash"));
    }

    @Override
    public void close() {
        timer.shutdownNow();
        stores.close();
    }
}
