package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.TableCursor;
import io.coplane.sst.ValueMeta;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whole request bodies of the reference against what its own readers saw. */
@ExtendWith(NoLeaks.class)
class SnapshotGoldenTest {
    private static final String NO_PREFIX = "";

    private final MemoryLimiter limiter = new MemoryLimiter(1L << 30);

    static Stream<Arguments> requests() {
        return TestData.cases("snapshot")
                .flatMap(
                        golden -> golden.tsv("requests.tsv").stream().map(line -> Arguments.of(golden, line[0], line)));
    }

    static Stream<GoldenCase> shards() {
        return TestData.cases("snapshot");
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("requests")
    void showsWhatTheReferenceShows(GoldenCase golden, String name, String[] request) {
        check(golden, name, request);
        assertThat(limiter.usedBytes()).isZero();
    }

    @ParameterizedTest
    @MethodSource("shards")
    void rebuildsMemtableOfFormat1(GoldenCase golden) {
        assertThat(memTable(golden.bytes("mem_v1.bin"))).isEqualTo(lines(golden.tsv("mem_v1.tsv")));
    }

    private void check(GoldenCase golden, String name, String[] request) {
        long readTs = Long.parseUnsignedLong(request[1]);
        RemoteRequestBody body = RemoteRequestBody.split(MemorySegment.ofArray(golden.bytes(name + ".body")));
        assertThat(memTable(body.memData().toArray(ValueLayout.JAVA_BYTE)))
                .isEqualTo(lines(golden.tsv(name + ".mem.tsv")));

        try (Snapshot snapshot = open(golden, body)) {
            assertThat(txnRows(golden, body)).isEqualTo(lines(golden.tsvIfPresent(name + ".memtxn.tsv")));
            List<String[]> scans = golden.tsv(name + ".scan.tsv");
            for (boolean reverse : new boolean[] {false, true}) {
                scan(snapshot, readTs, reverse, ranges(request[2]), scans);
            }
            gets(snapshot, golden.tsv(name + ".gets.tsv"));
        }
    }

    private Snapshot open(GoldenCase golden, RemoteRequestBody body) {
        String masterKey = golden.meta().get("enc.master_key");
        var builder = new SnapshotBuilder(
                new FolderStore(golden.dir()),
                limiter,
                Runnable::run,
                masterKey == null ? new byte[0] : Dumps.bytes(masterKey));
        return builder.build(body.memData(), body.snapData(), DeadlineCheck.NONE)
                .join();
    }

    /** All rows of a memtable, as {@code NAME.mem.tsv} has them. */
    private static List<String> memTable(byte[] memData) {
        var rows = new ArrayList<String>();
        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard)) {
            for (TableSource source : MemTables.rebuild(
                    MemDataParts.split(MemorySegment.ofArray(memData)).rows(), guard, arena, DeadlineCheck.NONE)) {
                TableCursor cursor = source.cursor(false, arena);
                for (boolean more = cursor.rewind(); more; more = cursor.nextAllVersions()) {
                    rows.add(line(NO_PREFIX, cursor, cursor.meta() & ~2, null));
                }
            }
        }
        return rows;
    }

    /** All rows of txn files: {@code NAME.memtxn.tsv}. */
    private static List<String> txnRows(GoldenCase golden, RemoteRequestBody body) {
        var rows = new ArrayList<String>();
        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard)) {
            for (TxnFile file : TxnFile.parse(MemDataParts.split(body.memData()).txnFileRefs())) {
                for (TableSource source : file.load(id -> TxnFileGoldenTest.open(golden, id, arena), guard, arena)) {
                    TableCursor cursor = source.cursor(false, arena);
                    for (boolean more = cursor.rewind(); more; more = cursor.next()) {
                        rows.add(line(NO_PREFIX, cursor, cursor.meta(), null));
                    }
                }
            }
        }
        return rows;
    }

    private static void scan(
            Snapshot snapshot, long readTs, boolean reverse, List<byte[][]> ranges, List<String[]> expected) {
        String prefix = Dumps.hex(InnerKeys.outerPrefix(snapshot.outerStart()));
        var statistics = new ReadStatistics();
        try (var arena = new NativeArena(snapshot.guard());
                SnapshotScanner scanner =
                        snapshot.scanner(readTs, reverse, statistics, DeadlineCheck.NONE, ReaderThreads.CALLER);
                var rows = new RowBuffer(snapshot.guard())) {
            var cursor = new VisibleCursor(snapshot.sources(), readTs, reverse, DeadlineCheck.NONE, arena);
            Blobs.Fetch blobs = snapshot.blobs().new Fetch(arena);
            long keys = 0;
            for (byte[][] range : ranges) {
                List<String[]> lines = expected.stream()
                        .filter(line -> line[0].equals(reverse ? "r" : "f")
                                && line[1].equals(Long.toUnsignedString(readTs))
                                && line[2].equals(Dumps.hex(range[0]))
                                && line[3].equals(Dumps.hex(range[1])))
                        .toList();
                var seen = new ArrayList<String>();
                cursor.setRange(InnerKeys.trim(range[0]), InnerKeys.innerEnd(range[1]));
                while (cursor.next()) {
                    seen.add(line(prefix, cursor.current(), cursor.current().meta() & 1, blobs));
                }
                assertThat(seen)
                        .isEqualTo(lines.stream()
                                .map(line ->
                                        String.join("\t", Arrays.asList(line).subList(4, 9)))
                                .toList());

                rows.clear();
                scanner.setRange(range[0], range[1]);
                while (scanner.fill(rows, 7) == 7) {
                    assertThat(rows.rows()).isPositive();
                }
                assertThat(rows(rows))
                        .isEqualTo(lines.stream()
                                .filter(line -> !line[8].isEmpty())
                                .map(line -> line[4] + "\t" + line[5] + "\t" + line[8])
                                .toList());
                keys += lines.size();
                assertThat(statistics.processedKeys()).isEqualTo(keys);
            }
        }
    }

    private static void gets(Snapshot snapshot, List<String[]> expected) {
        for (String[] line : expected) {
            byte[] key = Dumps.bytes(line[0]);
            var statistics = new ReadStatistics();
            try (PointReader reader =
                            snapshot.pointReader(Long.parseUnsignedLong(line[1]), statistics, ReaderThreads.CALLER);
                    var rows = new RowBuffer(snapshot.guard());
                    var arena = new NativeArena(snapshot.guard())) {
                Blobs.Fetch blobs = snapshot.blobs().new Fetch(arena);
                TableCursor found = reader.find(InnerKeys.trim(key));
                boolean absent = Dumps.isNone(line[2]);
                assertThat(found == null).as(String.join(" ", line)).isEqualTo(absent);
                if (!absent) {
                    assertThat(line("", found, found.meta() & 1, blobs))
                            .endsWith(
                                    "\t" + String.join("\t", Arrays.asList(line).subList(2, 6)));
                }
                boolean present = !absent && line[3].equals("00") && !line[5].isEmpty();
                assertThat(reader.get(key, rows)).as(String.join(" ", line)).isEqualTo(present);
                assertThat(rows(rows))
                        .isEqualTo(present ? List.of(line[0] + "\t" + line[2] + "\t" + line[5]) : List.of());
            }
        }
    }

    private static List<String> rows(RowBuffer rows) {
        var lines = new ArrayList<String>();
        for (int i = 0; i < rows.rows(); i++) {
            lines.add(Dumps.hex(slice(rows, rows.keyStarts()[i], rows.keyLengths()[i])) + "\t"
                    + Long.toUnsignedString(rows.commitTs()[i]) + "\t"
                    + Dumps.value(slice(rows, rows.valueStarts()[i], rows.valueLengths()[i])));
        }
        return lines;
    }

    private static byte[] slice(RowBuffer rows, int start, int length) {
        return Arrays.copyOfRange(rows.bytes(), start, start + length);
    }

    private static String line(String prefix, TableCursor cursor, int meta, Blobs.Fetch blobs) {
        MemorySegment userMeta = cursor.valueSegment().asSlice(cursor.userMetaOffset(), cursor.userMetaLength());
        return prefix + Dumps.hex(cursor.copyKey()) + "\t" + Long.toUnsignedString(cursor.version()) + "\t"
                + Dumps.hex(new byte[] {(byte) meta}) + "\t" + Dumps.hex(userMeta) + "\t"
                + Dumps.value(
                        (cursor.meta() & ValueMeta.BLOB_REF) == 0
                                ? cursor.copyValue()
                                : blobs.value(cursor).toArray(ValueLayout.JAVA_BYTE));
    }

    private static List<String> lines(List<String[]> dump) {
        return dump.stream().map(line -> String.join("\t", line)).toList();
    }

    private static List<byte[][]> ranges(String field) {
        return Arrays.stream(field.split(",", -1))
                .map(range -> {
                    int dots = range.indexOf("..");
                    return new byte[][] {Dumps.bytes(range.substring(0, dots)), Dumps.bytes(range.substring(dots + 2))};
                })
                .toList();
    }
}
