package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.testing.Dumps;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Loading through stores that answer late, from other threads, or not at all. */
@ExtendWith(NoLeaks.class)
class SnapshotLoadTest {
    private static final int REQUESTS = 16;
    private static final long MOST_SECONDS = 60;

    private final MemoryLimiter limiter = new MemoryLimiter(1L << 30);

    @AfterEach
    void accountIsZero() {
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void loadsAndReadsFromManyThreads(@TempDir Path folder) throws Exception {
        var fixture = largeFixture();
        var numbers = new AtomicInteger();
        try (ExecutorService pool =
                        Executors.newFixedThreadPool(4, task -> new Thread(task, "test-" + numbers.incrementAndGet()));
                var store = new DirectoryStore(folder, "", 3)) {
            fixture.store.copyTo(store);
            var builder = new SnapshotBuilder(store, limiter, pool, fixture.masterKey);
            List<String> expected;
            try (Snapshot snapshot = fixture.open(limiter, null)) {
                expected = scan(snapshot);
            }

            var scans = new ArrayList<CompletableFuture<List<String>>>();
            for (int i = 0; i < REQUESTS; i++) {
                scans.add(builder.build(
                                MemorySegment.ofArray(fixture.memData),
                                MemorySegment.ofArray(fixture.snapData),
                                DeadlineCheck.NONE)
                        .thenCompose(snapshot -> scanTwiceAtOnce(snapshot, pool)));
            }

            for (CompletableFuture<List<String>> scan : scans) {
                assertThat(scan.get(MOST_SECONDS, TimeUnit.SECONDS)).isEqualTo(expected);
            }
        }
    }

    @Test
    void keepsMemoryUntilTheLastReadEnded() {
        var fixture = largeFixture();
        var store = new LateStore();
        CompletableFuture<Snapshot> building = new SnapshotBuilder(store, limiter, Runnable::run, fixture.masterKey)
                .build(
                        MemorySegment.ofArray(fixture.memData),
                        MemorySegment.ofArray(fixture.snapData),
                        DeadlineCheck.NONE);
        assertThat(store.reads).hasSizeGreaterThan(2);

        for (CompletableFuture<MemorySegment> read : store.reads.subList(1, store.reads.size())) {
            read.completeExceptionally(new IllegalStateException("connection lost"));
        }
        assertThat(building).isNotDone();
        MemorySegment late = store.arenas.getFirst().allocate(100); // the first read still writes
        late.fill((byte) 1);
        store.reads.getFirst().complete(late);

        assertThatThrownBy(building::join)
                .cause()
                .hasMessageContaining("connection lost") // of a table or of a txn chunk: both were lost
                .extracting(e -> ((CoplaneException) e).code())
                .isEqualTo(ErrorCode.STORE_UNAVAILABLE);
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void freesAllWhateverFails(long seed) {
        var random = new SplittableRandom(seed);
        var fixture = new ShardFixture(seed);
        List<String> expected;
        try (Snapshot snapshot = fixture.open(limiter, null)) {
            expected = scan(snapshot);
        }
        for (int round = 0; round < 40; round++) {
            var store = new FailingStore(fixture.store, random.split());
            var small = new MemoryLimiter(
                    random.nextBoolean() ? 1L << 30 : fixture.memData.length + random.nextInt(200_000));
            try (Snapshot snapshot = new SnapshotBuilder(store, small, Runnable::run, fixture.masterKey)
                    .build(
                            MemorySegment.ofArray(fixture.memData),
                            MemorySegment.ofArray(fixture.snapData),
                            DeadlineCheck.NONE)
                    .join()) {
                assertThat(scan(snapshot)).isEqualTo(expected);
            } catch (CompletionException e) {
                assertThat(((CoplaneException) e.getCause()).code())
                        .isIn(ErrorCode.STORE_UNAVAILABLE, ErrorCode.MEMORY_LIMIT, ErrorCode.FILE_NOT_FOUND);
            } catch (CoplaneException e) {
                assertThat(e.code()).isEqualTo(ErrorCode.MEMORY_LIMIT);
            }
            assertThat(small.usedBytes()).isZero();
            NoLeaks.assertNoNativeBytes();
        }
    }

    /** A shard with several files. */
    private static ShardFixture largeFixture() {
        for (long seed = 0; ; seed++) {
            var fixture = new ShardFixture(seed);
            if (ShardFiles.parse(MemorySegment.ofArray(fixture.snapData), PrepareType.SST_ONLY)
                            .files()
                            .size()
                    > 5) {
                return fixture;
            }
        }
    }

    private static CompletableFuture<List<String>> scanTwiceAtOnce(Snapshot snapshot, ExecutorService pool) {
        var first = CompletableFuture.supplyAsync(() -> scan(snapshot), pool);
        var second = CompletableFuture.supplyAsync(() -> scan(snapshot), pool);
        return first.thenCombine(second, (left, right) -> left.equals(right) ? left : List.of("the scans differ"))
                .whenComplete((lines, failure) -> snapshot.close());
    }

    private static List<String> scan(Snapshot snapshot) {
        var lines = new ArrayList<String>();
        try (SnapshotScanner scanner =
                        snapshot.scanner(-1, false, new ReadStatistics(), DeadlineCheck.NONE, ReaderThreads.CALLER);
                var rows = new RowBuffer(snapshot.guard())) {
            scanner.setRange(snapshot.outerStart(), snapshot.outerEnd());
            scanner.fill(rows, Integer.MAX_VALUE);
            for (int i = 0; i < rows.rows(); i++) {
                int start = rows.keyStarts()[i];
                int end = rows.valueStarts()[i] + rows.valueLengths()[i];
                lines.add(Dumps.hex(Arrays.copyOfRange(rows.bytes(), start, end)) + " " + rows.commitTs()[i]);
            }
        }
        return lines;
    }

    /** Never answers by itself. */
    private static final class LateStore implements ObjectStore {
        final List<CompletableFuture<MemorySegment>> reads = new ArrayList<>();
        final List<NativeArena> arenas = new ArrayList<>();

        @Override
        public CompletableFuture<MemorySegment> read(
                FileKind kind, long fileId, long start, long end, NativeArena arena) {
            var read = new CompletableFuture<MemorySegment>();
            reads.add(read);
            arenas.add(arena);
            return read;
        }

        @Override
        public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }

    /** Fails one read in twenty, before or after it took memory, in the future or at once. */
    private static final class FailingStore implements ObjectStore {
        private final FolderStore store;
        private final SplittableRandom random;

        FailingStore(FolderStore store, SplittableRandom random) {
            this.store = store;
            this.random = random;
        }

        @Override
        public CompletableFuture<MemorySegment> read(
                FileKind kind, long fileId, long start, long end, NativeArena arena) {
            switch (random.nextInt(60)) {
                case 0 -> throw new CoplaneException(ErrorCode.STORE_UNAVAILABLE, "at once");
                case 1 -> {
                    arena.allocate(100);
                    return CompletableFuture.failedFuture(new CoplaneException(ErrorCode.FILE_NOT_FOUND, "later"));
                }
                case 2 -> {
                    return CompletableFuture.failedFuture(new IllegalStateException("untyped"));
                }
                default -> {
                    return store.read(kind, fileId, start, end, arena);
                }
            }
        }

        @Override
        public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
            return store.byteSize(kind, fileId);
        }

        @Override
        public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }
}
