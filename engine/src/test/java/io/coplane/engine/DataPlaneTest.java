package io.coplane.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.cop.RegionAccessor;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.L0Create;
import io.coplane.proto.enginepb.Snapshot;
import io.coplane.proto.kvrpcpb.Context;
import io.coplane.proto.metapb.Peer;
import io.coplane.proto.tipb.Chunk;
import io.coplane.proto.tipb.ColumnInfo;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.IndexLookUp;
import io.coplane.proto.tipb.IndexScan;
import io.coplane.proto.tipb.IntermediateOutputChannel;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.proto.tipb.TableScan;
import io.coplane.snapshot.MemDataWriter;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.testing.ManualClock;
import io.coplane.testing.NoLeaks;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** worker.md 6.2, 6.5, 7; snapshot.md 1. */
@ExtendWith(NoLeaks.class)
final class DataPlaneTest {
    private static final byte[] NOTHING = {};
    private static final byte[] ROW = HexFormat.of().parseHex("0804038000000000000007"); // column 2 is 7
    private static final long HOUR_MILLIS = 3_600_000;

    @TempDir
    Path root;

    private DirectoryStore store;
    private DataPlane plane;

    @BeforeEach
    void open() {
        store = new DirectoryStore(root, "", 2);
        plane = plane(BlackList.NONE);
    }

    @AfterEach
    void accountIsZero() {
        awaitFreed();
        assertThat(plane.requestsInWork()).isZero();
        plane.close();
        assertThat(plane.memory().usedBytes()).isZero();
        store.close();
    }

