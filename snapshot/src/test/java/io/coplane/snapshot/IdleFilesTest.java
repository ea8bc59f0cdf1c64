package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.cache.BlockCache;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.snapshot.ShardFiles.ShardFile;
import io.coplane.testing.Dumps;
import io.coplane.testing.ManualClock;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Idle files give their filters and indexes back, level by level, and get them again when they are wanted (sst.md 9.1). */
@ExtendWith(NoLeaks.class)
final class IdleFilesTest {
    private static final ValueLayout.OfInt LE_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int SST_FOOTER_BYTES = 28;
    private static final int SPLIT_L0_MAGIC = 0xAF45405A;

    /** Seconds of level 0 .. 3, as sst.md 9.1 has them. */
    private static final int[] INDEX_SECONDS = {480, 240, 120, 60};

    private static final int[] FILTER_SECONDS = {120, 60, 30, 15};

    private final MemoryLimiter limiter = new MemoryLimiter(1L << 30);
    private final ManualClock clock = ManualClock.recorded();

    @AfterEach
    void accountIsZero() {
        assertThat(limiter.usedBytes()).isZero();
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void eachSectionGoesWhenItsTimeIsOver(long seed) {
        var fixture = new ShardFixture(seed);
        List<Layout> files = layouts(fixture);
        List<String> expected;
        try (Snapshot snapshot = fixture.open(limiter, null)) {
            expected = scan(snapshot);
        }
        try (var cache = new BlockCache(1 << 28, limiter, clock)) {
            fixture.open(limiter, cache).close();
            int now = 0;
            for (int seconds : new int[] {14, 15, 29, 30, 59, 60, 119, 120, 239, 240, 479, 480}) {
                clock.advance(Duration.ofSeconds(seconds - now));
                now = seconds;

                cache.dropIdle();

                assertThat(cache.usedBytes())
                        .as("idle for %d s", seconds)
                        .isEqualTo(files.stream()
                                .mapToLong(file -> file.bytesAfter(seconds))
                                .sum());
            }
            try (Snapshot snapshot = fixture.open(limiter, cache)) {
                assertThat(scan(snapshot)).isEqualTo(expected);
                assertThat(scan(snapshot)).isEqualTo(expected); // through the block cache
            }
        }
    }

    @Test
    void whatIsInUseStays() {
        var fixture = largeFixture();
        try (var cache = new BlockCache(1 << 28, limiter, clock)) {
            Snapshot held = fixture.open(limiter, cache);
            long whole = cache.usedBytes();
            clock.advance(Duration.ofHours(1));
            cache.dropIdle();
            assertThat(cache.usedBytes()).isEqualTo(whole);
            held.close();

            clock.advance(Duration.ofSeconds(14));
            cache.dropIdle();
            assertThat(cache.usedBytes()).isEqualTo(whole); // its time begins with the last use
            clock.advance(Duration.ofHours(1));
            cache.dropIdle();
            long blocks = cache.usedBytes();
            assertThat(blocks).isLessThan(whole);

            try (Snapshot again = fixture.open(limiter, cache)) {
                long reloaded = cache.usedBytes();
                assertThat(reloaded).isGreaterThan(blocks);
                clock.advance(Duration.ofHours(1));
                cache.dropIdle();
                assertThat(cache.usedBytes()).isEqualTo(reloaded);
                assertThat(scan(again)).isNotEmpty();
            }
        }
    }

    @Test
    void sectionsAreReadOnceHoweverManyWantThem() {
        var fixture = largeFixture();
        List<Layout> files = layouts(fixture);
        List<String> expected;
        try (Snapshot snapshot = fixture.open(limiter, null)) {
            expected = scan(snapshot);
        }
        try (var cache = new BlockCache(1 << 28, limiter, clock)) {
            fixture.open(limiter, cache).close();
            clock.advance(Duration.ofHours(1));
            cache.dropIdle();
            var store = new HeldStore(fixture.store);
            List<CompletableFuture<Snapshot>> builds = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                builds.add(build(fixture, store, cache));
            }

            assertThat(store.wanted)
                    .containsExactlyInAnyOrderElementsOf(files.stream()
                            .flatMap(file -> file.sections().stream())
                            .toList());
            store.release();
            for (CompletableFuture<Snapshot> build : builds) {
                try (Snapshot snapshot = build.join()) {
                    assertThat(scan(snapshot)).isEqualTo(expected);
                }
            }
        }
    }

