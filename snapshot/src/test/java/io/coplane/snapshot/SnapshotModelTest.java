package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.cache.BlockCache;
import io.coplane.snapshot.ShardFixture.Version;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.Seeds;
import io.coplane.testing.TestData;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random shards against a sorted map: histories laid over memtable, txn files, L0 files, levels and blobs, in every compression and checksum, encrypted or
 * not, read at random timestamps, ranges and directions. A failure names the seed of its history; {@code -Plong} runs 10,000 of them.
 */
@ExtendWith(NoLeaks.class)
class SnapshotModelTest {
    private static final int HISTORIES = 200;
    private static final int LONG_HISTORIES = 10_000;
    private static final int READS = 10;

    private final MemoryLimiter limiter = new MemoryLimiter(1L << 30);

    /** Seeds of a run: the fixed ones and, from the fresh one on, as many as make up the count. */
    private static LongStream seeds(int count) {
        long fresh = Seeds.fresh();
        List<Long> fixed = Seeds.fixedAndFresh().toList();
        return LongStream.concat(
                fixed.stream().mapToLong(Long::longValue),
                LongStream.range(0, count - fixed.size()).map(i -> fresh + 1 + i));
    }

    @Test
    void readsWhatAMapReads() {
        check(HISTORIES);
    }

    @Test
    void readsWhatAMapReadsInManyHistories() {
        assumeTrue(Boolean.getBoolean("coplane.long"), "takes minutes");
        check(LONG_HISTORIES);
    }

    private void check(int histories) {
        var seen = new int[4];
        seeds(histories).forEach(seed -> {
            try {
                check(seed, seen);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("history of seed " + seed, e);
            }
        });
        assertThat(seen)
                .as("histories with blobs, txn files, encryption, a keyspace")
                .doesNotContain(0);
    }

