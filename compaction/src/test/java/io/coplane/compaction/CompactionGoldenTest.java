package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.enginepb.BlobCreate;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.TableChange;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.L0Reader;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstReader;
import io.coplane.sst.TableProperties;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Jobs run by the reference's own code (golden family {@code compaction}): the same entries, the same changes. */
@ExtendWith(NoLeaks.class)
final class CompactionGoldenTest {
    static Stream<GoldenCase> jobs() {
        return TestData.cases("compaction");
    }

    static Stream<GoldenCase> columnarJobs() {
        return TestData.cases("columnar_compaction")
                .filter(golden ->
                        Admission.of(CompactionRequest.parse(golden.bytes("request.json"))) == Admission.EXECUTE);
    }

    @ParameterizedTest
    @MethodSource("jobs")
    void writesWhatTheReferenceWrote(GoldenCase golden) throws Exception {
        var store = new MemoryStore();
        golden.files(".sst").stream().filter(f -> f.startsWith("in/")).forEach(f -> put(store, golden, f));
        golden.files(".blob").stream().filter(f -> f.startsWith("in/")).forEach(f -> put(store, golden, f));
        CompactionRequest request = CompactionRequest.parse(golden.bytes("request.json"));
        ChangeSet expected = ChangeSet.parseFrom(golden.bytes("result.pb"));

        ChangeSet actual = compact(golden, store, request);

        assertThat(withoutCreates(actual)).isEqualTo(withoutCreates(expected));
        golden.files(".blob").stream().filter(f -> f.startsWith("shard_blobs/")).forEach(f -> put(store, golden, f));
        var reference = new MemoryStore();
        golden.files(".sst").stream().filter(f -> f.startsWith("out/")).forEach(f -> put(reference, golden, f));
        golden.files(".blob").stream()
                .filter(f -> f.startsWith("out/") || f.startsWith("shard_blobs/"))
                .forEach(f -> put(reference, golden, f));
        ShardKey key = key(golden, request);
        try (var ours = new ShardReading(store, key);
                var theirs = new ShardReading(reference, key)) {
            assertThat(entries(ours, actual)).isEqualTo(dumped(golden));
            assertThat(bounds(actual, actual.hasCompaction() || actual.hasMajorCompaction()))
                    .isEqualTo(bounds(expected, actual.hasCompaction() || actual.hasMajorCompaction()));
            assertThat(properties(ours, actual, expected)).isEqualTo(properties(theirs, expected, expected));
            if (actual.hasCompaction()) {
                // blob tables are cut by the length of values; where the reference copies values it counts what is
                // stored
                assertThat(blobBounds(actual)).isEqualTo(blobBounds(expected));
            }
            blobCreates(actual).forEach(create -> {
                assertThat(ours.blob(create.getID()).smallest())
                        .isEqualTo(create.getSmallest().toByteArray());
                assertThat(ours.blob(create.getID()).biggest())
                        .isEqualTo(create.getBiggest().toByteArray());
                assertThat(ours.blob(create.getID()).metaOffset()).isEqualTo(create.getMetaOffset());
            });
        }
    }

    @ParameterizedTest
    @MethodSource("columnarJobs")
    void answersJobsWithoutContentByteForByte(GoldenCase golden) throws Exception {
        CompactionRequest request = CompactionRequest.parse(golden.bytes("request.json"));

        ChangeSet actual = compact(golden, new MemoryStore(), request);

        assertThat(actual).isEqualTo(ChangeSet.parseFrom(golden.bytes("result.pb")));
        assertThat(actual.toByteArray()).isEqualTo(golden.bytes("result.pb"));
    }

    private static ChangeSet compact(GoldenCase golden, MemoryStore store, CompactionRequest request) {
        Map<String, String> meta = golden.meta();
        byte[] masterKey = Dumps.bytes(meta.getOrDefault("enc.master_key", ""));
        var config = new CompactionConfig(
                switch (meta.getOrDefault("worker.checksum_type", "2")) {
                    case "0" -> ChecksumType.NONE;
                    case "1" -> ChecksumType.CRC32C;
                    default -> ChecksumType.CRC32;
                },
                Integer.parseInt(meta.getOrDefault("worker.compression_lvl", "3")));
        var limiter = new MemoryLimiter(1L << 30);
        ChangeSet result;
        try (MemoryGuard guard =
                limiter.acquire(Admission.admissionBytes(request.inputBytes(), 0, limiter.capBytes()))) {
            result = new Compactor(config, store, masterKey)
                    .compact(request, CompactionGoldenTest::ids, guard, () -> false)
                    .changeSet();
            assertThat(guard.chargedBytes()).isZero();
        }
        assertThat(limiter.usedBytes()).isZero();
        return result;
    }

