package io.coplane.compaction;

import io.coplane.compaction.CompactionType.L1Plus;
import io.coplane.compaction.CompactionType.TableOptions;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.CompressionType;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstData;
import io.coplane.sst.SstFile;
import io.coplane.sst.SstOptions;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;

/**
 * The compaction of {@code testdata/reference-storage-speed.tsv}, as its header describes it, on one thread with the files in memory: best of 5 after 5,
 * beside the reference's figure as a ratio of calibrators, with heap bytes allocated per entry and the most memory held at a time.
 */
public final class CompactionSpeed {
    private static final double REFERENCE_CALIBRATOR_MILLIS = 15.6;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int WARM_UPS = 5;
    private static final int RUNS = 5;
    private static final int LOWER_FILES = 4;
    private static final int ROWS_A_FILE = 100_000;
    private static final int UPPER_STEP = 4;
    private static final long UPPER_VERSION = 2_000;
    private static final long SAFE_TS = 1_500;
    private static final long MIB = 1 << 20;

    private CompactionSpeed() {}

    /** @param args none */
    @SuppressWarnings("forbidden")
    public static void main(String[] args) throws IOException {
        PrintStream out = System.out;
        Map<String, Double> reference = reference();
        out.println("compression\tms\tcpu_ms\tmb_per_s\tns_per_entry\tof_reference\theap_bytes_per_entry\tpeak_mib\tinput_mib");
        for (CompressionType compression : CompressionType.values()) {
            measure(compression, reference, out);
        }
    }

    private static void measure(CompressionType compression, Map<String, Double> reference, PrintStream out)
            throws IOException {
        try (var store = new Memory()) {
            long inputBytes = fill(store, compression);
            var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
            double best = Double.MAX_VALUE;
            double bestCpu = Double.MAX_VALUE;
            double calibrator = Double.MAX_VALUE;
            double heapBytes = 0;
            long peak = 0;
            CompactionResult result = null;
            for (int run = 0; run < WARM_UPS + RUNS; run++) {
                calibrator = Math.min(calibrator, calibrate());
                var limiter = new MemoryLimiter(Long.MAX_VALUE / 4);
                long heapBefore = threads.getCurrentThreadAllocatedBytes();
                long start = System.nanoTime();
                long startCpu = threads.getCurrentThreadCpuTime();
                try (MemoryGuard guard = limiter.acquire(2 * inputBytes)) {
                    store.watch(guard);
                    result = new Compactor(new CompactionConfig(ChecksumType.CRC32C, 3), store, new byte[0])
                            .compact(request(compression, inputBytes), CompactionSpeed::noIds, guard, () -> false);
                }
                double millis = (System.nanoTime() - start) / NANOS_PER_MILLI;
                double cpuMillis = (threads.getCurrentThreadCpuTime() - startCpu) / NANOS_PER_MILLI;
                if (run >= WARM_UPS) {
                    bestCpu = Math.min(bestCpu, cpuMillis);
                    best = Math.min(best, millis);
                }
                heapBytes = (double) (threads.getCurrentThreadAllocatedBytes() - heapBefore - store.heapBytes())
                        / result.inputEntries();
                peak = store.peakBytes();
            }
            double theirs = reference.get(compression.name());
            out.println(String.format(
                    Locale.ROOT,
                    "%s\t%.1f\t%.1f\t%.0f\t%.1f\t%.2f\t%.2f\t%.1f\t%.1f",
                    compression,
                    best,
                    bestCpu,
                    55.500523 / best * 1000,
                    best * NANOS_PER_MILLI / result.inputEntries(),
                    bestCpu / calibrator / (theirs / REFERENCE_CALIBRATOR_MILLIS),
                    heapBytes,
                    peak / (double) MIB,
                    inputBytes / (double) MIB));
        }
    }

