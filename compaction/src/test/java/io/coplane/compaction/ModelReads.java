package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.compaction.ModelHistory.Write;
import io.coplane.compaction.ModelShard.L0;
import io.coplane.compaction.ModelShard.Table;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.enginepb.BlobCreate;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.L0Create;
import io.coplane.proto.enginepb.Properties;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.ReadStatistics;
import io.coplane.snapshot.ReaderThreads;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.snapshot.RowBuffer;
import io.coplane.snapshot.Snapshot;
import io.coplane.snapshot.SnapshotBuilder;
import io.coplane.snapshot.SnapshotScanner;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.L0Reader;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstReader;
import io.coplane.testing.Dumps;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Compares what the files of a shard hold with what was written to it. */
final class ModelReads {
    private static final String PREFIX = "78000001";

    /** A version as some file has it. */
    private record Found(String meta, String userMeta, String value) {
        boolean isDelete() {
            return !meta.equals("00") || value.isEmpty();
        }
    }

    private final MemoryStore store;
    private final ModelShard shard;
    private final ModelHistory history;
    private final ShardKey key;
    private final byte[] masterKey;

    ModelReads(MemoryStore store, ModelShard shard, ModelHistory history, ShardKey key, byte[] masterKey) {
        this.store = store;
        this.shard = shard;
        this.history = history;
        this.key = key;
        this.masterKey = masterKey;
    }

    void check(String low, String high, long safeTs, SplittableRandom random) {
        var families = new ArrayList<Map<String, TreeMap<Long, Found>>>();
        try (var reading = new ShardReading(store, key)) {
            for (ColumnFamily family : ColumnFamily.values()) {
                families.add(collect(reading, family, low, high));
            }
            checkLockProperties(reading);
        }
        for (long ts : timestamps(safeTs)) {
            assertThat(visible(families.get(0), ts))
                    .as("write family at ts=%s", ts)
                    .isEqualTo(expected(ts));
        }
        var locks = new TreeMap<String, String>();
        families.get(1).forEach((k, versions) -> {
            Found newest = versions.lastEntry().getValue();
            if (newest.meta().equals("00")) {
                locks.put(k, newest.value());
            }
        });
        var expectedLocks = new TreeMap<String, String>();
        history.locks.forEach((k, value) -> expectedLocks.put(k, Dumps.value(value)));
        assertThat(locks).isEqualTo(expectedLocks);
        checkExtras(families.get(2), safeTs);
        long ts = timestamps(safeTs).get(random.nextInt(timestamps(safeTs).size()));
        assertThat(scanned(low, high, ts)).as("scan at ts=%s", ts).isEqualTo(expected(ts));
    }

    private Map<String, TreeMap<Long, Found>> collect(
            ShardReading reading, ColumnFamily family, String low, String high) {
        var all = new TreeMap<String, TreeMap<Long, Found>>();
        for (L0 l0 : shard.l0s) {
            L0Reader file = reading.l0(l0.id());
            assertThat(file.snapVersion()).isEqualTo(l0.snapVersion());
            if (file.family(family) != null) {
                add(reading.lines(file.family(family)), all, low, high);
            }
        }
        for (List<Table> level : shard.levels.get(family.number())) {
            for (Table table : level) {
                SstReader file = reading.sst(table.id(), table.level());
                assertThat(Dumps.hex(file.smallest())).isEqualTo(table.smallest());
                assertThat(Dumps.hex(file.biggest())).isEqualTo(table.biggest());
                assertThat(file.metaOffset()).isEqualTo(table.metaOffset());
                add(reading.lines(file), all, low, high);
            }
        }
        return all;
    }

    private static void add(List<String> lines, Map<String, TreeMap<Long, Found>> to, String low, String high) {
        for (String line : lines) {
            String[] f = line.split("\t", -1);
            if (f[0].compareTo(low) >= 0 && f[0].compareTo(high) < 0) {
                to.computeIfAbsent(f[0], k -> new TreeMap<>())
                        .putIfAbsent(Long.parseLong(f[1]), new Found(f[2], f[3], f[4]));
            }
        }
    }

    private List<Long> timestamps(long safeTs) {
        var all = new ArrayList<Long>(List.of(safeTs, Long.MAX_VALUE));
        history.writes
                .values()
                .forEach(versions -> all.addAll(versions.tailMap(safeTs).keySet()));
        return all;
    }

    private static Map<String, String> visible(Map<String, TreeMap<Long, Found>> family, long ts) {
        var visible = new TreeMap<String, String>();
        family.forEach((k, versions) -> {
            var found = versions.floorEntry(ts);
            if (found != null && !found.getValue().isDelete()) {
                visible.put(k, found.getKey() + " " + found.getValue().value());
            }
        });
        return visible;
    }

    private Map<String, String> expected(long ts) {
        var visible = new TreeMap<String, String>();
        history.writes.forEach((k, versions) -> {
            Map.Entry<Long, Write> found = versions.floorEntry(ts);
            if (found != null && found.getValue().value() != null) {
                visible.put(
                        k, found.getKey() + " " + Dumps.value(found.getValue().value()));
            }
        });
        return visible;
    }