    private void check(long seed, int[] seen) {
        var fixture = new ShardFixture(seed);
        seen[0] += fixture.hasBlobs() ? 1 : 0;
        seen[1] += fixture.hasTxnFiles() ? 1 : 0;
        seen[2] += fixture.masterKey.length > 0 ? 1 : 0;
        seen[3] += fixture.prefix.length > 0 ? 1 : 0;
        var random = new SplittableRandom(~seed);

        try (Snapshot snapshot = fixture.open(limiter, null)) {
            read(fixture, snapshot, random, READS);
        }

        assertThat(limiter.usedBytes()).isZero();
        NoLeaks.assertNoNativeBytes();
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void readsTheSameThroughACacheAndReadsNoFileTwice(long seed) {
        for (long i = 0; i < 4; i++) {
            var fixture = new ShardFixture(seed + i);
            var random = new SplittableRandom(~seed + i);
            long capacityBytes = i == 0 ? 1 : 1L << random.nextInt(10, 28);

            try (var cache = new BlockCache(capacityBytes, limiter);
                    Snapshot held = fixture.open(limiter, cache)) {
                int readsOnce = fixture.store.reads();
                for (int request = 0; request < 3; request++) {
                    try (Snapshot snapshot = fixture.open(limiter, cache)) {
                        read(fixture, snapshot, random, 5);
                        assertThat(limiter.usedBytes()).isGreaterThanOrEqualTo(cache.usedBytes());
                    }
                }
                if (capacityBytes >= 64 << 20 && !fixture.hasTxnFiles()) { // chunks are another cache's
                    assertThat(fixture.store.reads()).isEqualTo(readsOnce);
                }
                read(fixture, held, random, 1);
            }
            assertThat(limiter.usedBytes()).isZero();
        }
    }

    @Test
    void aFileThatIsBrokenIsReadAnewByTheNextRequest() {
        GoldenCase golden = TestData.cases("snapshot")
                .min(Comparator.comparing(shard -> shard.bytes("shard_all_cfs.changeset.pb").length))
                .orElseThrow();
        var store = new FolderStore(golden.dir());
        byte[] body = golden.bytes(golden.tsv("requests.tsv").getFirst()[0] + ".body");
        RemoteRequestBody parts = RemoteRequestBody.split(MemorySegment.ofArray(body));
        String hex = golden.meta().get("enc.master_key");
        try (var cache = new BlockCache(1 << 20, limiter)) {
            var builder = new SnapshotBuilder(
                    store,
                    limiter,
                    Runnable::run,
                    hex == null ? new byte[0] : Dumps.bytes(hex),
                    PrepareType.SST_ONLY,
                    cache);
            String file = golden.files(".sst").getFirst();
            long fileId = Long.parseUnsignedLong(file.substring(0, file.indexOf('.')), 16);
            byte[] sound = golden.bytes(file);
            byte[] broken = sound.clone();
            broken[broken.length - 1] ^= 1; // magic

            store.put(FileKind.SST, fileId, broken);
            assertThatThrownBy(() -> builder.build(parts.memData(), parts.snapData(), DeadlineCheck.NONE)
                            .join())
                    .hasRootCauseInstanceOf(CoplaneException.class);
            store.put(FileKind.SST, fileId, sound);
            builder.build(parts.memData(), parts.snapData(), DeadlineCheck.NONE)
                    .join()
                    .close();
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    private static void read(ShardFixture fixture, Snapshot snapshot, SplittableRandom random, int reads) {
        for (int i = 0; i < reads; i++) {
            long readTs = random.nextInt(6) == 0 ? -1 : random.nextLong(fixture.maxTs + 2);
            scan(fixture, snapshot, readTs, random.nextBoolean(), random);
            gets(fixture, snapshot, readTs, random);
        }
    }

    private static void scan(
            ShardFixture fixture, Snapshot snapshot, long readTs, boolean reverse, SplittableRandom random) {
        var statistics = new ReadStatistics();
        try (SnapshotScanner scanner =
                        snapshot.scanner(readTs, reverse, statistics, DeadlineCheck.NONE, ReaderThreads.CALLER);
                var rows = new RowBuffer(snapshot.guard())) {
            for (byte[][] range : ranges(fixture, snapshot, reverse, random)) {
                List<String> expected = expected(fixture, range, readTs, reverse);
                int wanted = random.nextInt(3) == 0 ? random.nextInt(expected.size() + 2) : expected.size() + 1;

                rows.clear();
                scanner.setRange(range[0], range[1]);
                int asked = 0;
                while (asked < wanted) {
                    int batch = Math.min(wanted - asked, random.nextInt(1, 50));
                    int before = rows.rows();
                    int filled = scanner.fill(rows, batch);
                    assertThat(rows.rows() - before).isEqualTo(filled);
                    asked += batch;
                    if (filled < batch) {
                        assertThat(scanner.fill(rows, 5)).isZero();
                        break;
                    }
                }

                assertThat(lines(rows))
                        .as(
                                "range=%s..%s reverse=%s readTs=%s wanted=%s",
                                Dumps.hex(range[0]), Dumps.hex(range[1]), reverse, readTs, wanted)
                        .isEqualTo(expected.subList(0, Math.min(wanted, expected.size())));
            }
        }
    }

    /** Up to four ranges, in the direction of the scan or not. */
    private static List<byte[][]> ranges(
            ShardFixture fixture, Snapshot snapshot, boolean reverse, SplittableRandom random) {
        byte[] from = snapshot.outerStart();
        byte[] to = snapshot.outerEnd();
        var bounds = new ArrayList<byte[]>();
        int count = random.nextInt(1, 5);
        for (int i = 0; i < 2 * count; i++) {
            byte[] bound = random.nextInt(8) == 0
                    ? random.nextBoolean() ? from : to
                    : fixture.outer(fixture.randomKey(random));
            bound = Arrays.compareUnsigned(bound, from) < 0 ? from : bound;
            bounds.add(Arrays.compareUnsigned(bound, to) > 0 ? to : bound);
        }
        bounds.sort(Arrays::compareUnsigned);
        var ranges = new ArrayList<byte[][]>();
        for (int i = 0; i < count; i++) {
            ranges.add(new byte[][] {bounds.get(2 * i), bounds.get(2 * i + 1)});
        }
        if (reverse) {
            Collections.reverse(ranges);
        }
        if (random.nextInt(4) == 0) {
            Collections.shuffle(ranges, new java.util.Random(random.nextLong()));
        }
        return ranges;
    }

    private static List<String> expected(ShardFixture fixture, byte[][] range, long readTs, boolean reverse) {
        var lines = new ArrayList<String>();
        for (byte[] key : fixture.history.keySet()) {
            byte[] outer = fixture.outer(key);
            Version version = fixture.visible(key, readTs);
            if (version != null
                    && Arrays.compareUnsigned(outer, range[0]) >= 0
                    && (range[1].length == 0 || Arrays.compareUnsigned(outer, range[1]) < 0)) { // empty: to the end
                lines.add(line(outer, version.commitTs(), version.value()));
            }
        }
        if (reverse) {
            Collections.reverse(lines);
        }
        return lines;
    }

    private static void gets(ShardFixture fixture, Snapshot snapshot, long readTs, SplittableRandom random) {
        var statistics = new ReadStatistics();
        try (PointReader reader = snapshot.pointReader(readTs, statistics, ReaderThreads.CALLER);
                var rows = new RowBuffer(snapshot.guard())) {
            var keys = new ArrayList<>(fixture.history.keySet());
            for (int i = 0; i < 20; i++) {
                byte[] key = random.nextInt(4) == 0 || keys.isEmpty()
                        ? fixture.randomKey(random)
                        : keys.get(random.nextInt(keys.size()));
                byte[] outer = fixture.outer(key);
                Version version = Arrays.compareUnsigned(outer, snapshot.outerStart()) < 0
                                || Arrays.compareUnsigned(outer, snapshot.outerEnd()) >= 0
                        ? null
                        : fixture.visible(key, readTs);

                rows.clear();
                boolean present = reader.get(outer, rows);

                assertThat(present).isEqualTo(version != null);
                assertThat(lines(rows))
                        .isEqualTo(
                                version == null
                                        ? List.of()
                                        : List.of(line(outer, version.commitTs(), version.value())));
            }
        }
    }

    private static List<String> lines(RowBuffer rows) {
        var lines = new ArrayList<String>();
        for (int i = 0; i < rows.rows(); i++) {
            int key = rows.keyStarts()[i];
            int value = rows.valueStarts()[i];
            lines.add(line(
                    Arrays.copyOfRange(rows.bytes(), key, key + rows.keyLengths()[i]),
                    rows.commitTs()[i],
                    Arrays.copyOfRange(rows.bytes(), value, value + rows.valueLengths()[i])));
        }
        return lines;
    }

    private static String line(byte[] key, long commitTs, byte[] value) {
        return Dumps.hex(key) + " " + Long.toUnsignedString(commitTs) + " " + Dumps.value(value);
    }
}