    private static long[] ids(int count) {
        return LongStream.range(0, count).map(i -> (1L << 60) + i).toArray();
    }

    private static void put(MemoryStore store, GoldenCase golden, String file) {
        String name = file.substring(file.lastIndexOf('/') + 1);
        int dot = name.indexOf('.');
        FileKind kind = name.endsWith(".blob") ? FileKind.BLOB : FileKind.SST;
        store.objects.put(
                new MemoryStore.Name(kind, Long.parseUnsignedLong(name.substring(0, dot), 16)), golden.bytes(file));
    }

    private static ShardKey key(GoldenCase golden, CompactionRequest request) {
        return request.exportedKey().length == 0
                ? null
                : ShardKey.unwrap(Dumps.bytes(golden.meta().get("enc.master_key")), request.exportedKey());
    }

    private static TableChange change(ChangeSet set) {
        return set.hasDestroyRange()
                ? set.getDestroyRange()
                : set.hasTruncateTs() ? set.getTruncateTs() : set.getTrimOverBound();
    }

    private static List<TableCreate> creates(ChangeSet set) {
        if (set.hasCompaction()) {
            return set.getCompaction().getTableCreatesList();
        }
        return set.hasMajorCompaction()
                ? set.getMajorCompaction().getSstableChange().getTableCreatesList()
                : change(set).getTableCreatesList();
    }

    private static List<BlobCreate> blobCreates(ChangeSet set) {
        return set.hasCompaction()
                ? set.getCompaction().getBlobTablesList()
                : set.getMajorCompaction().getNewBlobTablesList();
    }

    private static List<String> blobBounds(ChangeSet set) {
        return blobCreates(set).stream()
                .map(create -> Dumps.hex(create.getSmallest().toByteArray()) + " "
                        + Dumps.hex(create.getBiggest().toByteArray()))
                .sorted()
                .toList();
    }

    /** What doesn't depend on ids and cuts; of the map of in-place jobs the old ids. */
    private static ChangeSet withoutCreates(ChangeSet set) {
        ChangeSet.Builder b = set.toBuilder();
        if (set.hasCompaction()) {
            b.getCompactionBuilder().clearTableCreates().clearBlobTables();
        }
        if (set.hasMajorCompaction()) {
            b.getMajorCompactionBuilder().clearNewBlobTables();
            b.getMajorCompactionBuilder().getSstableChangeBuilder().clearTableCreates();
        }
        for (TableChange.Builder change : Stream.of(
                        set.hasDestroyRange() ? b.getDestroyRangeBuilder() : null,
                        set.hasTruncateTs() ? b.getTruncateTsBuilder() : null,
                        set.hasTrimOverBound() ? b.getTrimOverBoundBuilder() : null)
                .filter(x -> x != null)
                .toList()) {
            var creates = change.getTableCreatesList();
            assertThat(change.getFileIdsMapCount()).isEqualTo(2 * creates.size());
            for (int i = 0; i < creates.size(); i++) {
                assertThat(change.getFileIdsMap(2 * i + 1))
                        .isEqualTo(creates.get(i).getID());
                change.setFileIdsMap(2 * i + 1, 0);
            }
            change.clearTableCreates();
        }
        return b.build();
    }

    /** Level, family, smallest and biggest: of each file, or, where cuts are free, of all files of a level. */
    private static Object bounds(ChangeSet set, boolean joined) {
        var all = new TreeMap<String, List<byte[]>>();
        var each = new ArrayList<String>();
        for (TableCreate create : creates(set)) {
            String level = create.getLevel() + "/" + create.getCF();
            each.add(level + " " + Dumps.hex(create.getSmallest().toByteArray()) + " "
                    + Dumps.hex(create.getBiggest().toByteArray()));
            List<byte[]> keys = all.computeIfAbsent(level, l -> new ArrayList<>());
            keys.add(create.getSmallest().toByteArray());
            keys.add(create.getBiggest().toByteArray());
        }
        if (!joined) {
            return each;
        }
        var text = new TreeMap<String, String>();
        all.forEach((level, keys) -> {
            keys.sort(Arrays::compareUnsigned);
            text.put(level, Dumps.hex(keys.getFirst()) + " " + Dumps.hex(keys.getLast()));
        });
        return text;
    }

