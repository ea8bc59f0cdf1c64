package io.coplane.compaction;

import com.github.luben.zstd.Zstd;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.CompressionType;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.rocksdb.RocksDB;

/**
 * Compactions beside RocksDB's (JNI) and the reference's figures, files in memory, best of {@value #RUNS} runs after {@value #WARM_UPS}, when all that is
 * hot is compiled: of one thread, and of as many threads as there are cores with a job each. Speeds are raw bytes (keys, user metas, values) by second of
 * processor time of the whole process, which says more than wall time on a machine that is shared.
 *
 * <pre>
 * compaction             the table; names of inputs and compressions pick lines: compaction INTERLEAVED LZ4
 * compaction --large     one compaction of 4 GiB in 256 MiB: see {@link LargeCompaction}
 * </pre>
 */
public final class CompactionSpeed {
    private static final double REFERENCE_CALIBRATOR_MILLIS = 15.6;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double BYTES_PER_MEGABYTE = 1e6;
    private static final int WARM_UPS = 15;
    private static final int RUNS = 5;
    private static final long MIB = 1 << 20;
    private static final long CAP_BYTES = 1L << 40;

    private static final com.sun.management.OperatingSystemMXBean PROCESS =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private CompactionSpeed() {}

    /** Wall and processor time of the best run. */
    private record Time(double millis, double cpuMillis) {
        static final Time NONE = new Time(Double.MAX_VALUE, Double.MAX_VALUE);

        Time best(Time other) {
            return new Time(Math.min(millis, other.millis), Math.min(cpuMillis, other.cpuMillis));
        }

        double megabytesPerSecond(long bytes) {
            return bytes / BYTES_PER_MEGABYTE / (cpuMillis / 1000);
        }
    }

    /** Does one piece of work; fails as work does. */
    private interface Work {
        void run() throws Exception;
    }

