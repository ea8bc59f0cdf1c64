package io.coplane.compaction;

import io.coplane.compaction.CompactionType.L1Plus;
import io.coplane.compaction.CompactionType.TableOptions;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.CompressionType;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstData;
import io.coplane.sst.SstOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;

/** Two levels to be merged, in one of two ways that they lie to one another. */
enum MergeInput {
    /** As {@code testdata/reference-storage-speed.tsv} has it: every fourth key has a newer version in the upper level. */
    INTERLEAVED(4, 0),
    /** The upper level lies behind the lower one, but for a hundredth of its keys. */
    DISJOINT(1, 399_000);

    static final int LOWER_FILES = 4;
    static final int UPPER_FILES = 2;
    static final int ROWS_A_FILE = 100_000;
    static final int LOWER_ROWS = LOWER_FILES * ROWS_A_FILE;
    static final int UPPER_ROWS = ROWS_A_FILE;
    static final int ROWS = LOWER_ROWS + UPPER_ROWS;
    static final long UPPER_VERSION = 2_000;
    static final int BLOCK_BYTES = 64 << 10;
    static final long TABLE_BYTES = 16 << 20;
    private static final long SAFE_TS = 1_500;

    private final int upperStep;
    private final long firstUpper;

    MergeInput(int upperStep, long firstUpper) {
        this.upperStep = upperStep;
        this.firstUpper = firstUpper;
    }

    /** Takes the rows of one file. */
    interface Rows {
        void add(byte[] key, long version, byte[] userMeta, byte[] value);
    }

    /** Hands over the rows of a file; 0 .. 3 are the lower level, 4 and 5 the upper one. */
    void rows(int file, Rows to) {
        boolean upper = file >= LOWER_FILES;
        int rows = upper ? UPPER_ROWS / UPPER_FILES : ROWS_A_FILE;
        int step = upper ? upperStep : 1;
        long first = upper ? firstUpper + (long) (file - LOWER_FILES) * rows * step : (long) file * ROWS_A_FILE;
        long version = upper ? UPPER_VERSION : SstData.VERSION;
        byte[] userMeta = SstData.userMeta(version);
        for (int i = 0; i < rows; i++) {
            long row = first + (long) i * step;
            to.add(SstData.key(row), version, userMeta, SstData.value(row, version));
        }
    }

    /** Bytes of all keys and values. */
    long rawBytes() {
        long[] bytes = {0};
        for (int file = 0; file < LOWER_FILES + UPPER_FILES; file++) {
            rows(file, (key, version, userMeta, value) -> bytes[0] += key.length + userMeta.length + value.length);
        }
        return bytes[0];
    }

    /** Writes the files. @return their bytes */
    long write(ObjectStore store, CompressionType compression) {
        MemoryGuard guard = MemoryGuard.unlimited();
        SstOptions options = SstOptions.of(compression).withChecksum(ChecksumType.CRC32C);
        long bytes = 0;
        try (var builder = new SstBuilder(options, 1, false, guard)) {
            for (int file = 0; file < LOWER_FILES + UPPER_FILES; file++) {
                builder.reset(file + 1L);
                rows(
                        file,
                        (key, version, userMeta, value) -> builder.add(
                                key, 0, key.length, version, 0, userMeta, 0, userMeta.length, value, 0, value.length));
                MemorySegment written = builder.finish().bytes();
                store.put(FileKind.SST, file + 1L, written).join();
                bytes += written.byteSize();
            }
        }
        return bytes;
    }

    /** The request that merges the files. */
    static CompactionRequest request(CompressionType compression, long inputBytes) {
        int number = compression.ordinal();
        var options = new TableOptions(BLOCK_BYTES, TABLE_BYTES, new int[] {number, number, number}, 3, false);
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

    /** Files on the heap; notes what is held whenever it is asked for something. */
    static final class Store implements ObjectStore {
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
            byte[] file = files.get(fileId); // of the last run: of the same size
            if (file == null || file.length != bytes.byteSize()) {
                heap += bytes.byteSize();
                file = new byte[(int) bytes.byteSize()];
                files.put(fileId, file);
            }
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, 0, file, 0, file.length);
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void close() {
            files.clear();
        }
    }
}
