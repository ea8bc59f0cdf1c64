package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.ColumnarCreate;
import io.coplane.proto.enginepb.L0Create;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.proto.enginepb.TxnFileRef;
import io.coplane.proto.enginepb.TxnFileRefs;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.CompressionType;
import io.coplane.sst.L0Builder;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstFile;
import io.coplane.sst.SstOptions;
import io.coplane.testing.Dumps;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class SnapshotBuilderTest {
    private static final byte[] NO_BYTES = {};

    private final MemoryLimiter limiter = new MemoryLimiter(1 << 20);
    private final FolderStore store = new FolderStore(null);
    private final ChangeSet.Builder changeSet =
            ChangeSet.newBuilder().setShardID(7).setShardVer(10);

    SnapshotBuilderTest() {
        changeSet
                .getSnapshotBuilder()
                .setOuterStart(ByteString.copyFrom(Dumps.bytes("7800002a")))
                .setOuterEnd(ByteString.copyFrom(Dumps.bytes("7800002b")));
    }

    @AfterEach
    void accountIsZero() {
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void readsTheMemtableOfTheSpec() { // snapshot.md 8.2
        String key = "7800002a74800000000000007b5f728000000000000001";
        byte[] memData =
                memData(new Row(Dumps.bytes(key), 100, 200, utf8("v1")), new Row(Dumps.bytes(key), 300, 400, NO_BYTES));

        try (Snapshot snapshot = build(memData)) {
            assertThat(scan(snapshot, 199)).isEmpty();
            assertThat(scan(snapshot, 200)).containsExactly(key + " 200 v1");
            assertThat(scan(snapshot, 399)).containsExactly(key + " 200 v1");
            assertThat(scan(snapshot, 400)).isEmpty();
            assertThat(scan(snapshot, -1)).isEmpty();
            assertThat(snapshot.shardId()).isEqualTo(7);
            assertThat(snapshot.shardVersion()).isEqualTo(10);
        }
    }

    @Test
    void neverReadsLocks() { // snapshot.md 6.6
        byte[] lock = Dumps.bytes("5004706b010a");
        addL0(1, 9, builder -> {
            add(builder.family(ColumnFamily.WRITE), "ka", 5, "old");
            add(builder.family(ColumnFamily.LOCK), "ka", 9, lock);
            add(builder.family(ColumnFamily.LOCK), "kb", 9, lock);
            add(builder.family(ColumnFamily.EXTRA), "kc12345678", 9, lock);
        });
        addL0(2, 8, builder -> add(builder.family(ColumnFamily.LOCK), "kd", 8, lock));
        changeSet // their files don't exist: nobody may ask for them
                .getSnapshotBuilder()
                .addTableCreates(TableCreate.newBuilder().setID(3).setLevel(1).setCF(1))
                .addTableCreates(TableCreate.newBuilder().setID(4).setLevel(2).setCF(1))
                .addTableCreates(TableCreate.newBuilder().setID(5).setLevel(1).setCF(2));

        try (Snapshot snapshot = build(NO_BYTES)) {
            assertThat(scan(snapshot, -1)).containsExactly("7800002a6b61 5 old");
            var statistics = new ReadStatistics();
            try (PointReader reader = snapshot.pointReader(-1, statistics, ReaderThreads.CALLER);
                    var rows = new RowBuffer(snapshot.guard())) {
                assertThat(reader.get(outer("kb"), rows)).isFalse();
                assertThat(reader.get(outer("kd"), rows)).isFalse();
                assertThat(reader.get(outer("ka"), rows)).isTrue();
            }
            assertThat(statistics.processedKeys()).isEqualTo(3);
            assertThat(statistics.processedBytes()).isEqualTo(3 * 9 + 3);
        }
    }

    @Test
    void countsDeletesButNotTombstones() {
        addTable(1, 1, builder -> {
            add(builder, "a", 5, "123");
            add(builder, "b", 5, "");
            builder.add(utf8("c"), 0, 1, 5, 1, NO_BYTES, 0, 0, NO_BYTES, 0, 0);
        });

        try (Snapshot snapshot = build(NO_BYTES)) {
            var statistics = new ReadStatistics();
            try (SnapshotScanner scanner =
                            snapshot.scanner(-1, false, statistics, DeadlineCheck.NONE, ReaderThreads.CALLER);
                    var rows = new RowBuffer(snapshot.guard())) {
                scanner.setRange(Dumps.bytes("7800002a"), Dumps.bytes("7800002b"));
                assertThat(scanner.fill(rows, 10)).isEqualTo(1);
            }
            assertThat(statistics.processedKeys()).isEqualTo(2);
            assertThat(statistics.processedBytes()).isEqualTo(5 + 3 + 5);
        }
    }

    @Test
    void refusesRangesBeyondTheShardWithTheReferencesText() { // snapshot.md 6.7
        try (Snapshot snapshot = build(NO_BYTES);
                SnapshotScanner scanner =
                        snapshot.scanner(1, false, new ReadStatistics(), DeadlineCheck.NONE, ReaderThreads.CALLER)) {
            assertThatThrownBy(() -> scanner.setRange(Dumps.bytes("78000029ff"), Dumps.bytes("7800002a")))
                    .hasMessage("Request range exceeds bound, request range:"
                            + "[78000029FF000000FC, 7800002A00000000FB), "
                            + "physical bound:[7800002A00000000FB, 7800002B00000000FB)")
                    .extracting(e -> ((CoplaneException) e).code())
                    .isEqualTo(ErrorCode.BAD_KEY_RANGE);
            assertThatThrownBy(() -> scanner.setRange(Dumps.bytes("7800002a"), Dumps.bytes("7800002b00")))
                    .extracting(e -> ((CoplaneException) e).code())
                    .isEqualTo(ErrorCode.BAD_KEY_RANGE);
        }
    }

    @Test
    void takesKeysOutsideTheShardAsAbsent() {
        try (Snapshot snapshot = build(memData(new Row(Dumps.bytes("7800002b01"), 1, 2, utf8("v"))));
                PointReader reader = snapshot.pointReader(-1, new ReadStatistics(), ReaderThreads.CALLER);
                var rows = new RowBuffer(snapshot.guard())) {
            assertThat(reader.get(Dumps.bytes("7800002b01"), rows)).isFalse();
            assertThat(reader.get(Dumps.bytes("7800002901"), rows)).isFalse();
        }
    }

    @Test
    void admitsMemDataAndEstimate() {
        addTable(1, 1, builder -> add(builder, "a", 5, "1"));
        changeSet.getSnapshotBuilder().getTableCreatesBuilder(0).setMetaOffset(1 << 20);

        assertThatThrownBy(() -> build(memData(new Row(outer("b"), 1, 2, utf8("v")))))
                .cause()
                .isInstanceOfSatisfying(
                        MemoryLimitException.class,
                        e -> assertThat(e.exceededBytes()).isEqualTo(4 + 8 + 32 + 5 + 1));
    }

    @Test
    void failsAsMemoryLimitWhenFilesAreLargerThanTheirEstimate() {
        byte[] large = new byte[1 << 20];
        store.put(FileKind.SST, 1, large);
        changeSet.getSnapshotBuilder().addL0Creates(L0Create.newBuilder().setID(1));

        assertThatThrownBy(() -> build(NO_BYTES)).cause().isInstanceOf(CoplaneException.class); // not an L0 file
        store.put(FileKind.SST, 1, new byte[(1 << 20) + 1]);
        assertThatThrownBy(() -> build(NO_BYTES)).cause().isInstanceOf(MemoryLimitException.class);
    }

    @Test
    void collectsErrorsOfReads() {
        addTable(1, 1, builder -> add(builder, "a", 5, "1"));
        changeSet
                .getSnapshotBuilder()
                .addL0Creates(L0Create.newBuilder().setID(0x10))
                .addL0Creates(L0Create.newBuilder().setID(0x11));

        assertThatThrownBy(() -> build(NO_BYTES))
                .cause()
                .hasMessageStartingWith("errors is not empty: [")
                .hasMessageContaining("0000000000000010.sst")
                .hasMessageContaining("0000000000000011.sst")
                .extracting(e -> ((CoplaneException) e).code())
                .isEqualTo(ErrorCode.FILE_NOT_FOUND);
    }

    @Test
    void refusesOverlappingTablesOfOneLevel() {
        addTable(1, 2, builder -> {
            add(builder, "a", 5, "1");
            add(builder, "c", 5, "1");
        });
        addTable(2, 2, builder -> add(builder, "c", 4, "2"));

        assertThat(codeOfBuild(NO_BYTES)).isEqualTo(ErrorCode.BAD_CHANGE_SET);
    }

    @Test
    void refusesWhatItCannotRead() {
        byte[] refs = TxnFileRefs.newBuilder()
                .addTxnFileRefs(
                        TxnFileRef.newBuilder().setStartTs(1).setLockValPrefix(ByteString.copyFrom(new byte[1])))
                .build()
                .toByteArray();
        try (var writer = new MemDataWriter(MemoryGuard.unlimited())) {
            assertThat(codeOfBuild(writer.copyV2(refs))).isEqualTo(ErrorCode.UNSUPPORTED);
        }
        assertThat(codeOfBuild(Dumps.bytes("03000000"))).isEqualTo(ErrorCode.BAD_MEM_DATA);

        changeSet
                .getSnapshotBuilder()
                .addColumnarCreates(ColumnarCreate.newBuilder().setID(9));
        build(NO_BYTES).close();
        var all = new SnapshotBuilder(store, limiter, Runnable::run, NO_BYTES, PrepareType.ALL);
        assertThatThrownBy(() -> all.build(MemorySegment.ofArray(NO_BYTES), snapData(), DeadlineCheck.NONE)
                        .join())
                .cause()
                .extracting(e -> ((CoplaneException) e).code())
                .isEqualTo(ErrorCode.UNSUPPORTED);
    }

    @Test
    void namesTheTxnChunkThatDoesNotLoad() { // snapshot.md 7.7
        byte[] refs = TxnFileRefs.newBuilder()
                .addTxnFileRefs(TxnFileRef.newBuilder().setStartTs(1).addChunkIds(77))
                .build()
                .toByteArray();
        try (var writer = new MemDataWriter(MemoryGuard.unlimited())) {
            assertThatThrownBy(() -> build(writer.copyV2(refs)))
                    .cause()
                    .hasMessage("read_txn_chunk failed: no such file: 000000000000004d.txn, chunk_id 77")
                    .extracting(e -> ((CoplaneException) e).code())
                    .isEqualTo(ErrorCode.FILE_NOT_FOUND);
        }
    }

    @Test
    void refusesBadEncryptionKeys() {
        changeSet
                .getSnapshotBuilder()
                .getPropertiesBuilder()
                .addKeys("_encryption")
                .addValues(ByteString.copyFrom(new byte[69]));

        assertThat(codeOfBuild(NO_BYTES)).isEqualTo(ErrorCode.BAD_ENCRYPTION_KEY);
    }

    @Test
    void stopsAtTheDeadline() {
        addTable(1, 1, builder -> add(builder, "a", 5, "1"));
        byte[] memData = memData(new Row(outer("b"), 1, 2, utf8("v")));
        for (int allowed = 0; ; allowed++) {
            var checks = new AtomicInteger(allowed);
            DeadlineCheck deadline = () -> {
                if (checks.getAndDecrement() == 0) {
                    throw new CoplaneException(ErrorCode.DEADLINE, "over");
                }
            };
            try (Snapshot snapshot = builder()
                    .build(MemorySegment.ofArray(memData), snapData(), deadline)
                    .join()) {
                assertThat(snapshot.shardId()).isEqualTo(7);
                assertThat(allowed).isGreaterThan(1);
                return;
            } catch (CompletionException e) {
                assertThat(((CoplaneException) e.getCause()).code()).isEqualTo(ErrorCode.DEADLINE);
                NoLeaks.assertNoNativeBytes();
                assertThat(limiter.usedBytes()).isZero();
            }
        }
    }

    @Test
    void freesAllWhenAReadOrTheCallerFailsByABug() {
        addTable(1, 1, builder -> add(builder, "a", 5, "1"));
        MemorySegment memData = MemorySegment.ofArray(memData(new Row(outer("b"), 1, 2, utf8("v"))));
        Runnable broken = () -> {
            throw new StackOverflowError();
        };
        ObjectStore brokenStore = new ObjectStore() {
            @Override
            public CompletableFuture<MemorySegment> read(
                    FileKind kind, long fileId, long start, long end, NativeArena arena) {
                throw new StackOverflowError();
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
        };

        for (var loading : List.of(
                builder().build(memData, snapData(), broken, DeadlineCheck.NONE, store),
                builder().build(memData, snapData(), () -> {}, DeadlineCheck.NONE, brokenStore))) {
            assertThatThrownBy(() -> loading.orTimeout(30, TimeUnit.SECONDS).join())
                    .hasRootCauseInstanceOf(StackOverflowError.class);
            NoLeaks.assertNoNativeBytes();
            assertThat(limiter.usedBytes()).isZero();
        }
    }

    @Test
    void freesAllWhenThePoolIsShutDown() {
        addTable(1, 1, builder -> add(builder, "a", 5, "1"));
        for (int allowed = 0; allowed < 2; allowed++) {
            var tasks = new AtomicInteger(allowed);
            var builder = new SnapshotBuilder(
                    store,
                    limiter,
                    task -> {
                        if (tasks.getAndDecrement() == 0) {
                            throw new RejectedExecutionException();
                        }
                        task.run();
                    },
                    NO_BYTES);
            assertThatThrownBy(() -> builder.build(MemorySegment.ofArray(NO_BYTES), snapData(), DeadlineCheck.NONE)
                            .join())
                    .cause()
                    .extracting(e -> ((CoplaneException) e).code())
                    .isEqualTo(ErrorCode.SHUTTING_DOWN);
            NoLeaks.assertNoNativeBytes();
            assertThat(limiter.usedBytes()).isZero();
        }
    }

    @Test
    void prefersNewerSourceAtEqualVersions() {
        addL0(1, 9, builder -> add(builder.family(ColumnFamily.WRITE), "k", 5, "l0 9"));
        addL0(2, 8, builder -> add(builder.family(ColumnFamily.WRITE), "k", 5, "l0 8"));
        addTable(3, 1, builder -> add(builder, "k", 5, "level 1"));

        try (Snapshot snapshot = build(NO_BYTES)) {
            assertThat(scan(snapshot, -1)).containsExactly("7800002a6b 5 l0 9");
        }
        try (Snapshot snapshot = build(memData(new Row(outer("k"), 4, 5, utf8("mem"))))) {
            assertThat(scan(snapshot, -1)).containsExactly("7800002a6b 5 mem");
        }
    }

    private record Row(byte[] key, long startTs, long commitTs, byte[] value) {}

    private static byte[] memData(Row... rows) {
        try (var writer = new MemDataWriter(MemoryGuard.unlimited())) {
            for (Row row : rows) {
                writer.add(row.key, row.startTs, row.commitTs, row.value);
            }
            return writer.copyV1();
        }
    }

    private interface Filler<T> {
        void fill(T builder);
    }

    private void addL0(long id, long snapVersion, Filler<L0Builder> filler) {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard);
                var builder = new L0Builder(SstOptions.of(CompressionType.NONE), id, snapVersion, guard)) {
            filler.fill(builder);
            put(builder.finish(arena));
        }
        changeSet.getSnapshotBuilder().addL0Creates(L0Create.newBuilder().setID(id));
    }

    private void addTable(long id, int level, Filler<SstBuilder> filler) {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard);
                var builder = new SstBuilder(SstOptions.of(CompressionType.LZ4), id, false, guard)) {
            filler.fill(builder);
            put(builder.finish(arena));
        }
        changeSet
                .getSnapshotBuilder()
                .addTableCreates(TableCreate.newBuilder().setID(id).setLevel(level));
    }

    private void put(SstFile file) {
        store.put(FileKind.SST, file.fileId(), file.bytes().toArray(ValueLayout.JAVA_BYTE));
    }

    private static void add(SstBuilder builder, String key, long version, String value) {
        add(builder, key, version, utf8(value));
    }

    private static void add(SstBuilder builder, String key, long version, byte[] value) {
        byte[] bytes = utf8(key);
        builder.add(bytes, 0, bytes.length, version, 0, NO_BYTES, 0, 0, value, 0, value.length);
    }

    private SnapshotBuilder builder() {
        return new SnapshotBuilder(store, limiter, Runnable::run, new byte[32]);
    }

    private MemorySegment snapData() {
        return MemorySegment.ofArray(changeSet.build().toByteArray());
    }

    private Snapshot build(byte[] memData) {
        return builder()
                .build(MemorySegment.ofArray(memData), snapData(), DeadlineCheck.NONE)
                .join();
    }

    private ErrorCode codeOfBuild(byte[] memData) {
        try (Snapshot snapshot = build(memData)) {
            throw new AssertionError("was built: shard=" + snapshot.shardId());
        } catch (CompletionException e) {
            return ((CoplaneException) e.getCause()).code();
        }
    }

    private static byte[] outer(String key) {
        return Dumps.bytes("7800002a" + Dumps.hex(utf8(key)));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> scan(Snapshot snapshot, long readTs) {
        var lines = new ArrayList<String>();
        try (SnapshotScanner scanner = snapshot.scanner(
                        readTs, false, new ReadStatistics(), DeadlineCheck.NONE, ReaderThreads.CALLER);
                var rows = new RowBuffer(snapshot.guard())) {
            scanner.setRange(snapshot.outerStart(), snapshot.outerEnd());
            scanner.fill(rows, Integer.MAX_VALUE);
            for (int i = 0; i < rows.rows(); i++) {
                lines.add(HexOf.key(rows, i) + " " + rows.commitTs()[i] + " "
                        + new String(
                                rows.bytes(), rows.valueStarts()[i], rows.valueLengths()[i], StandardCharsets.UTF_8));
            }
        }
        return lines;
    }

    private static final class HexOf {
        static String key(RowBuffer rows, int i) {
            int start = rows.keyStarts()[i];
            return Dumps.hex(Arrays.copyOfRange(rows.bytes(), start, start + rows.keyLengths()[i]));
        }
    }
}