    /** @param args names of lines, or --large and its options */
    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("--large")) {
            LargeCompaction.run(args);
            return;
        }
        @SuppressWarnings("forbidden") // a table for people
        PrintStream out = System.out;
        Map<String, Double> reference = reference();
        int cores = Runtime.getRuntime().availableProcessors();
        out.println("input\tcompression\tjobs\tms\tcpu_ms\tmb_per_core_s\trocks_ms\trocks_mb_per_core_s\tof_rocks"
                + "\tof_reference\theap_bytes_per_entry\tcopied\tpeak_mib\tinput_mib");
        List<String> wanted = List.of(args);
        for (MergeInput input : picked(MergeInput.values(), wanted)) {
            for (CompressionType compression : picked(CompressionType.values(), wanted)) {
                for (int jobs = 1; jobs <= cores; jobs = jobs < cores ? cores : cores + 1) {
                    measure(input, compression, jobs, reference, out);
                }
            }
        }
    }

    /** Those that are named, or all if none is. */
    private static <E extends Enum<E>> List<E> picked(E[] all, List<String> names) {
        List<E> named =
                Arrays.stream(all).filter(one -> names.contains(one.name())).toList();
        return named.isEmpty() ? List.of(all) : named;
    }

    private static void measure(
            MergeInput input, CompressionType compression, int jobs, Map<String, Double> reference, PrintStream out)
            throws Exception {
        long rawBytes = input.rawBytes();
        var ours = new Ours(input, compression, jobs);
        Time time = Time.NONE;
        double calibrator = Double.MAX_VALUE;
        for (int run = 0; run < WARM_UPS + RUNS; run++) {
            calibrator = Math.min(calibrator, calibrate());
            Time one = timed(jobs, ours.work);
            time = run < WARM_UPS ? time : time.best(one);
        }
        ours.close();
        Time rocks = rocks(input, compression, jobs);
        double speed = time.megabytesPerSecond(rawBytes * jobs);
        double theirs = rocks.megabytesPerSecond(rawBytes * jobs);
        boolean isReferences = input == MergeInput.INTERLEAVED && jobs == 1;
        double ofReference =
                reference.get(compression.name()) / REFERENCE_CALIBRATOR_MILLIS / (time.cpuMillis() / calibrator);
        out.println(String.format(
                Locale.ROOT,
                "%s\t%s\t%d\t%.1f\t%.1f\t%.0f\t%.1f\t%.0f\t%.2f\t%s\t%.3f\t%.2f\t%.1f\t%.1f",
                input,
                compression,
                jobs,
                time.millis(),
                time.cpuMillis(),
                speed,
                rocks.millis(),
                theirs,
                speed / theirs,
                isReferences ? String.format(Locale.ROOT, "%.2f", ofReference) : "",
                ours.heapBytesPerEntry,
                ours.result.copiedShare(),
                ours.peakBytes / (double) MIB,
                ours.inputBytes / (double) MIB));
    }

    /** Our jobs; each has its own files. */
    private static final class Ours implements AutoCloseable {
        private final List<Work> work = new ArrayList<>();
        private final List<MergeInput.Store> stores = new ArrayList<>();
        private final CompressionType compression;
        private long inputBytes;
        private volatile CompactionResult result;
        private volatile double heapBytesPerEntry;
        private volatile long peakBytes;

        Ours(MergeInput input, CompressionType compression, int jobs) {
            this.compression = compression;
            for (int job = 0; job < jobs; job++) {
                var store = new MergeInput.Store();
                inputBytes = input.write(store, compression);
                stores.add(store);
                work.add(() -> compact(store));
            }
        }

        private void compact(MergeInput.Store store) {
            var limiter = new MemoryLimiter(CAP_BYTES);
            long heapBefore = THREADS.getCurrentThreadAllocatedBytes();
            try (MemoryGuard guard = limiter.acquire(Admission.admissionBytes(inputBytes, 0, CAP_BYTES))) {
                store.watch(guard);
                result = new Compactor(new CompactionConfig(ChecksumType.CRC32C, 3), store, new byte[0])
                        .compact(
                                MergeInput.request(compression, inputBytes),
                                CompactionSpeed::noIds,
                                guard,
                                () -> false);
            }
            heapBytesPerEntry = (double) (THREADS.getCurrentThreadAllocatedBytes() - heapBefore - store.heapBytes())
                    / result.inputEntries();
            peakBytes = store.peakBytes();
            if (result.outputEntries() != MergeInput.ROWS) {
                throw new IllegalStateException("compaction lost entries: entries=" + result.outputEntries());
            }
        }

        @Override
        public void close() {
            stores.forEach(MergeInput.Store::close);
        }
    }

    private static Time rocks(MergeInput input, CompressionType compression, int jobs) throws Exception {
        try (var rocks = new RocksMerge(input, compression)) {
            Time time = Time.NONE;
            for (int run = 0; run < 1 + RUNS; run++) {
                var databases = new ArrayList<RocksDB>();
                var work = new ArrayList<Work>();
                for (int job = 0; job < jobs; job++) {
                    RocksDB db = rocks.open();
                    databases.add(db);
                    work.add(() -> RocksMerge.merge(db));
                }
                Time one = timed(jobs, work);
                time = run < 1 ? time : time.best(one);
                for (RocksDB db : databases) {
                    RocksMerge.check(db);
                    db.close();
                }
            }
            return time;
        }
    }

    private static Time timed(int jobs, List<Work> work) throws Exception {
        try (var pool = Executors.newFixedThreadPool(jobs, task -> new Thread(task, "compaction"))) {
            long start = System.nanoTime();
            long startCpu = PROCESS.getProcessCpuTime();
            var done = new ArrayList<Future<?>>();
            for (Work one : work) {
                done.add(pool.submit(() -> {
                    one.run();
                    return null;
                }));
            }
            for (Future<?> one : done) {
                one.get();
            }
            long cpu = PROCESS.getProcessCpuTime() - startCpu;
            return new Time((System.nanoTime() - start) / NANOS_PER_MILLI, cpu / NANOS_PER_MILLI);
        }
    }

    private static long[] noIds(int count) {
        throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "the request has enough ids: wanted=" + count);
    }

    private static double calibrate() throws IOException {
        byte[] packed = Files.readAllBytes(Path.of(System.getProperty("coplane.testdata", "testdata"), "corpus")
                .resolve("analytic.mvcc.zst"));
        byte[] to = new byte[(int) Zstd.getFrameContentSize(packed)];
        double best = Double.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            long start = THREADS.getCurrentThreadCpuTime();
            if (Zstd.decompress(to, packed) != to.length) {
                throw new IllegalStateException("calibrator is broken");
            }
            best = Math.min(best, (THREADS.getCurrentThreadCpuTime() - start) / NANOS_PER_MILLI);
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
}