    @Test
    void aFailedReloadFailsTheRequestOnly() {
        var fixture = largeFixture();
        try (var cache = new BlockCache(1 << 28, limiter, clock)) {
            fixture.open(limiter, cache).close();
            clock.advance(Duration.ofHours(1));
            cache.dropIdle();
            var store = new HeldStore(fixture.store);
            CompletableFuture<Snapshot> failing = build(fixture, store, cache);
            store.fail(new CoplaneException(ErrorCode.STORE_UNAVAILABLE, "away"));

            assertThatThrownBy(failing::join)
                    .cause()
                    .isInstanceOfSatisfying(
                            CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE));
            fixture.open(limiter, cache).close();
        }
    }

    @Test
    void aBrokenSectionIsRefusedAndReadAnew() {
        var fixture = largeFixture();
        try (var cache = new BlockCache(1 << 28, limiter, clock)) {
            fixture.open(limiter, cache).close();
            clock.advance(Duration.ofHours(1));
            cache.dropIdle();
            var store = new HeldStore(fixture.store);
            CompletableFuture<Snapshot> broken = build(fixture, store, cache);
            store.damage();

            assertThatThrownBy(broken::join)
                    .cause()
                    .isInstanceOfSatisfying(
                            CoplaneException.class,
                            e -> assertThat(e.code()).isIn(ErrorCode.FILE_CHECKSUM, ErrorCode.FILE_FORMAT));
            for (int i = 0; i < layouts(fixture).size(); i++) { // each request drops one broken file
                CompletableFuture<Snapshot> next = build(fixture, fixture.store, cache);
                if (!next.isCompletedExceptionally()) {
                    next.join().close();
                }
            }
            fixture.open(limiter, cache).close();
        }
    }

    @Test
    void nobodyHasToGiveWayForTheCopy() {
        var fixture = largeFixture();
        try (var cache = new BlockCache(1 << 28, limiter, clock)) {
            fixture.open(limiter, cache).close();
            long whole = cache.usedBytes();
            clock.advance(Duration.ofHours(1));
            MemoryGuard others = limiter.acquire(limiter.capBytes() - limiter.usedBytes());

            cache.dropIdle();

            assertThat(cache.usedBytes()).isEqualTo(whole);
            assertThat(cache.droppedCount()).isZero();
            others.close();
            cache.dropIdle();
            assertThat(cache.usedBytes()).isLessThan(whole);
        }
    }

    private CompletableFuture<Snapshot> build(ShardFixture fixture, ObjectStore store, BlockCache cache) {
        return new SnapshotBuilder(store, limiter, Runnable::run, fixture.masterKey, PrepareType.SST_ONLY, cache)
                .build(
                        MemorySegment.ofArray(fixture.memData),
                        MemorySegment.ofArray(fixture.snapData),
                        DeadlineCheck.NONE);
    }

    /** A shard with tables on several levels and without txn chunks, which are not in the cache. */
    private ShardFixture largeFixture() {
        for (long seed = 0; ; seed++) {
            var fixture = new ShardFixture(seed);
            if (!fixture.hasTxnFiles()
                    && layouts(fixture).stream()
                                    .filter(file -> !file.sections().isEmpty())
                                    .mapToInt(Layout::level)
                                    .distinct()
                                    .count()
                            > 2) {
                return fixture;
            }
        }
    }

    private static List<Layout> layouts(ShardFixture fixture) {
        List<Layout> layouts = new ArrayList<>();
        try (MemoryGuard guard = MemoryGuard.unlimited();
                NativeArena arena = new NativeArena(guard)) {
            for (ShardFile file : ShardFiles.parse(MemorySegment.ofArray(fixture.snapData), PrepareType.SST_ONLY)
                    .files()) {
                MemorySegment bytes = fixture.store
                        .read(file.kind(), file.id(), 0, ObjectStore.TO_END, arena)
                        .join();
                layouts.add(Layout.of(file, bytes));
            }
        }
        return layouts;
    }

    /** Where the write family's sections are; all 0 if the file has none. */
    private record Layout(long id, int level, long fileBytes, long index, long filter, long filterEnd) {
        private static Layout of(ShardFile file, MemorySegment bytes) {
            long end = bytes.byteSize();
            var nothing = new Layout(file.id(), file.level(), end, 0, 0, 0);
            if (file.kind() != FileKind.SST) {
                return nothing;
            }
            long tail = end - SST_FOOTER_BYTES;
            long start = 0;
            if (file.level() == 0 && bytes.get(LE_INT, end - 4) != SPLIT_L0_MAGIC) {
                start = bytes.get(LE_INT, tail);
                end = bytes.get(LE_INT, tail + 4);
                if (start == end) {
                    return nothing;
                }
            }
            long footer = end - SST_FOOTER_BYTES;
            return new Layout(
                    file.id(),
                    file.level(),
                    bytes.byteSize(),
                    start + bytes.get(LE_INT, footer + 4),
                    start + bytes.get(LE_INT, footer + 12),
                    start + bytes.get(LE_INT, footer + 16));
        }

        private long bytesAfter(int seconds) {
            if (index == 0 || seconds < FILTER_SECONDS[level]) {
                return fileBytes;
            }
            return seconds < INDEX_SECONDS[level] ? filter : index;
        }

        private List<String> sections() {
            List<String> sections = new ArrayList<>();
            if (index > 0) {
                sections.add(id + ":" + index + "-" + filter);
                if (filter < filterEnd) {
                    sections.add(id + ":" + filter + "-" + filterEnd);
                }
            }
            return sections;
        }
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

    /** Notes what is wanted and answers when it is told to. */
    private static final class HeldStore implements ObjectStore {
        private final FolderStore files;
        private final List<String> wanted = new ArrayList<>();
        private final List<CompletableFuture<MemorySegment>> reads = new ArrayList<>();
        private final List<MemorySegment> answers = new ArrayList<>();

        private HeldStore(FolderStore files) {
            this.files = files;
        }

        @Override
        public CompletableFuture<MemorySegment> read(
                FileKind kind, long fileId, long start, long end, NativeArena arena) {
            wanted.add(fileId + ":" + start + "-" + end);
            answers.add(files.read(kind, fileId, start, end, arena).join());
            reads.add(new CompletableFuture<>());
            return reads.getLast();
        }

        private void release() {
            for (int i = 0; i < reads.size(); i++) {
                reads.get(i).complete(answers.get(i));
            }
        }

        private void damage() {
            for (MemorySegment answer : answers) {
                long at = answer.byteSize() - 1;
                answer.set(ValueLayout.JAVA_BYTE, at, (byte) (answer.get(ValueLayout.JAVA_BYTE, at) ^ 1));
            }
            release();
        }

        private void fail(Throwable why) {
            reads.getFirst().completeExceptionally(why);
            for (int i = 1; i < reads.size(); i++) {
                reads.get(i).complete(answers.get(i));
            }
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
}