    /** Above the safe point all stay; below only what a key's newest may leave, and nothing that wasn't written. */
    private void checkExtras(Map<String, TreeMap<Long, Found>> family, long safeTs) {
        history.extras.forEach((k, versions) -> versions.tailMap(safeTs, false)
                .forEach((version, startTs) -> assertThat(
                                family.getOrDefault(k, new TreeMap<>()).get(version))
                        .as("extra key=%s version=%s", k, version)
                        .isNotNull()));
        family.forEach((k, versions) -> versions.forEach((version, found) -> {
            assertThat(history.extras.getOrDefault(k, new TreeMap<>())).containsKey(version);
            assertThat(found.meta()).isEqualTo("00");
            assertThat(found.value()).isEqualTo("00");
        }));
    }

    /** A lock file says which lock in it is the newest: no less than any of them. */
    private void checkLockProperties(ShardReading reading) {
        for (List<Table> level : shard.levels.get(1)) {
            for (Table table : level) {
                SstReader file = reading.sst(table.id(), table.level());
                long newest = 0;
                boolean inBlobs = false;
                for (String line : reading.lines(file)) {
                    String value = line.split("\t", -1)[4];
                    inBlobs |= line.endsWith("blob");
                    newest = value.isEmpty() ? newest : Math.max(newest, startTs(Dumps.bytes(value)));
                }
                if (inBlobs) {
                    assertThat(file.properties().maxLockTs()).isGreaterThanOrEqualTo(newest);
                } else {
                    assertThat(file.properties().maxLockTs()).isEqualTo(newest > 0 ? newest : table.id());
                }
            }
        }
    }

    private static long startTs(byte[] lock) {
        long ts = 0;
        for (int at = 4, shift = 0; ; at++, shift += 7) {
            ts |= (lock[at] & 0x7FL) << shift;
            if (lock[at] >= 0) {
                return ts;
            }
        }
    }

    /** The same by the reader of coprocessor requests. */
    private Map<String, String> scanned(String low, String high, long ts) {
        io.coplane.proto.enginepb.Snapshot.Builder files = io.coplane.proto.enginepb.Snapshot.newBuilder()
                .setOuterStart(ByteString.copyFrom(Dumps.bytes(PREFIX + low)))
                .setOuterEnd(
                        ByteString.copyFrom(Dumps.bytes(high.equals("ffffffffffffffff") ? "78000002" : PREFIX + high)))
                .setInnerKeyOff(4);
        shard.l0s.forEach(l0 -> files.addL0Creates(L0Create.newBuilder().setID(l0.id())));
        shard.tables()
                .forEach(t -> files.addTableCreates(TableCreate.newBuilder()
                        .setID(t.id())
                        .setLevel(t.level())
                        .setCF(t.cf())
                        .setMetaOffset(t.metaOffset())));
        shard.blobs.forEach(id -> files.addBlobCreates(BlobCreate.newBuilder().setID(id)));
        if (key != null) {
            files.setProperties(Properties.newBuilder()
                    .addKeys("_encryption")
                    .addValues(ByteString.copyFrom(key.export(masterKey))));
        }
        byte[] changeSet = ChangeSet.newBuilder()
                .setShardID(5)
                .setShardVer(3)
                .setSnapshot(files)
                .build()
                .toByteArray();
        var limiter = new MemoryLimiter(1L << 30);
        var rows = new HashMap<String, String>();
        try (Arena arena = Arena.ofConfined()) {
            byte[] body = RemoteRequestBody.join(new byte[0], new byte[0], changeSet);
            var parts = RemoteRequestBody.split(arena.allocateFrom(java.lang.foreign.ValueLayout.JAVA_BYTE, body));
            try (Snapshot snapshot = new SnapshotBuilder(
                                    store, limiter, Runnable::run, key == null ? new byte[0] : masterKey)
                            .build(parts.memData(), parts.snapData(), DeadlineCheck.NONE)
                            .join();
                    SnapshotScanner scanner = snapshot.scanner(
                            ts, false, new ReadStatistics(), DeadlineCheck.NONE, ReaderThreads.CALLER);
                    var buffer = new RowBuffer(snapshot.guard())) {
                scanner.setRange(snapshot.outerStart(), snapshot.outerEnd());
                scanner.fill(buffer, Integer.MAX_VALUE);
                for (int i = 0; i < buffer.rows(); i++) {
                    rows.put(
                            Dumps.hex(slice(buffer.bytes(), buffer.keyStarts()[i], buffer.keyLengths()[i]))
                                    .substring(PREFIX.length()),
                            buffer.commitTs()[i] + " "
                                    + Dumps.value(
                                            slice(buffer.bytes(), buffer.valueStarts()[i], buffer.valueLengths()[i])));
                }
            }
        }
        assertThat(limiter.usedBytes()).isZero();
        return rows;
    }

    private static byte[] slice(byte[] bytes, int from, int length) {
        return Arrays.copyOfRange(bytes, from, from + length);
    }
}