    /** What loaded for a request may end after it. */
    private void awaitFreed() {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (plane.memory().usedBytes() != plane.cachedBytes() && System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
        assertThat(plane.memory().usedBytes()).isEqualTo(plane.cachedBytes());
    }

    @ParameterizedTest
    @CsvSource({
        "'', failed to decode cop request",
        "010000, failed to decode cop request",
        "0200000000000000, failed to decode cop request",
        "010000000400000010, failed to decode cop request",
        "0100000000000000, invalid cop request",
        "01000000000000000000000000, invalid cop request",
        "010000000000000000000000ffffffff, failed to decode cop request"
    })
    void answersBodiesOfAnotherFormWithTheReferencesText(String hex, String text) {
        CopAnswer answer = ask(HexFormat.of().parseHex(hex));

        assertThat(answer.httpStatus()).isEqualTo(500);
        assertThat(answer.text()).isEqualTo("Other(\"" + text + "\")");
        assertThat(answer.response()).isNull();
    }

    @Test
    void answersARequestThatIsNoProtobufWith500() {
        CopAnswer answer = ask(RemoteRequestBody.join(new byte[] {0x0a, 0x7f}, NOTHING, NOTHING));

        assertThat(answer.httpStatus()).isEqualTo(500);
        assertThat(answer.response()).isNull();
        assertThat(answer.text()).isNotEmpty();
    }

    @Test
    void answersAChangeSetWithoutSnapshotWithTheReferencesText() {
        CopAnswer answer = ask(HexFormat.of().parseHex("010000000400000010673805" + "00000000" + "00000000"));

        assertThat(answer.httpStatus()).isEqualTo(500);
        assertThat(answer.text()).isEqualTo("RemoteRead(\"no snapshot in change set\")");
        assertThat(answer.tag()).isEqualTo("dag ks0:0:0:5");
    }

    @Test
    void answersAChangeSetThatIsNoProtobufWith500() {
        CopAnswer answer = ask(RemoteRequestBody.join(request(103, 0), NOTHING, new byte[] {0x0a, 0x7f}));

        assertThat(answer.httpStatus()).isEqualTo(500);
    }

    @Test
    void answersAMissingFileWith500AndItsName() {
        CopAnswer answer = ask(RemoteRequestBody.join(request(103, 0), NOTHING, changeSet(0x1001, 100)));

        assertThat(answer.httpStatus()).isEqualTo(500);
        assertThat(answer.text()).contains("4097");
    }

    @Test
    void refusesWhatTheMemoryCapDoesNotAllowAsRetryable() {
        CopAnswer answer = ask(RemoteRequestBody.join(request(103, 0), NOTHING, changeSet(0x1001, (1 << 20) + 7)));

        assertThat(answer.httpStatus()).isEqualTo(503);
        assertThat(answer.text()).isEqualTo("MemoryLimitExceeded(7)");
    }

    /** Two bytes on the wire can be fifty on the heap: what would not fit is not parsed, now or later. */
    @Test
    void refusesARequestWhoseObjectsWouldFillTheHeapForGood() {
        CopAnswer answer = ask(RemoteRequestBody.join(emptyRanges(2), NOTHING, emptyShard()));

        assertThat(answer.httpStatus()).isEqualTo(500);
        assertThat(answer.text()).contains("request is too large to be parsed in this heap");
    }

    @Test
    void aRequestThatMayFillTheAccountOfParsedOnesIsParsedAlone() {
        assertThat(ask(RemoteRequestBody.join(emptyRanges(1), NOTHING, emptyShard()))
                        .text())
                .isEqualTo("Other(\"unsupported tp 0\")");
    }

    /** Slightly more of them than {@code accounts} times the account allows for. */
    private static byte[] emptyRanges(int accounts) {
        byte[] ranges = new byte[Math.toIntExact(Runtime.getRuntime().maxMemory() / 4 * accounts / 48 + 4) / 2 * 2];
        for (int i = 0; i < ranges.length; i += 2) {
            ranges[i] = 0x22; // an empty range
        }
        return ranges;
    }

    @ParameterizedTest
    @CsvSource({"103, 1, remote-cop", "104, 2, analyze", "105, 3, checksum"})
    void refusesListedKeyspacesBeforeAnythingElse(long tp, int keyspaceId, String type) {
        plane.close();
        plane = plane(new BlackList(Set.of(1), Set.of(2), Set.of(3)));

        CopAnswer refused = ask(RemoteRequestBody.join(request(tp, keyspaceId), NOTHING, NOTHING));
        CopAnswer other = ask(RemoteRequestBody.join(request(tp, 9), NOTHING, NOTHING));

        assertThat(refused.httpStatus()).isEqualTo(403);
        assertThat(refused.text()).isEqualTo(type + " requests of keyspace " + keyspaceId + " are in the black list");
        assertThat(other.httpStatus()).isEqualTo(500);
    }

    @Test
    void answersAnUnknownTypeWithOtherError() throws IOException {
        CopAnswer answer = ask(RemoteRequestBody.join(request(77, 0), NOTHING, emptyShard()));

        assertThat(answer.httpStatus()).isEqualTo(500);
        assertThat(Response.parseFrom(answer.response()).getOtherError()).isEqualTo("unsupported tp 77");
        assertThat(answer.text()).isEqualTo("Other(\"unsupported tp 77\")");
    }

    @Test
    void aClosedPlaneRefusesAsRetryable() {
        plane.close();

        assertThat(ask(RemoteRequestBody.join(request(103, 0), NOTHING, NOTHING))
                        .httpStatus())
                .isEqualTo(503);
    }

    /** Index 2 of table 1 has one entry, whose row lies in the same memtable, outside of the request's ranges (coprocessor.md 3.11). */
    @Test
    void looksUpNothingUnlessTheCallerGivesAnAccessor() throws IOException {
        String entry = "7480000000000000015f698000000000000002" + "038000000000000007" + "038000000000000001";
        byte[] memData;
        try (MemoryGuard guard = MemoryGuard.unlimited();
                MemDataWriter rows = new MemDataWriter(guard)) {
            rows.add(HexFormat.of().parseHex(entry), 1, 2, new byte[] {'0'});
            rows.add(
                    HexFormat.of().parseHex("7480000000000000015f728000000000000001"),
                    1,
                    2,
                    HexFormat.of().parseHex("0804038000000000000007"));
            memData = rows.copyV2(NOTHING);
        }
        byte[] body = RemoteRequestBody.join(lookUp(entry), memData, emptyShard());

        SelectResponse remote = select(ask(body));
        SelectResponse inReach = select(plane.coprocessor(new CopRequest(
                        MemorySegment.ofArray(body), Optional.empty(), () -> false, RegionAccessor.WHOLE_SHARD))
                .join());

        assertThat(remote.getChunksList()).isEmpty();
        assertThat(rows(remote.getIntermediateOutputs(0).getChunksList())).isEqualTo("038000000000000001");
        assertThat(rows(inReach.getChunksList())).isEqualTo("038000000000000007");
        assertThat(inReach.getIntermediateOutputs(0).getChunksList()).isEmpty();
    }

    /** worker.md 11: memtable and file sizes, until the end of the execution; the body may go as soon as the memtable is rebuilt. */
    @Test
    void aRequestHoldsWhatItWasAdmittedWithAndNotItsBody() {
        int fileBytes = 1 << 17; // estimate of an L0 file
        HeldStore held = openUncached();
        byte[] memData = memData(1000);
        byte[] body = RemoteRequestBody.join(request(103, 0), memData, changeSet(0x1001, fileBytes));
        CountDownLatch bodyRead = new CountDownLatch(1);

        CompletableFuture<CopAnswer> answer = plane.coprocessor(
                new CopRequest(MemorySegment.ofArray(body), Optional.empty(), () -> false, bodyRead::countDown));
        awaitLatch(bodyRead);
        held.awaitRead();

        assertThat(answer).isNotDone();
        assertThat(plane.memory().usedBytes()).isEqualTo(memData.length + fileBytes);
        held.letGo();
        assertThat(answer.join().text()).contains("4097"); // no such file
        assertThat(plane.memory().usedBytes()).isZero();
    }

    private HeldStore openUncached() {
        plane.close();
        HeldStore held = new HeldStore(store);
        DataPlaneConfig uncached = new DataPlaneConfig(
                2,
                1 << 20,
                0,
                2,
                2,
                32 << 20,
                0,
                BlackList.NONE,
                NOTHING,
                1000,
                1000,
                DataPlaneConfig.defaults(2, 1 << 20).keyspaceMasterKeys());
        plane = DataPlane.open(uncached, held, Clock.system(), new PrometheusRegistry());
        return held;
    }

    @Test
    @Timeout(60)
    void aStoreThatGivesNoAnswerDoesNotKeepThePlaneFromClosing() {
        HeldStore held = openUncached();
        byte[] body = RemoteRequestBody.join(requestWithin(HOUR_MILLIS), NOTHING, changeSet(0x1001, 1 << 17));
        CompletableFuture<CopAnswer> answer = plane.coprocessor(
                new CopRequest(MemorySegment.ofArray(body), Optional.empty(), () -> false, RegionAccessor.NONE));
        held.awaitRead();

        plane.close(Duration.ofMillis(10));

        assertThat(answer.orTimeout(30, TimeUnit.SECONDS).join().httpStatus()).isEqualTo(503);
        held.letGo();
        awaitFreed();
    }

    /** Files may be loaded for somebody else, without a limit: a request does not wait for them beyond its time, nor for a client that is gone. */
    @Test
    @Timeout(60)
    void aRequestWhoseTimeIsOverOrWhoseClientIsGoneDoesNotWaitForFiles() {
        HeldStore held = openUncached();
        byte[] late = RemoteRequestBody.join(requestWithin(30), NOTHING, changeSet(0x1001, 1 << 17));
        byte[] abandoned = RemoteRequestBody.join(requestWithin(HOUR_MILLIS), NOTHING, changeSet(0x1001, 1 << 17));
        AtomicBoolean gone = new AtomicBoolean();

        CompletableFuture<CopAnswer> first = plane.coprocessor(
                new CopRequest(MemorySegment.ofArray(late), Optional.empty(), () -> false, RegionAccessor.NONE));
        CompletableFuture<CopAnswer> second = plane.coprocessor(
                new CopRequest(MemorySegment.ofArray(abandoned), Optional.empty(), gone::get, RegionAccessor.NONE));

        assertThat(first.join().text()).isEqualTo("construct snapshot timeout");
        held.awaitRead();
        gone.set(true);
        assertThat(second.orTimeout(30, TimeUnit.SECONDS).join().httpStatus()).isEqualTo(503);
        assertThat(plane.heldPermits()).isZero();
        assertThat(plane.memory().usedBytes()).as("reads go on").isPositive();
        held.letGo();
        plane.close();
    }

    /** worker.md 6.2, steps 5 and 10: 20 s for permits and snapshot where the request says nothing. */
    @Test
    void aSnapshotThatTakesTooLongIsRetryable() {
        plane.close();
        ManualClock clock = ManualClock.recorded();
        plane = DataPlane.open(DataPlaneConfig.defaults(2, 64 << 20), store, clock, new PrometheusRegistry());

        CopAnswer answer = plane.coprocessor(waitingFor(clock, 11)).join();

        assertThat(answer.httpStatus()).isEqualTo(503);
        assertThat(answer.text()).isEqualTo("construct snapshot timeout");
    }

    /** worker.md 6.4: 60 s of execution where the request says nothing. The clock goes on by a step whenever somebody looks whether he is late. */
    @Test
    void anExecutionThatTakesTooLongIsBusy() throws IOException {
        plane.close();
        ManualClock clock = ManualClock.recorded();
        plane = DataPlane.open(DataPlaneConfig.defaults(2, 64 << 20), store, clock, new PrometheusRegistry());
        long start = clock.nanoTime();

        CopAnswer answer = plane.coprocessor(waitingFor(clock, 2)).join();

        Response response = Response.parseFrom(answer.response());
        assertThat(answer.httpStatus()).isEqualTo(500);
        assertThat(response.getRegionError().getServerIsBusy().getReason()).isEqualTo("deadline is exceeded");
        assertThat(TimeUnit.NANOSECONDS.toSeconds(clock.nanoTime() - start)).isBetween(60L, 84L);
    }

    /** A scan of 60,000 rows, before each check of whose deadline {@code seconds} pass. */
    private static CopRequest waitingFor(ManualClock clock, long seconds) {
        ByteString start = ByteString.copyFrom(HexFormat.of().parseHex("7480000000000000015f72"));
        DAGRequest dag = DAGRequest.newBuilder()
                .addExecutors(Executor.newBuilder()
                        .setTp(ExecType.TypeTableScan)
                        .setTblScan(TableScan.newBuilder()
                                .setTableId(1)
                                .addColumns(
                                        ColumnInfo.newBuilder().setColumnId(2).setTp(8))))
                .addOutputOffsets(0)
                .build();
        byte[] scan = Request.newBuilder()
                .setTp(103)
                .setStartTs(5)
                .setData(dag.toByteString())
                .addRanges(KeyRange.newBuilder().setStart(start).setEnd(start.concat(ByteString.copyFrom(new byte[] {-1
                }))))
                .build()
                .toByteArray();
        return new CopRequest(
                MemorySegment.ofArray(RemoteRequestBody.join(scan, memData(60_000), emptyShard())),
                Optional.empty(),
                () -> {
                    clock.advance(Duration.ofSeconds(seconds));
                    return false;
                },
                RegionAccessor.NONE);
    }

    @Test
    void aBodyThatCannotBeGivenBackIsAnsweredAndLeavesNoPermit() {
        byte[] body = RemoteRequestBody.join(request(103, 0), NOTHING, emptyShard());

        for (Throwable failure : List.of(new IllegalStateException("no body"), new StackOverflowError())) {
            CopAnswer answer = plane.coprocessor(new CopRequest(
                            MemorySegment.ofArray(body), Optional.empty(), () -> false, () -> rethrow(failure)))
                    .orTimeout(30, TimeUnit.SECONDS)
                    .join();

            assertThat(answer.httpStatus()).isEqualTo(500);
            assertThat(plane.heldPermits()).isZero();
        }
    }

    private static void rethrow(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) failure;
    }

