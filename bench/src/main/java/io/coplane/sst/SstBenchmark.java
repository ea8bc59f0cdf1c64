package io.coplane.sst;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdInputStream;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import net.jpountz.lz4.LZ4Factory;
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
 * How do table builder, scan and point lookup compare with the reference ({@code testdata/reference-storage-speed.tsv}) and with the codec alone?
 * All in milliseconds for the whole table of 100,000 rows. Compare {@code ours / calibrator} with {@code the reference's / 15.6}; {@link SstTable}
 * does it. Expected: scan at most a third above the codec alone.
 *
 * <p>Run from the project root, or with {@code -Dcoplane.testdata}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 5, time = 400, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 15, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class SstBenchmark {
    /** Compression of the table. */
    @Param({"NONE", "LZ4", "ZSTD"})
    CompressionType compression;

    private MemoryGuard guard;
    private NativeArena arena;
    private SstReader reader;
    private TableCursor cursor;
    private MemorySegment codecOut;
    private MemorySegment packed;
    private MemorySegment unpacked;
    private byte[][] keys;
    private byte[][] values;
    private byte[] userMeta;
    private byte[][] lookups;
    private final ZstdDecompressCtx zstd = new ZstdDecompressCtx();
    private byte[] copied = new byte[256];

    /** Builds the table and checks that a scan gives the rows back. */
    @Setup(Level.Trial)
    public void setUp() throws IOException {
        guard = MemoryGuard.unlimited();
        arena = new NativeArena(guard);
        keys = new byte[SstData.ROWS][];
        values = new byte[SstData.ROWS][];
        userMeta = SstData.userMeta(SstData.VERSION);
        for (int i = 0; i < SstData.ROWS; i++) {
            keys[i] = SstData.key(i);
            values[i] = SstData.value(i, SstData.VERSION);
        }
        lookups = new SplittableRandom(1)
                .ints(SstData.ROWS, 0, SstData.ROWS)
                .mapToObj(i -> keys[i])
                .toArray(byte[][]::new);
        try (SstBuilder builder = builder()) {
            reader = SstReader.open(addAll(builder).finish(arena).bytes(), 1, 1, null);
        }
        cursor = reader.cursor(false, arena);
        int rows = 0;
        for (boolean more = cursor.rewind(); more; more = cursor.next()) {
            if (!Arrays.equals(cursor.copyKey(), keys[rows]) || !Arrays.equals(cursor.copyValue(), values[rows])) {
                throw new AssertionError("row " + rows + " is another one");
            }
            rows++;
        }
        if (rows != SstData.ROWS) {
            throw new AssertionError("rows=" + rows);
        }
        codecOut = arena.allocate(1 << 20);
        loadCalibrator();
    }

    private void loadCalibrator() throws IOException {
        Path file = Path.of(System.getProperty("coplane.testdata", "testdata"), "corpus/analytic.mvcc.zst");
        byte[] bytes = Files.readAllBytes(file);
        packed = arena.allocate(bytes.length);
        packed.copyFrom(MemorySegment.ofArray(bytes));
        long size = 0;
        try (var in = new ZstdInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            byte[] buffer = new byte[1 << 16];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                size += read;
            }
        }
        unpacked = arena.allocate(size);
    }

    /** Frees the table. */
    @TearDown(Level.Trial)
    public void tearDown() {
        zstd.close();
        arena.close();
        guard.close();
    }

    private SstBuilder builder() {
        var options = new SstOptions(64 << 10, compression, 3, ChecksumType.CRC32C, null);
        return new SstBuilder(options, 1, false, guard);
    }

    private SstBuilder addAll(SstBuilder builder) {
        for (int i = 0; i < SstData.ROWS; i++) {
            byte[] key = keys[i];
            byte[] value = values[i];
            builder.add(key, 0, key.length, SstData.VERSION, 0, userMeta, 0, userMeta.length, value, 0, value.length);
        }
        return builder;
    }

    /** Unit of speed: one file of recorded data decompressed whole. */
    @Benchmark
    public long calibrator() {
        return Zstd.decompressUnsafe(unpacked.address(), unpacked.byteSize(), packed.address(), packed.byteSize());
    }

    /** A file in memory from rows. */
    @Benchmark
    public long build() {
        try (SstBuilder builder = builder()) {
            return addAll(builder).finish().bytes().byteSize();
        }
    }

    /** All rows of a file that was just opened: every checksum is verified. */
    @Benchmark
    public long scan() {
        SstReader fresh = SstReader.open(reader.blocks().bytes, 1, 1, null);
        try (NativeArena scratch = new NativeArena(guard)) {
            return walk(fresh.cursor(false, scratch));
        }
    }

    /** All rows of a file that was scanned before. */
    @Benchmark
    public long scanAgain() {
        return walk(cursor);
    }

    private static long walk(TableCursor over) {
        long sum = 0;
        for (boolean more = over.rewind(); more; more = over.next()) {
            sum += over.keyBytes()[over.keyLength() - 1]
                    + over.version()
                    + over.valueLength()
                    + over.valueSegment().get(Layouts.BYTE, over.valueOffset());
        }
        return sum;
    }

    /** All blocks of a file that was just opened, made readable: checksum, decompression, header; no entries. */
    @Benchmark
    public long decode() {
        return decodeAll(SstReader.open(reader.blocks().bytes, 1, 1, null).blocks());
    }

    /** All blocks of a file that was read before: checksums are not verified again. */
    @Benchmark
    public long decodeAgain() {
        return decodeAll(reader.blocks());
    }

    private long decodeAll(BlockTable table) {
        long entries = 0;
        try (NativeArena scratch = new NativeArena(guard)) {
            var loader = new BlockLoader(scratch);
            var view = new BlockView();
            for (int i = 0; i < table.index.count(); i++) {
                loader.loadUnordered(table, false, i, view);
                entries += view.count;
            }
        }
        return entries;
    }

    /** The blocks of the file through the codec alone: no checksum, no entries. */
    @Benchmark
    public long codec() {
        BlockTable table = reader.blocks();
        long sum = 0;
        var lz4 = LZ4Factory.fastestInstance().safeDecompressor();
        var out = codecOut.asByteBuffer();
        for (int i = 0; i < table.index.count(); i++) {
            long from = table.index.start(i) + Formats.CHECKSUM_BYTES;
            long length = table.index.end(i) - from;
            sum += switch (compression) {
                case NONE -> length;
                case LZ4 ->
                    lz4.decompress(
                            table.bytes.asSlice(from + 4, length - 4).asByteBuffer(),
                            0,
                            (int) length - 4,
                            out,
                            0,
                            table.bytes.get(Layouts.LE_INT, from));
                case ZSTD ->
                    zstd.decompressDirectByteBuffer(
                            out,
                            0,
                            (int) ZstdFrame.contentBytes(table.bytes, from, from + length, table.file, from),
                            table.bytes.asSlice(from, length).asByteBuffer(),
                            0,
                            (int) length);
            };
        }
        return sum;
    }

    /** 100,000 random present keys: hash, filter, search, copy. */
    @Benchmark
    public long get() {
        if (compression != CompressionType.NONE) {
            return 0; // the reference's figure is for blocks that need no decompression
        }
        long sum = 0;
        for (byte[] key : lookups) {
            if (!cursor.find(key, 0, key.length, Fingerprint64.hash(key), Long.MAX_VALUE)) {
                throw new AssertionError("a present key was not found");
            }
            int length = cursor.valueLength();
            MemorySegment.copy(cursor.valueSegment(), Layouts.BYTE, cursor.valueOffset(), copied, 0, length);
            sum += copied[length - 1];
        }
        return sum;
    }
}
