package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.compaction.CompactionType.L1Plus;
import io.coplane.compaction.CompactionType.TableOptions;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.CompressionType;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstOptions;
import io.coplane.sst.SstReader;
import io.coplane.sst.TableCursor;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A compaction stays within what it was admitted with: the limiter of these tests has not a byte more. */
@ExtendWith(NoLeaks.class)
class CompactionWindowTest {
    private static final int FILES = 4;
    private static final int ROWS_A_FILE = 12_000;
    private static final int UPPER_STEP = 4;
    private static final int ROWS = FILES * ROWS_A_FILE;
    private static final long LOWER_VERSION = 10;
    private static final long UPPER_VERSION = 20;
    private static final long TABLE_BYTES = 1 << 20;
    private static final int LEAST_WINDOW = 1 << 10;

    /** Two outputs, one on its way, and the pieces and blocks of two sources: it needs no more, whatever the size of the input. */
    private static final int ENOUGH = 8 << 20;

    @ParameterizedTest
    @EnumSource
    void failsTypedInATinyWindowAndSucceedsInASmallOne(CompressionType compression) {
        var store = new MemoryStore();
        write(store, compression);
        long wanted = 0;
        boolean failed = false;

        for (int window = ENOUGH; window >= LEAST_WINDOW; window /= 2) {
            try (var late = new LateStore(store)) {
                CompactionResult result = attempt(late, compression, window);
                if (result == null) {
                    assertThat(window).isLessThan(ENOUGH);
                    failed = true;
                    continue;
                }
                long contents = contents(store, result);
                wanted = wanted == 0 ? contents : wanted;
                assertThat(contents).isEqualTo(wanted);
                assertThat(result.inputEntries()).isEqualTo(ROWS + ROWS / UPPER_STEP);
                assertThat(result.outputEntries()).isEqualTo(ROWS);
            }
        }

        assertThat(failed).isTrue();
    }

    @Test
    void waitsForUploadsWhenItsMemoryIsUsedUp() {
        var store = new MemoryStore();
        write(store, CompressionType.NONE);

        // room for less than the three files that may be built and under way at a time
        try (var late = new LateStore(store)) {
            assertThat(attempt(late, CompressionType.NONE, 5 << 19)).isNotNull();
        }
    }

    private static CompactionResult attempt(ObjectStore store, CompressionType compression, long window) {
        int number = compression.ordinal();
        var type = new L1Plus(
                0,
                1,
                UPPER_VERSION,
                false,
                new long[] {FILES},
                LongStream.range(0, FILES).toArray(),
                new TableOptions(16 << 10, TABLE_BYTES, new int[] {number, number, number}, 3, false));
        var request = new CompactionRequest(
                1,
                1,
                1,
                new byte[0],
                new byte[0],
                0,
                LongStream.range(100, 200).toArray(),
                type,
                3,
                UPPER_VERSION,
                new byte[0],
                window / 2);
        var limiter = new MemoryLimiter(window);
        try (MemoryGuard guard = limiter.acquire(window)) {
            var compactor = new Compactor(new CompactionConfig(ChecksumType.CRC32, 3), store, new byte[0]);
            try {
                return compactor.compact(request, count -> new long[count], guard, () -> false);
            } catch (CoplaneException e) {
                assertThat(e.code()).isEqualTo(ErrorCode.MEMORY_LIMIT);
                return null;
            } finally {
                assertThat(guard.chargedBytes()).isZero();
            }
        } finally {
            assertThat(limiter.usedBytes()).isZero();
        }
    }

    private static void write(MemoryStore store, CompressionType compression) {
        var random = new SplittableRandom(1);
        for (int file = 0; file < FILES; file++) {
            write(store, compression, file, file * ROWS_A_FILE, 1, ROWS_A_FILE, LOWER_VERSION, random);
        }
        write(store, compression, FILES, 0, UPPER_STEP, ROWS / UPPER_STEP, UPPER_VERSION, random);
    }

    private static void write(
            MemoryStore store,
            CompressionType compression,
            long id,
            int first,
            int step,
            int rows,
            long version,
            SplittableRandom random) {
        MemoryGuard guard = MemoryGuard.unlimited();
        SstOptions options = SstOptions.of(compression).withBlockBytes(16 << 10);
        byte[] value = new byte[80];
        try (var builder = new SstBuilder(options, id, false, guard)) {
            for (int i = 0; i < rows; i++) {
                byte[] key = ByteBuffer.allocate(11)
                        .put((byte) 't')
                        .putLong(2, first + (long) i * step)
                        .array();
                random.nextBytes(value);
                builder.add(key, 0, key.length, version, 0, new byte[17], 0, 17, value, 0, value.length);
            }
            store.put(FileKind.SST, id, builder.finish().bytes()).join();
        }
    }

    /** A number that stands for all entries in their order. */
    private static long contents(MemoryStore store, CompactionResult result) {
        var creates = result.changeSet().getCompaction().getTableCreatesList().stream()
                .sorted(Comparator.comparing(create -> create.getSmallest().toByteArray(), Arrays::compareUnsigned))
                .mapToLong(TableCreate::getID)
                .toArray();
        long contents = 1;
        MemoryGuard guard = MemoryGuard.unlimited();
        for (long id : creates) {
            try (var arena = new NativeArena(guard)) {
                MemorySegment bytes = store.read(FileKind.SST, id, 0, ObjectStore.TO_END, arena)
                        .join();
                TableCursor cursor = SstReader.open(bytes, id, 2, null).cursor(false, arena);
                for (boolean more = cursor.rewind(); more; more = cursor.nextAllVersions()) {
                    contents = 31 * contents + Arrays.hashCode(cursor.copyKey());
                    contents = 31 * contents + Arrays.hashCode(cursor.copyValue());
                    contents = 31 * contents + cursor.version();
                }
            }
        }
        return contents;
    }

    /** Stores what it is given on a thread of its own. */
    private record LateStore(ObjectStore store, ExecutorService late) implements ObjectStore {
        LateStore(ObjectStore store) {
            this(store, Executors.newFixedThreadPool(1, task -> new Thread(task, "late-uploads")));
        }

        @Override
        public CompletableFuture<MemorySegment> read(FileKind kind, long id, long start, long end, NativeArena arena) {
            return store.read(kind, id, start, end, arena);
        }

        @Override
        public CompletableFuture<Long> byteSize(FileKind kind, long id) {
            return store.byteSize(kind, id);
        }

        @Override
        public CompletableFuture<Void> put(FileKind kind, long id, MemorySegment bytes) {
            return CompletableFuture.runAsync(() -> store.put(kind, id, bytes).join(), late);
        }

        @Override
        public void close() {
            late.close();
        }
    }
}
