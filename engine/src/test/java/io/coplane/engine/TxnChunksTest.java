package io.coplane.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.engine.TxnChunkRequest.Method;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectListing;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.ShardKey;
import io.coplane.sst.TxnChunkCursor;
import io.coplane.sst.TxnChunkReader;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** worker.md 14. */
@ExtendWith(NoLeaks.class)
final class TxnChunksTest {
    private static final int KEYSPACE = 7;
    private static final long ID = 155;
    private static final byte[] ONE = HexFormat.of().parseHex("01006100020000007631" + "2cdc7a75");

    @TempDir
    private Path root;

    private DirectoryStore store;
    private DataPlane plane;

    @BeforeEach
    void open() {
        store = new DirectoryStore(root, "", 2);
        plane = plane(64, Optional.empty(), CompletableFuture.completedFuture(ID));
    }

    @AfterEach
    void nothingIsHeld() {
        assertThat(plane.memory().usedBytes()).isEqualTo(plane.cachedBytes());
        assertThat(plane.requestsInWork()).isZero();
        assertThat(plane.status().permitsInUse()).isZero();
        assertThat(plane.status().runningCount()).isZero();
        plane.close();
        store.close();
    }

    static Stream<GoldenCase> cases() {
        return TestData.cases("txn_chunk");
    }

    @ParameterizedTest
    @MethodSource("cases")
    void writesTheFilesOfTheReference(GoldenCase golden) {
        Map<String, String> meta = golden.meta();
        byte[] expected = golden.bytes("chunk.txn");
        long chunkId = Long.parseUnsignedLong(meta.get("chunk_id"));
        Optional<ShardKey> key = Optional.ofNullable(meta.get("enc.master_key"))
                .map(master -> ShardKey.unwrap(Dumps.bytes(master), Dumps.bytes(meta.get("enc.exported"))));
        Optional<ShardKey> writing =
                key.map(found -> found.withVersion(Integer.parseUnsignedInt(meta.get("enc.writer_version"))));
        plane.close();
        plane = plane(
                Integer.parseInt(meta.get("target_block_size")), writing, CompletableFuture.completedFuture(chunkId));

        TxnChunkAnswer answer = post(body(expected, chunkId, key.orElse(null)));

        assertThat(answer.text()).isEqualTo("{\"chunk_id\":" + Long.toUnsignedString(chunkId) + "}");
        assertThat(stored(chunkId)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "'', body is invalid",
        "000000, body is invalid",
        "00000001, checksum mismatch",
        "010061000200000076312cdc7a76, checksum mismatch",
        "00000000, body has no entries"
    })
    void refusesBodiesOfAnotherForm(String hex, String text) {
        TxnChunkAnswer answer = post(HexFormat.of().parseHex(hex));

        assertThat(answer).isEqualTo(new TxnChunkAnswer(400, text));
        assertThat(isEmpty()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "0200 61, entry is cut",
        "0100 61 00 03000000 7631, entry is cut",
        "0100 61 00 ffffffff 7631, entry is cut",
        "ffff 61 00 02000000 7631, entry is cut",
        "0100 61 03 00000000, unknown mutation: op=3",
        "0100 62 00 00000000 0100 61 00 00000000, mutation is out of order",
        "0100 61 00 00000000 0100 61 00 00000000, mutation is out of order",
        "0000 00 00000000, key of a mutation is out of bounds"
    })
    void refusesEntriesThatCannotBeThoughTheirChecksumIsRight(String hex, String text) {
        TxnChunkAnswer answer = post(signed(HexFormat.of().parseHex(hex.replace(" ", ""))));

        assertThat(answer.httpStatus()).isEqualTo(400);
        assertThat(answer.text()).contains(text);
        assertThat(isEmpty()).isTrue();
    }

