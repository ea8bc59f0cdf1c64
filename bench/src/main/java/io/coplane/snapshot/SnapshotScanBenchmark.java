package io.coplane.snapshot;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.L0Create;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.CompressionType;
import io.coplane.sst.L0Builder;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstData;
import io.coplane.sst.SstFile;
import io.coplane.sst.SstOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does the merge cost above the scan of one table, when there is one source ({@code LN}), when newer rows lie in a memtable and two L0 files
 * ({@code MIXED}: a tenth of the keys each), and when all rows are in the memtable? In milliseconds for the 100,000 rows of
 * {@code testdata/reference-storage-speed.tsv}, copied to row buffers of 1,024 rows. {@link SnapshotTable} puts the figures beside the
 * reference's table scan. Expected: LN about the table's scan and a copy.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 6, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class SnapshotScanBenchmark {
    private static final int BATCH_ROWS = 1_024;
    private static final int POINTS = 100_000;

    /** Where the rows are. */
    public enum Shape {
        LN,
        MIXED,
        MEM
    }

    @Param({"LN", "MIXED", "MEM"})
    Shape shape;

    @Param({"NONE", "LZ4", "ZSTD"})
    CompressionType compression;

    private final Map<Long, byte[]> files = new HashMap<>();
    private final ChangeSet.Builder changeSet = ChangeSet.newBuilder();
    private byte[] memData;
    private MemoryLimiter limiter;
    private Snapshot snapshot;
    private RowBuffer rows;
    private byte[][] points;

    /** Lays out the shard and checks what a scan gives. */
    @Setup(Level.Trial)
    public void setUp() {
        limiter = new MemoryLimiter(4L << 30);
        changeSet.getSnapshotBuilder().setOuterEnd(ByteString.copyFrom(InnerKeys.globalEnd()));
        var random = new SplittableRandom(1);
        int[] source = new int[SstData.ROWS]; // of a key's newest version
        for (int i = 0; i < source.length; i++) {
            int draw = random.nextInt(10);
            source[i] = shape == Shape.MEM ? 0 : shape == Shape.LN || draw > 2 ? 3 : draw;
        }
        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard);
                var memtable = new MemDataWriter(guard)) {
            var options = SstOptions.of(compression);
            for (int i = 0; i < source.length; i++) {
                if (source[i] == 0) {
                    memtable.add(SstData.key(i), 1_999, 2_000, SstData.value(i, 2_000));
                }
            }
            memData = memtable.copyV1();
            for (int l0 = 1; l0 <= 2 && shape == Shape.MIXED; l0++) {
                try (var builder = new L0Builder(options, l0, 100 - l0, guard)) {
                    addAll(builder.family(ColumnFamily.WRITE), source, l0, 2_000);
                    put(builder.finish(arena));
                    changeSet
                            .getSnapshotBuilder()
                            .addL0Creates(L0Create.newBuilder().setID(l0));
                }
            }
            if (shape != Shape.MEM) {
                try (var builder = new SstBuilder(options, 3, false, guard)) {
                    addAll(builder, source, 3, SstData.VERSION);
                    put(builder.finish(arena));
                    changeSet
                            .getSnapshotBuilder()
                            .addTableCreates(TableCreate.newBuilder().setID(3).setLevel(1));
                }
            }
        }
        snapshot = new SnapshotBuilder(new HeapStore(files), limiter, Runnable::run, new byte[0])
                .build(MemorySegment.ofArray(memData), snapData(), DeadlineCheck.NONE)
                .join();
        rows = new RowBuffer(snapshot.guard());
        points = random.ints(POINTS, 0, SstData.ROWS).mapToObj(SstData::key).toArray(byte[][]::new);
        if (scanForward() != scanReverse() || points() != POINTS) {
            throw new AssertionError("the scans differ");
        }
    }

    /** The level's table holds all keys, the others those whose newest version they hold. */
    private static void addAll(SstBuilder builder, int[] source, int number, long version) {
        byte[] userMeta = SstData.userMeta(version);
        for (int i = 0; i < source.length; i++) {
            if (number == 3 || source[i] == number) {
                byte[] key = SstData.key(i);
                byte[] value = SstData.value(i, version);
                builder.add(key, 0, key.length, version, 0, userMeta, 0, userMeta.length, value, 0, value.length);
            }
        }
    }

    private void put(SstFile file) {
        files.put(file.fileId(), file.bytes().toArray(ValueLayout.JAVA_BYTE));
    }

    private MemorySegment snapData() {
        return MemorySegment.ofArray(changeSet.build().toByteArray());
    }

    /** Frees the snapshot. */
    @TearDown(Level.Trial)
    public void tearDown() {
        rows.close();
        snapshot.close();
    }

    /** All rows, keys ascending. */
    @Benchmark
    public long scanForward() {
        return scan(false);
    }

    /** All rows, keys descending. */
    @Benchmark
    public long scanReverse() {
        return scan(true);
    }

    private long scan(boolean reverse) {
        long sum = 0;
        try (SnapshotScanner scanner =
                snapshot.scanner(5_000, reverse, new ReadStatistics(), DeadlineCheck.NONE, ReaderThreads.CALLER)) {
            scanner.setRange(SstData.key(0), SstData.key(SstData.ROWS));
            int filled;
            do {
                rows.clear();
                filled = scanner.fill(rows, BATCH_ROWS);
                sum += rows.byteCount() + filled;
            } while (filled == BATCH_ROWS);
        }
        return sum;
    }

    /** All visible versions, keys ascending, without copying rows. */
    @Benchmark
    public long merge() {
        long sum = 0;
        try (var arena = new NativeArena(snapshot.guard())) {
            var cursor = new VisibleCursor(snapshot.sources(), 5_000, false, DeadlineCheck.NONE, arena);
            cursor.setRange(SstData.key(0), SstData.key(SstData.ROWS));
            while (cursor.next()) {
                sum += cursor.current().valueLength();
            }
        }
        return sum;
    }

    /** 100,000 point gets of present keys. */
    @Benchmark
    public long points() {
        if (compression != CompressionType.NONE) {
            return POINTS; // nothing but decompression would be measured
        }
        long found = 0;
        try (PointReader reader = snapshot.pointReader(5_000, new ReadStatistics(), ReaderThreads.CALLER)) {
            for (byte[] key : points) {
                rows.clear();
                found += reader.get(key, rows) ? 1 : 0;
            }
        }
        return found;
    }

    /** From request parts to a snapshot, files in heap memory. */
    @Benchmark
    public long build() {
        try (Snapshot built = new SnapshotBuilder(new HeapStore(files), limiter, Runnable::run, new byte[0])
                .build(MemorySegment.ofArray(memData), snapData(), DeadlineCheck.NONE)
                .join()) {
            return built.guard().chargedBytes();
        }
    }

    private record HeapStore(Map<Long, byte[]> files) implements ObjectStore {
        @Override
        public CompletableFuture<MemorySegment> read(
                FileKind kind, long fileId, long start, long end, NativeArena arena) {
            byte[] bytes = files.get(fileId);
            MemorySegment into = arena.allocate(bytes.length);
            into.copyFrom(MemorySegment.ofArray(bytes));
            return CompletableFuture.completedFuture(into);
        }

        @Override
        public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
            return CompletableFuture.completedFuture((long) files.get(fileId).length);
        }

        @Override
        public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }
}
