package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.cache.BlockCache;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.proto.keyspace_encryptionpb.DataKey;
import io.coplane.proto.keyspace_encryptionpb.EncryptionEpoch;
import io.coplane.proto.keyspace_encryptionpb.EncryptionMeta;
import io.coplane.proto.keyspace_encryptionpb.MasterKey;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.CompressionType;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstOptions;
import io.coplane.testing.Dumps;
import io.coplane.testing.ManualClock;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Shards whose files name data keys of their keyspace: the keys come from the object store (worker.md 14.3, 17.3). */
@ExtendWith(NoLeaks.class)
final class KeyspaceKeysTest {
    private static final int KEYSPACE = 42;
    private static final int FIRST_KEY = 0x0A0B01;
    private static final int SECOND_KEY = 0x0A0B02;
    private static final byte[] MASTER = filled(32, 0x33);
    private static final byte[] SHARD_MASTER = filled(32, 1);
    private static final ShardKey FIRST_GENERATION = ShardKey.plain(filled(64, 7), 3);

    @TempDir
    private Path folder;

    private final MemoryLimiter limiter = new MemoryLimiter(1 << 26);
    private final ManualClock clock = ManualClock.recorded();
    private final AtomicInteger decrypted = new AtomicInteger();
    private DirectoryStore store;
    private KeyspaceKeys keys;

    @BeforeEach
    void open() {
        store = new DirectoryStore(folder, "", 2);
        keys = new KeyspaceKeys(store, limiter, Runnable::run, clock, (vendor, keyId, region, endpoint, ciphertext) -> {
            decrypted.incrementAndGet();
            assertThat(vendor + keyId).isEqualTo("testthe-key");
            return MASTER;
        });
    }

