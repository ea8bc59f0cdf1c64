package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.cache.BlockCache;
import io.coplane.nativecache.cache.CachedBlock;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Reading and writing tables allocates nothing for an entry, and little for a block: views for the codecs. */
@ExtendWith(NoLeaks.class)
class ScanAllocationTest {
    private static final int ENTRIES = 20_000;
    private static final int BLOCK_BYTES = 16 << 10;
    private static final int BYTES_A_BLOCK = 384; // views for checksum and codec; the compiler avoids some of them
    private static final int BYTES_A_SCAN = 4 << 10;
    private static final int MOST_RUNS = 4_000; // of a method that is not compiled to the end views cost more

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final MemoryGuard guard = MemoryGuard.unlimited();
    private final byte[] userMeta = new byte[17];
    private final byte[] value = new byte[80];
    private final byte[] key = ByteBuffer.allocate(19).put((byte) 't').array();

    @ParameterizedTest
    @EnumSource
    void aScanAllocatesAtMost384BytesABlock(CompressionType compression) {
        try (var arena = new NativeArena(guard)) {
            SstReader table = SstReader.open(build(compression, arena), 1, 1, null);
            TableCursor cursor = table.cursor(false, arena);

            assertAllocates(
                    BYTES_A_SCAN + (long) BYTES_A_BLOCK * table.blocks().index.count(), () -> walk(cursor));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aScanThroughTheCacheAllocatesAtMost384BytesABlock(CompressionType compression) {
        try (var cache = new BlockCache(64 << 20, new MemoryLimiter(256 << 20));
                var arena = new NativeArena(guard)) {
            MemorySegment bytes = build(compression, arena);
            CachedBlock file = cache.file(new OneFile(bytes), FileKind.SST, 1).join();
            SstReader table = SstReader.open(file, 1, 1, null);
            TableCursor cursor = table.cursor(false, arena);

            assertAllocates(
                    BYTES_A_SCAN + (long) BYTES_A_BLOCK * table.blocks().index.count(), () -> walk(cursor));
            assertThat(cache.missCount())
                    .isEqualTo(1
                            + (compression == CompressionType.NONE
                                    ? 0
                                    : table.blocks().index.count()));
            file.release();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFileAllocatesNothingForAnEntryAndAtMost384BytesABlock(CompressionType compression) {
        int blocks;
        try (var arena = new NativeArena(guard)) {
            blocks = SstReader.open(build(compression, arena), 1, 1, null)
                    .blocks()
                    .index
                    .count();
        }
        try (var builder = new SstBuilder(options(compression), 1, false, guard)) {
            assertAllocates(ENTRIES / 20 + (long) BYTES_A_BLOCK * blocks, () -> {
                builder.reset(1);
                addAll(builder);
                builder.finish();
            });
        }
    }

    private static SstOptions options(CompressionType compression) {
        return new SstOptions(BLOCK_BYTES, compression, 3, ChecksumType.CRC32C, null);
    }

    private MemorySegment build(CompressionType compression, NativeArena arena) {
        try (var builder = new SstBuilder(options(compression), 1, false, guard)) {
            addAll(builder);
            return builder.finish(arena).bytes();
        }
    }

    private void addAll(SstBuilder builder) {
        ByteBuffer in = ByteBuffer.wrap(key);
        for (int i = 0; i < ENTRIES; i++) {
            in.putLong(11, i);
            value[i % value.length] += (byte) i;
            builder.add(key, 0, key.length, 9, 0, userMeta, 0, userMeta.length, value, 0, value.length);
        }
    }

    private static void walk(TableCursor cursor) {
        int entries = 0;
        for (boolean more = cursor.rewind(); more; more = cursor.next()) {
            entries += cursor.keyLength() > 0 && cursor.valueLength() > 0 ? 1 : 0;
        }
        assertThat(entries).isEqualTo(ENTRIES);
    }

    /** Runs the work until it allocates no more than it may: how soon the compiler is done with it depends on what else the machine does. */
    private void assertAllocates(long mostBytes, Runnable work) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < MOST_RUNS && least > mostBytes; i++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            work.run();
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(least).isLessThanOrEqualTo(mostBytes);
    }

    /** A store of one file. */
    private record OneFile(MemorySegment bytes) implements ObjectStore {
        @Override
        public CompletableFuture<MemorySegment> read(FileKind kind, long id, long start, long end, NativeArena into) {
            MemorySegment copy = into.allocate(bytes.byteSize());
            copy.copyFrom(bytes);
            return CompletableFuture.completedFuture(copy);
        }

        @Override
        public CompletableFuture<Long> byteSize(FileKind kind, long id) {
            return CompletableFuture.completedFuture(bytes.byteSize());
        }

        @Override
        public CompletableFuture<Void> put(FileKind kind, long id, MemorySegment whole) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {
            // nothing is owned
        }
    }
}