    @Test
    void aBodyIsNotCalledReadIfItWasRefusedBefore() {
        AtomicInteger read = new AtomicInteger();

        for (byte[] body : List.of(
                NOTHING,
                RemoteRequestBody.join(request(103, 0), NOTHING, NOTHING),
                RemoteRequestBody.join(request(103, 0), NOTHING, changeSet(0x1001, 1 << 21)))) {
            plane.coprocessor(new CopRequest(
                            MemorySegment.ofArray(body), Optional.empty(), () -> false, read::incrementAndGet))
                    .join();
        }

        assertThat(read).hasValue(0);
    }

    private static byte[] memData(int rows) {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                MemDataWriter writer = new MemDataWriter(guard)) {
            byte[] key = HexFormat.of().parseHex("7480000000000000015f728000000000000000");
            for (int i = 0; i < rows; i++) {
                key[17] = (byte) (i >> 8);
                key[18] = (byte) i;
                writer.add(key, 1, 2, ROW);
            }
            return writer.copyV2(NOTHING);
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** A store whose reads wait until the test lets them go. */
    private static final class HeldStore implements ObjectStore {
        private final ObjectStore store;
        private final CountDownLatch asked = new CountDownLatch(1);
        private final CompletableFuture<Void> gate = new CompletableFuture<>();

        private HeldStore(ObjectStore store) {
            this.store = store;
        }

        void awaitRead() {
            awaitLatch(asked);
        }

        void letGo() {
            gate.complete(null);
        }

        @Override
        public CompletableFuture<MemorySegment> read(
                FileKind kind, long fileId, long start, long end, NativeArena arena) {
            asked.countDown();
            return gate.thenCompose(open -> store.read(kind, fileId, start, end, arena));
        }

        @Override
        public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
            return store.byteSize(kind, fileId);
        }

        @Override
        public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
            return store.put(kind, fileId, bytes);
        }