    @AfterEach
    void accountIsZero() {
        store.close();
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void filesOfBothGenerationsAreRead() {
        putMeta(155, KEYSPACE, FIRST_KEY, FIRST_KEY);
        putMeta(77, 9, FIRST_KEY, FIRST_KEY); // another keyspace's
        putTable(1, dataKey(FIRST_KEY, FIRST_KEY), 'a');
        putTable(2, FIRST_GENERATION, 'b');
        putTable(3, null, 'c');

        assertThat(rows(FIRST_GENERATION.export(SHARD_MASTER), null, 1, 2)).isEqualTo(2);
        assertThat(rows(null, null, 1, 3)).isEqualTo(2);
        assertThat(rows(ShardKey.exportDataKey(MASTER, filled(32, 5)), null, 1)).isEqualTo(1); // property of type 2
        assertThat(decrypted).hasValue(1);
    }

    @Test
    void theCacheKeepsAFileThatWaitedForItsKey() {
        putMeta(155, KEYSPACE, FIRST_KEY, FIRST_KEY);
        putTable(1, dataKey(FIRST_KEY, FIRST_KEY), 'a');

        try (var cache = new BlockCache(1 << 20, limiter, clock)) {
            assertThat(rows(null, cache, 1)).isEqualTo(1);
            assertThat(rows(null, cache, 1)).isEqualTo(1);

            assertThat(cache.missCount()).isEqualTo(2); // the file, and its block when it is wanted for the second time
        }
    }

    @Test
    void aKeyOfYoungerMetadataIsFoundWhenAFileNamesIt() {
        putMeta(155, KEYSPACE, FIRST_KEY, FIRST_KEY);
        putTable(1, dataKey(FIRST_KEY, FIRST_KEY), 'a');
        putTable(2, dataKey(SECOND_KEY, FIRST_KEY, SECOND_KEY), 'b');
        assertThat(rows(null, null, 1)).isEqualTo(1);
        assertCode(
                ErrorCode.BAD_ENCRYPTION_KEY, "Data key 658178 missing in keyspace 42", () -> rows(null, null, 1, 2));

        putMeta(156, KEYSPACE, SECOND_KEY, FIRST_KEY, SECOND_KEY);
        clock.advance(Duration.ofSeconds(2));

        assertThat(rows(null, null, 1, 2)).isEqualTo(2);
        assertThat(decrypted).hasValue(2);
    }

    @Test
    void anOlderObjectDoesNotReplaceAYoungerOne() {
        putMeta(156, KEYSPACE, SECOND_KEY, FIRST_KEY, SECOND_KEY);
        putMeta(12, KEYSPACE, FIRST_KEY, FIRST_KEY);

        assertThat(keys.key(KEYSPACE, null).join().version()).isEqualTo(1 << 24 | SECOND_KEY);
    }

    @Test
    void whatIsMissingForeignOrBrokenIsNamed() {
        putTable(1, dataKey(FIRST_KEY, FIRST_KEY), 'a');
        assertCode(ErrorCode.FILE_NOT_FOUND, "keyspace=42 objects=0 unreadable=0", () -> rows(null, null, 1));

        putMeta(77, 9, FIRST_KEY, FIRST_KEY);
        clock.advance(Duration.ofSeconds(2));
        assertCode(ErrorCode.FILE_NOT_FOUND, "keyspace=42 objects=1 unreadable=0", () -> rows(null, null, 1));

        byte[] good = meta(155, KEYSPACE, FIRST_KEY, FIRST_KEY).toByteArray();
        put(FileKind.ENCRYPTION, 155, Arrays.copyOf(good, good.length - 1));
        clock.advance(Duration.ofSeconds(2));
        assertCode(
                ErrorCode.FILE_FORMAT,
                "unreadable=1 first=encryption metadata does not parse",
                () -> rows(null, null, 1));

        put(FileKind.ENCRYPTION, 155, meta(154, KEYSPACE, FIRST_KEY, FIRST_KEY).toByteArray());
        clock.advance(Duration.ofSeconds(2));
        assertCode(ErrorCode.FILE_MISMATCH, "another object's content", () -> rows(null, null, 1));

        put(FileKind.ENCRYPTION, 155, new byte[(int) KeyspaceKeys.MOST_OBJECT_BYTES + 1]);
        clock.advance(Duration.ofSeconds(2));
        assertCode(ErrorCode.FILE_FORMAT, "encryption metadata is too large", () -> rows(null, null, 1));

        put(FileKind.ENCRYPTION, 155, new byte[0]);
        clock.advance(Duration.ofSeconds(2));
        assertCode(ErrorCode.FILE_TRUNCATED, "unreadable=1", () -> rows(null, null, 1));

        put(FileKind.ENCRYPTION, 155, good);
        clock.advance(Duration.ofSeconds(2));
        assertThat(rows(null, null, 1)).isEqualTo(1);
    }

    @Test
    void anotherKeyServicesAnswerIsNotTakenForData() {
        putMeta(155, KEYSPACE, FIRST_KEY, FIRST_KEY);
        byte[] other = ShardKey.exportDataKey(MASTER, filled(32, 99));
        putTable(1, ShardKey.ofKeyspace(KEYSPACE, MASTER, Map.of(FIRST_KEY, other), FIRST_KEY), 'a');

        assertThatThrownBy(() -> rows(null, null, 1))
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.FILE_CHECKSUM));
    }

    @Test
    void aFileOfTheFirstGenerationWithoutItsKeyIsRefusedWithoutALook() {
        putTable(1, FIRST_GENERATION, 'a');

        assertCode(
                ErrorCode.FILE_ENCRYPTED,
                "file is encrypted and the shard has no key: version=3",
                () -> rows(null, null, 1));
    }

    @Test
    void howeverManyAskOneLooks() {
        putMeta(155, KEYSPACE, FIRST_KEY, FIRST_KEY);
        List<CompletableFuture<ShardKey>> asked = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            asked.add(keys.key(KEYSPACE, null));
        }

        asked.forEach(key -> assertThat(key.join().version()).isEqualTo(1 << 24 | FIRST_KEY));
        keys.key(KEYSPACE, null).join();
        assertThat(decrypted).hasValue(1);
    }

    /** Its requests wait before they take a permit, those of other keyspaces don't; all are served by one call in the end. */
    @Test
    void aKeyServiceThatStallsConcernsItsKeyspaceAlone() {
        CountDownLatch answering = new CountDownLatch(1);
        keys = stalling(Duration.ofMinutes(1), answering);
        putMeta(155, KEYSPACE, FIRST_KEY, FIRST_KEY);
        assertThat(keys.ready(KEYSPACE)).as("nobody needs a key").isCompleted();

        CompletableFuture<ShardKey> key = keys.key(KEYSPACE, null);
        awaitWanted();
        CompletableFuture<Void> ready = keys.ready(KEYSPACE);
        assertThat(key).isNotDone();
        assertThat(ready).isNotDone();
        assertThat(keys.ready(KEYSPACE + 1)).isCompleted();

        answering.countDown();
        assertThat(key.join().version()).isEqualTo(1 << 24 | FIRST_KEY);
        ready.join();
        assertThat(keys.ready(KEYSPACE)).isCompleted();
        assertThat(decrypted).hasValue(1);
    }

    @Test
    void whoWaitsForAKeyServiceGivesUp() {
        CountDownLatch answering = new CountDownLatch(1);
        keys = stalling(Duration.ofMillis(20), answering);
        putMeta(155, KEYSPACE, FIRST_KEY, FIRST_KEY);
        putTable(1, dataKey(FIRST_KEY, FIRST_KEY), 'a');

        String late = "the key service does not answer: keyspace=42 waitedMillis=20";
        assertCode(ErrorCode.STORE_UNAVAILABLE, late, () -> rows(null, null, 1));
        assertThatThrownBy(() -> keys.ready(KEYSPACE).join()).hasRootCauseMessage(late);

        answering.countDown();
        keys = stalling(Duration.ofMinutes(1), answering);
        assertThat(rows(null, null, 1)).isEqualTo(1);
    }

    private KeyspaceKeys stalling(Duration patience, CountDownLatch answering) {
        return new KeyspaceKeys(
                store,
                limiter,
                Runnable::run,
                clock,
                (vendor, keyId, region, endpoint, ciphertext) -> {
                    decrypted.incrementAndGet();
                    try {
                        answering.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    return MASTER;
                },
                new KeyCalls(patience));
    }

    private void awaitWanted() {
        while (decrypted.get() == 0) {
            Thread.onSpinWait();
        }
    }

    private void assertCode(ErrorCode code, String message, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(message);
        assertThat(limiter.usedBytes()).isZero();
    }

    private long rows(byte[] property, BlockCache cache, int... tables) {
        ChangeSet.Builder changeSet = ChangeSet.newBuilder().setShardID(7).setShardVer(1);
        var shard = changeSet
                .getSnapshotBuilder()
                .setOuterStart(ByteString.copyFrom(Dumps.bytes("7800002a")))
                .setOuterEnd(ByteString.copyFrom(Dumps.bytes("7800002b")));
        for (int id : tables) {
            shard.addTableCreates(TableCreate.newBuilder().setID(id).setLevel(1));
        }
        if (property != null) {
            shard.getPropertiesBuilder().addKeys("_encryption").addValues(ByteString.copyFrom(property));
        }
        var builder = new SnapshotBuilder(
                store,
                limiter,
                Runnable::run,
                SHARD_MASTER,
                PrepareType.SST_ONLY,
                cache,
                new TxnChunkManager(store, limiter, Runnable::run, clock, 0),
                keys);
        try (Snapshot snapshot = builder.build(
                                MemorySegment.ofArray(new byte[0]),
                                MemorySegment.ofArray(changeSet.build().toByteArray()),
                                DeadlineCheck.NONE)
                        .join();
                SnapshotScanner scanner =
                        snapshot.scanner(-1, false, new ReadStatistics(), DeadlineCheck.NONE, ReaderThreads.CALLER);
                var rows = new RowBuffer(snapshot.guard())) {
            scanner.setRange(snapshot.outerStart(), snapshot.outerEnd());
            scanner.fill(rows, Integer.MAX_VALUE);
            return rows.rows();
        } catch (CompletionException e) {
            if (e.getCause() instanceof CoplaneException typed) {
                throw typed;
            }
            throw e;
        }
    }

    private void putTable(long id, ShardKey key, char row) {
        var options = new SstOptions(4096, CompressionType.LZ4, 3, ChecksumType.CRC32, key);
        byte[] bytes = ("t_" + row).getBytes(StandardCharsets.US_ASCII);
        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard);
                var builder = new SstBuilder(options, id, false, guard)) {
            builder.add(bytes, 0, bytes.length, 5, 0, new byte[17], 0, 17, bytes, 0, bytes.length);
            store.put(FileKind.SST, id, builder.finish(arena).bytes()).join();
        }
    }

    private void putMeta(long fileId, int keyspaceId, int current, int... ids) {
        put(FileKind.ENCRYPTION, fileId, meta(fileId, keyspaceId, current, ids).toByteArray());
    }

    private void put(FileKind kind, long fileId, byte[] bytes) {
        store.put(kind, fileId, MemorySegment.ofArray(bytes)).join();
    }

    private static EncryptionMeta meta(long fileId, int keyspaceId, int current, int... ids) {
        EncryptionMeta.Builder meta = EncryptionMeta.newBuilder()
                .setKeyspaceId(keyspaceId)
                .setCurrent(EncryptionEpoch.newBuilder().setFileId(fileId).setDataKeyId(current))
                .setMasterKey(MasterKey.newBuilder().setVendor("test").setCmekId("the-key"));
        for (int id : ids) {
            meta.putDataKeys(
                    id,
                    DataKey.newBuilder()
                            .setCiphertext(ByteString.copyFrom(ShardKey.exportDataKey(MASTER, filled(32, id))))
                            .build());
        }
        return meta.build();
    }

    private static ShardKey dataKey(int current, int... ids) {
        return KeyspaceEncryption.parse(
                        MemorySegment.ofArray(meta(1, KEYSPACE, current, ids).toByteArray()), 1, KEYSPACE)
                .key((vendor, keyId, region, endpoint, ciphertext) -> MASTER);
    }

    private static byte[] filled(int count, int value) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }
}