    @Test
    void asksForTheKeyThenForAnIdThenLooksAtTheMethodThenAtTheBody() {
        plane.close();
        plane = plane(64, Optional.empty(), CompletableFuture.failedFuture(lost()));

        assertThat(ask(OptionalInt.empty(), Method.POST, ONE))
                .isEqualTo(new TxnChunkAnswer(400, "missing keyspace id"));
        assertThat(ask(OptionalInt.of(KEYSPACE), Method.GET, new byte[0]))
                .isEqualTo(new TxnChunkAnswer(200, "{\"available\":true}"));
        assertThat(ask(OptionalInt.of(KEYSPACE), Method.OTHER, ONE))
                .isEqualTo(new TxnChunkAnswer(500, "failed to create txn chunk file Other(\"PD is \\\"gone\\\"\")"));
        plane.close();
        plane = plane(64, Optional.empty(), CompletableFuture.completedFuture(ID));
        assertThat(ask(OptionalInt.of(KEYSPACE), Method.OTHER, new byte[0]))
                .isEqualTo(new TxnChunkAnswer(400, "invalid method"));
        plane.close();
        plane = plane(new TxnChunkSettings(
                64, keyspace -> CompletableFuture.failedFuture(lost()), () -> CompletableFuture.completedFuture(ID)));
        assertThat(ask(OptionalInt.of(KEYSPACE), Method.GET, ONE))
                .isEqualTo(new TxnChunkAnswer(500, "failed to acquire keyspace info Other(\"PD is \\\"gone\\\"\")"));
        assertThat(isEmpty()).isTrue();
    }

    @Test
    void aStoreThatFailsIsToldAndHoldsNothing() {
        store.close();

        TxnChunkAnswer answer = post(ONE);

        assertThat(answer.httpStatus()).isEqualTo(500);
        assertThat(answer.text()).startsWith("failed to create txn chunk file Other(\"store is closed");
        store = new DirectoryStore(root, "", 2);
        assertThat(isEmpty()).isTrue();
    }

    @Test
    void nothingIsWrittenOnceTheClientIsGone() {
        CompletableFuture<Long> id = new CompletableFuture<>();
        AtomicBoolean gone = new AtomicBoolean();
        plane.close();
        plane = plane(64, Optional.empty(), id);
        CompletableFuture<TxnChunkAnswer> answer = plane.txnChunk(
                new TxnChunkRequest(OptionalInt.of(KEYSPACE), Method.POST, MemorySegment.ofArray(ONE), gone::get));

        gone.set(true);
        id.complete(ID);

        assertThat(answer.join().text()).isEqualTo("client is gone");
        assertThat(isEmpty()).isTrue();
    }

    @Test
    void aClientThatIsGoneBeforeItsTurnCostsNothing() {
        TxnChunkAnswer answer = plane.txnChunk(new TxnChunkRequest(
                        OptionalInt.of(KEYSPACE), Method.POST, MemorySegment.ofArray(ONE), () -> true))
                .join();

        assertThat(answer.text()).isEqualTo("client is gone");
        assertThat(isEmpty()).isTrue();
    }

    @Test
    void withoutAPlacementDriverNothingIsWritten() {
        plane.close();
        plane = plane(TxnChunkSettings.none());

        assertThat(post(ONE))
                .isEqualTo(new TxnChunkAnswer(
                        500, "failed to acquire keyspace info Other(\"no placement driver is configured\")"));
    }

    @Test
    void aClosedPlaneRefusesAsRetryable() {
        plane.close();

        assertThat(post(ONE).httpStatus()).isEqualTo(503);
    }

    /** It may be asked of a service that stalls. */
    @Test
    void whoWaitsForAKeyHoldsNoPermit() {
        plane.close();
        CompletableFuture<Optional<ShardKey>> key = new CompletableFuture<>();
        plane = plane(new TxnChunkSettings(64, keyspace -> key, () -> CompletableFuture.completedFuture(ID)));

        CompletableFuture<TxnChunkAnswer> answer = plane.txnChunk(
                new TxnChunkRequest(OptionalInt.of(KEYSPACE), Method.POST, MemorySegment.ofArray(ONE), () -> false));
        assertThat(answer).isNotDone();
        assertThat(plane.heldPermits()).isZero();

        key.complete(Optional.empty());
        assertThat(answer.join()).isEqualTo(new TxnChunkAnswer(200, "{\"chunk_id\":155}"));
    }