        @Override
        public void close() {
            store.close();
        }
    }

    private static byte[] lookUp(String entry) {
        ColumnInfo handle = ColumnInfo.newBuilder()
                .setColumnId(1)
                .setTp(8)
                .setPkHandle(true)
                .build();
        ColumnInfo value = ColumnInfo.newBuilder().setColumnId(2).setTp(8).build();
        DAGRequest dag = DAGRequest.newBuilder()
                .addExecutors(Executor.newBuilder()
                        .setTp(ExecType.TypeIndexScan)
                        .setParentIdx(2)
                        .setIdxScan(IndexScan.newBuilder().addColumns(value).addColumns(handle)))
                .addExecutors(Executor.newBuilder()
                        .setTp(ExecType.TypeTableScan)
                        .setTblScan(TableScan.newBuilder().setTableId(1).addColumns(value)))
                .addExecutors(Executor.newBuilder()
                        .setTp(ExecType.TypeIndexLookUp)
                        .setIndexLookup(IndexLookUp.newBuilder().addIndexHandleOffsets(1)))
                .addOutputOffsets(0)
                .addIntermediateOutputChannels(
                        IntermediateOutputChannel.newBuilder().setExecutorIdx(2).addOutputOffsets(1))
                .build();
        ByteString start = ByteString.copyFrom(HexFormat.of().parseHex(entry));
        return Request.newBuilder()
                .setTp(103)
                .setStartTs(5)
                .setContext(Context.newBuilder().setPeer(Peer.newBuilder().setId(1)))
                .setData(dag.toByteString())
                .addRanges(KeyRange.newBuilder().setStart(start).setEnd(start.concat(ByteString.copyFrom(new byte[1]))))
                .build()
                .toByteArray();
    }

    private static SelectResponse select(CopAnswer answer) throws IOException {
        assertThat(answer.text()).isEmpty();
        return SelectResponse.parseFrom(Response.parseFrom(answer.response()).getData());
    }

    private static String rows(List<Chunk> chunks) {
        StringBuilder rows = new StringBuilder();
        chunks.forEach(chunk ->
                rows.append(HexFormat.of().formatHex(chunk.getRowsData().toByteArray())));
        return rows.toString();
    }

    private DataPlane plane(BlackList blackList) {
        DataPlaneConfig defaults = DataPlaneConfig.defaults(2, 1 << 20);
        DataPlaneConfig config = new DataPlaneConfig(
                2,
                1 << 20,
                1 << 18,
                defaults.globalPermits(),
                defaults.keyspacePermits(),
                32 << 20,
                0,
                blackList,
                NOTHING,
                defaults.chunkTtlMillis(),
                defaults.chunkSweepMillis(),
                defaults.keyspaceMasterKeys());
        return DataPlane.open(config, store, Clock.system(), new PrometheusRegistry());
    }

    private CopAnswer ask(byte[] body) {
        return plane.coprocessor(new CopRequest(MemorySegment.ofArray(body), Optional.empty()))
                .join();
    }

    private static byte[] request(long tp, int keyspaceId) {
        return Request.newBuilder()
                .setTp(tp)
                .setContext(Context.newBuilder().setKeyspaceId(keyspaceId))
                .setStartTs(5)
                .build()
                .toByteArray();
    }

    private static byte[] requestWithin(long millis) {
        return Request.newBuilder()
                .setTp(103)
                .setContext(Context.newBuilder().setMaxExecutionDurationMs(millis))
                .build()
                .toByteArray();
    }

    private static Snapshot.Builder shard() {
        return Snapshot.newBuilder().setOuterStart(bytes("t")).setOuterEnd(bytes("u"));
    }

    private static byte[] emptyShard() {
        return ChangeSet.newBuilder().setSnapshot(shard()).build().toByteArray();
    }

    private static byte[] changeSet(long fileId, int fileBytes) {
        L0Create l0 = L0Create.newBuilder()
                .setID(fileId)
                .setSmallest(bytes("t"))
                .setBiggest(bytes("tz"))
                .setSize(fileBytes)
                .build();
        return ChangeSet.newBuilder()
                .setSnapshot(shard().addL0Creates(l0))
                .build()
                .toByteArray();
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFrom(text, StandardCharsets.US_ASCII);
    }
}