    private static long[] noIds(int count) {
        throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "the request has enough ids: wanted=" + count);
    }

    private static CompactionRequest request(CompressionType compression, long inputBytes) {
        int number = compression.ordinal();
        var options = new TableOptions(1 << 16, 16 * MIB, new int[] {number, number, number}, 3, false);
        var type = new L1Plus(0, 1, SAFE_TS, false, new long[] {5, 6}, new long[] {1, 2, 3, 4}, options);
        return new CompactionRequest(
                1,
                1,
                1,
                new byte[0],
                new byte[0],
                0,
                LongStream.range(100, 200).toArray(),
                type,
                3,
                SAFE_TS,
                new byte[0],
                inputBytes);
    }

    private static long fill(Memory store, CompressionType compression) {
        long bytes = 0;
        for (int file = 0; file < LOWER_FILES; file++) {
            bytes += write(store, compression, file + 1L, (long) file * ROWS_A_FILE, 1, SstData.VERSION);
        }
        for (int file = 0; file < 2; file++) {
            long first = (long) file * LOWER_FILES / 2 * ROWS_A_FILE;
            bytes += write(store, compression, file + 5L, first, UPPER_STEP, UPPER_VERSION);
        }
        return bytes;
    }

    private static long write(Memory store, CompressionType compression, long id, long first, int step, long version) {
        MemoryGuard guard = MemoryGuard.unlimited();
        int rows = step == 1 ? ROWS_A_FILE : LOWER_FILES / 2 * ROWS_A_FILE / step;
        SstOptions options = SstOptions.of(compression).withChecksum(ChecksumType.CRC32C);
        byte[] userMeta = SstData.userMeta(version);
        try (var arena = new NativeArena(guard);
                var builder = new SstBuilder(options, id, false, guard)) {
            for (int i = 0; i < rows; i++) {
                byte[] key = SstData.key(first + (long) i * step);
                byte[] value = SstData.value(first + (long) i * step, version);
                builder.add(key, 0, key.length, version, 0, userMeta, 0, userMeta.length, value, 0, value.length);
            }
            SstFile file = builder.finish(arena);
            store.put(FileKind.SST, id, file.bytes()).join();
            return file.bytes().byteSize();
        }
    }

    private static double calibrate() throws IOException {
        byte[] packed = Files.readAllBytes(Path.of(System.getProperty("coplane.testdata", "testdata"), "corpus")
                .resolve("analytic.mvcc.zst"));
        byte[] to = new byte[(int) com.github.luben.zstd.Zstd.getFrameContentSize(packed)];
        double best = Double.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            long start = System.nanoTime();
            if (com.github.luben.zstd.Zstd.decompress(to, packed) != to.length) {
                throw new IllegalStateException("calibrator is broken");
            }
            best = Math.min(best, (System.nanoTime() - start) / NANOS_PER_MILLI);
        }
        return best;
    }

    private static Map<String, Double> reference() throws IOException {
        Path file = Path.of(System.getProperty("coplane.testdata", "testdata"), "reference-storage-speed.tsv");
        var reference = new HashMap<String, Double>();
        for (String line : Files.readAllLines(file)) {
            String[] fields = line.split("\t", -1);
            if (fields[0].equals("compact")) {
                reference.put(fields[1].replace("zstd3", "zstd").toUpperCase(Locale.ROOT), Double.valueOf(fields[2]));
            }
        }
        return reference;
    }

    /** Files on the heap; notes what is held whenever it is asked for something. */
    private static final class Memory implements ObjectStore {
        private final Map<Long, byte[]> files = new ConcurrentHashMap<>();
        private MemoryGuard guard;
        private long peak;
        private long heap;

        void watch(MemoryGuard watched) {
            guard = watched;
            peak = 0;
            heap = 0;
        }

        long peakBytes() {
            return peak;
        }

        /** Bytes of the copies that stand for a store: not the compaction's. */
        long heapBytes() {
            return heap;
        }

        private void note() {
            peak = guard == null ? 0 : Math.max(peak, guard.chargedBytes());
        }

        @Override
        public CompletableFuture<MemorySegment> read(
                FileKind kind, long fileId, long start, long end, NativeArena arena) {
            byte[] file = files.get(fileId);
            MemorySegment to = arena.allocate(end - start);
            MemorySegment.copy(file, (int) start, to, ValueLayout.JAVA_BYTE, 0, (int) (end - start));
            note();
            return CompletableFuture.completedFuture(to);
        }

        @Override
        public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
            return CompletableFuture.completedFuture((long) files.get(fileId).length);
        }

        @Override
        public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
            note();
            heap += bytes.byteSize();
            files.put(fileId, bytes.toArray(ValueLayout.JAVA_BYTE));
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void close() {
            files.clear();
        }
    }
}
