package io.coplane.compaction;

import io.coplane.compaction.CompactionType.L1Plus;
import io.coplane.compaction.CompactionType.TableOptions;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.CompressionType;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstOptions;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * One compaction of much more input than it is admitted with: {@code --large [GiB of input, 4] [MiB of window, 256]}. Three quarters of the input lie in
 * the lower level, and every third of its keys has a newer version in the upper one. Files of 16 MiB in a directory, not compressed. Says how much
 * memory the process had at most ({@code VmHWM}), so run it with a small heap: {@code COPLANE_JAVA_OPTS=-Xmx64m}.
 */
final class LargeCompaction {
    private static final long GIB = 1L << 30;
    private static final long MIB = 1L << 20;
    private static final long FILE_BYTES = 16 * MIB;
    private static final int VALUE_BYTES = 200;
    private static final int KEY_BYTES = 19;
    private static final int ENTRY_BYTES = KEY_BYTES + 17 + VALUE_BYTES;
    private static final int UPPER_STEP = 3;
    private static final int STORE_THREADS = 2;

    private LargeCompaction() {}

    static void run(String[] args) throws IOException {
        @SuppressWarnings("forbidden") // a figure for people
        PrintStream out = System.out;
        long inputBytes = (args.length > 1 ? Long.parseLong(args[1]) : 4) * GIB;
        long windowBytes = (args.length > 2 ? Long.parseLong(args[2]) : 256) * MIB;
        Path folder = Files.createTempDirectory("coplane-compaction");
        try {
            long free = Files.getFileStore(folder).getUsableSpace();
            if (free < 3 * inputBytes) {
                throw new IOException(
                        "not enough room: folder=" + folder + " bytes=" + free + " wanted=" + 3 * inputBytes);
            }
            try (var store = new DirectoryStore(folder, "", STORE_THREADS)) {
                compact(store, inputBytes, windowBytes, out);
            }
        } finally {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    private static void compact(ObjectStore store, long inputBytes, long windowBytes, PrintStream out)
            throws IOException {
        int lower = (int) (inputBytes / FILE_BYTES * UPPER_STEP / (UPPER_STEP + 1));
        int upper = lower / UPPER_STEP;
        long rows = FILE_BYTES / ENTRY_BYTES;
        long written = 0;
        for (int file = 0; file < lower; file++) {
            written += write(store, file, file * rows, 1, rows, 1_000);
        }
        for (int file = 0; file < upper; file++) {
            written += write(store, lower + file, file * rows * UPPER_STEP, UPPER_STEP, rows, 2_000);
        }
        var type = new L1Plus(
                0,
                1,
                3_000,
                false,
                LongStream.range(lower, lower + upper).toArray(),
                LongStream.range(0, lower).toArray(),
                new TableOptions(1 << 16, FILE_BYTES, new int[] {0, 0, 0}, 3, false));
        var request = new CompactionRequest(
                1, 1, 1, new byte[0], new byte[0], 0, new long[0], type, 3, 3_000, new byte[0], written);
        var ids = new AtomicLong(lower + upper);
        var limiter = new MemoryLimiter(windowBytes);
        long before = residentBytes();
        long start = System.nanoTime();
        CompactionResult result;
        try (MemoryGuard guard = limiter.acquire(Admission.admissionBytes(written, windowBytes, windowBytes))) {
            result = new Compactor(new CompactionConfig(ChecksumType.CRC32, 3), store, new byte[0])
                    .compact(
                            request,
                            count -> {
                                long first = ids.getAndAdd(count);
                                return LongStream.range(first, first + count).toArray();
                            },
                            guard,
                            () -> false);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        out.println(String.format(
                Locale.ROOT,
                "input %.2f GiB in %d files, output %.2f GiB in %d files, %d entries of %d, window %d MiB, %.1f s,"
                        + " most resident %d MiB (%d MiB before the compaction)",
                (double) written / GIB,
                lower + upper,
                (double) result.outputBytes() / GIB,
                result.outputFiles(),
                result.outputEntries(),
                result.inputEntries(),
                windowBytes / MIB,
                seconds,
                residentBytes() / MIB,
                before / MIB));
        if (result.outputEntries() != lower * rows) {
            throw new IllegalStateException("another number of entries: wanted=" + lower * rows);
        }
    }

    private static long write(ObjectStore store, long id, long first, int step, long rows, long version) {
        MemoryGuard guard = MemoryGuard.unlimited();
        SstOptions options = SstOptions.of(CompressionType.NONE);
        var random = new SplittableRandom(id);
        ByteBuffer key = ByteBuffer.allocate(KEY_BYTES).put(0, (byte) 't');
        byte[] userMeta = new byte[17];
        byte[] value = new byte[VALUE_BYTES];
        try (var builder = new SstBuilder(options, id, false, guard)) {
            for (long i = 0; i < rows; i++) {
                key.putLong(KEY_BYTES - Long.BYTES, first + i * step);
                random.nextBytes(value);
                builder.add(key.array(), 0, KEY_BYTES, version, 0, userMeta, 0, userMeta.length, value, 0, VALUE_BYTES);
            }
            var file = builder.finish();
            store.put(FileKind.SST, id, file.bytes()).join();
            return file.bytes().byteSize();
        }
    }

    /** Most memory that the process had resident so far. */
    private static long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
            }
        }
        throw new IOException("the system does not say how much memory a process has");
    }
}