    /** With its retries the store may take many minutes, and both permits are held meanwhile. */
    @Test
    void theStoreHasAMinute() {
        plane.close();
        Clock clock = Clock.system();
        AtomicLong within = new AtomicLong();
        ObjectStore slow = new ObjectStore() {
            @Override
            public ObjectStore within(long deadlineNanos) {
                within.set(deadlineNanos - clock.nanoTime());
                return this;
            }

            @Override
            public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
                return within.get() == 0
                        ? new CompletableFuture<>()
                        : CompletableFuture.failedFuture(new CoplaneException(ErrorCode.DEADLINE, "no time"));
            }

            @Override
            public CompletableFuture<MemorySegment> read(
                    FileKind kind, long fileId, long start, long end, NativeArena arena) {
                return store.read(kind, fileId, start, end, arena);
            }

            @Override
            public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
                return store.byteSize(kind, fileId);
            }

            @Override
            public void close() {
                store.close();
            }
        };
        plane = DataPlane.open(
                DataPlaneConfig.defaults(2, 256 << 20),
                CompactionSettings.defaults(1),
                new TxnChunkSettings(
                        64,
                        keyspace -> CompletableFuture.completedFuture(Optional.empty()),
                        () -> CompletableFuture.completedFuture(ID)),
                slow,
                clock,
                new PrometheusRegistry(),
                (plain, address) -> plain);

        TxnChunkAnswer answer = post(ONE);

        assertThat(answer.httpStatus()).isEqualTo(500);
        assertThat(answer.text()).contains("no time");
        assertThat(within).hasValueBetween(TimeUnit.SECONDS.toNanos(1), TimeUnit.SECONDS.toNanos(60));
    }

    private static CoplaneException lost() {
        return new CoplaneException(ErrorCode.PD_UNAVAILABLE, "PD is \"gone\"");
    }

    private DataPlane plane(int blockBytes, Optional<ShardKey> key, CompletableFuture<Long> id) {
        return plane(new TxnChunkSettings(
                blockBytes,
                keyspace -> {
                    assertThat(keyspace).isEqualTo(KEYSPACE);
                    return CompletableFuture.completedFuture(key);
                },
                () -> id));
    }

    private DataPlane plane(TxnChunkSettings chunks) {
        return DataPlane.open(
                DataPlaneConfig.defaults(2, 256 << 20),
                CompactionSettings.defaults(1),
                chunks,
                store,
                Clock.system(),
                new PrometheusRegistry(),
                (plain, address) -> plain);
    }

    private TxnChunkAnswer post(byte[] body) {
        return ask(OptionalInt.of(KEYSPACE), Method.POST, body);
    }

    private TxnChunkAnswer ask(OptionalInt keyspaceId, Method method, byte[] body) {
        return plane.txnChunk(new TxnChunkRequest(keyspaceId, method, MemorySegment.ofArray(body), () -> false))
                .join();
    }

    private boolean isEmpty() {
        ObjectListing listing = store.list("", 10).join();
        return listing.entries().isEmpty();
    }

    private byte[] stored(long chunkId) {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                NativeArena arena = new NativeArena(guard)) {
            return store.read(FileKind.TXN_CHUNK, chunkId, 0, -1, arena).join().toArray(Layouts.BYTE);
        }
    }

    /** The body that a client would send for the entries of a file. */
    private static byte[] body(byte[] file, long chunkId, ShardKey key) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (MemoryGuard guard = MemoryGuard.unlimited();
                NativeArena arena = new NativeArena(guard)) {
            MemorySegment bytes = arena.allocate(file.length).copyFrom(MemorySegment.ofArray(file));
            TxnChunkCursor cursor = TxnChunkReader.open(bytes, chunkId, key).cursor(arena);
            cursor.first();
            do {
                byte[] innerKey = cursor.copyKey();
                byte[] value = cursor.copyValue();
                out.writeBytes(little(2 + innerKey.length)
                        .putShort((short) innerKey.length)
                        .put(innerKey)
                        .array());
                out.write(cursor.op());
                out.writeBytes(
                        little(4 + value.length).putInt(value.length).put(value).array());
            } while (cursor.next());
        }
        return signed(out.toByteArray());
    }

    private static byte[] signed(byte[] entries) {
        CRC32 crc = new CRC32();
        crc.update(entries);
        return little(entries.length + 4)
                .put(entries)
                .putInt((int) crc.getValue())
                .array();
    }

    private static ByteBuffer little(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