    /** Entries by level and family, files by key; of L0 files, where keys overlap, by file. */
    private static Map<String, List<String>> entries(ShardReading files, ChangeSet set) {
        var entries = new TreeMap<String, List<String>>();
        var creates = new ArrayList<>(creates(set));
        creates.sort((a, b) -> Arrays.compareUnsigned(
                a.getSmallest().toByteArray(), b.getSmallest().toByteArray()));
        for (TableCreate create : creates) {
            if (create.getLevel() == 0) {
                L0Reader l0 = files.l0(create.getID());
                assertThat(l0.smallest()).isEqualTo(create.getSmallest().toByteArray());
                assertThat(l0.biggest()).isEqualTo(create.getBiggest().toByteArray());
                assertThat(create.getMetaOffset()).isZero();
                for (ColumnFamily family : ColumnFamily.values()) {
                    if (l0.family(family) != null) {
                        entries.computeIfAbsent("0/" + family.number(), l -> new ArrayList<>())
                                .addAll(files.lines(l0.family(family)));
                    }
                }
                continue;
            }
            SstReader table = files.sst(create.getID(), create.getLevel());
            assertThat(table.smallest()).isEqualTo(create.getSmallest().toByteArray());
            assertThat(table.biggest()).isEqualTo(create.getBiggest().toByteArray());
            assertThat(table.metaOffset()).isEqualTo(create.getMetaOffset());
            entries.computeIfAbsent(create.getLevel() + "/" + create.getCF(), l -> new ArrayList<>())
                    .addAll(files.lines(table));
        }
        entries.forEach((level, lines) -> {
            if (level.startsWith("0/")) {
                lines.sort(null);
            }
        });
        return entries;
    }

    private static Map<String, List<String>> dumped(GoldenCase golden) {
        var entries = new TreeMap<String, List<String>>();
        for (String[] line : golden.tsv("out.entries.tsv")) {
            entries.computeIfAbsent(line[1] + "/" + line[2], l -> new ArrayList<>())
                    .add(String.join("\t", Arrays.copyOfRange(line, 3, line.length)));
        }
        entries.forEach((level, lines) -> {
            if (level.startsWith("0/")) {
                lines.sort(null);
            } else {
                // files may be dumped in another order than that of their keys; versions of a key stay as they are
                var byKey = new TreeMap<String, List<String>>();
                lines.forEach(
                        line -> byKey.computeIfAbsent(line.substring(0, line.indexOf('\t')), k -> new ArrayList<>())
                                .add(line));
                lines.clear();
                byKey.values().forEach(lines::addAll);
            }
        });
        return entries;
    }

    /** Sums and maxima of properties by family. */
    private static Map<String, Map<String, Long>> properties(ShardReading files, ChangeSet set, ChangeSet expected) {
        var sums = new TreeMap<String, Map<String, Long>>();
        for (TableCreate create : creates(set)) {
            if (create.getLevel() == 0) {
                L0Reader l0 = files.l0(create.getID());
                for (ColumnFamily family : ColumnFamily.values()) {
                    if (l0.family(family) != null) {
                        add(sums, "0/" + family.number(), l0.family(family).properties());
                    }
                }
                sums.computeIfAbsent("0", l -> new TreeMap<>()).merge("snap_version", l0.snapVersion(), Long::sum);
            } else {
                TableProperties p = files.sst(create.getID(), create.getLevel()).properties();
                String level = create.getLevel() + "/" + create.getCF();
                add(sums, level, p);
                if (create.getCF() == 1 && expected.hasCompaction()) {
                    sums.get(level).merge("max_lock_ts", p.maxLockTs(), Math::max);
                }
            }
        }
        return sums;
    }

    private static void add(Map<String, Map<String, Long>> sums, String level, TableProperties p) {
        Map<String, Long> sum = sums.computeIfAbsent(level, l -> new TreeMap<>());
        sum.merge("entries", (long) p.entries(), Long::sum);
        sum.merge("old_entries", (long) p.oldEntries(), Long::sum);
        sum.merge("tombs", (long) p.tombs(), Long::sum);
        sum.merge("kv_size", p.kvBytes(), Long::sum);
        sum.merge("blob_size", p.inUseBlobBytes(), Long::sum);
        sum.merge("max_ts", p.maxTs(), Math::max);
        sum.merge("encryption", (long) p.encryptionVersion(), Math::max);
    }
}
