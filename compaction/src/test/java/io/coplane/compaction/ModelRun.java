package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.compaction.CompactionType.BlobTableOptions;
import io.coplane.compaction.CompactionType.ColumnarOptions;
import io.coplane.compaction.CompactionType.FtsDedicatedOptions;
import io.coplane.compaction.CompactionType.FtsPackedOptions;
import io.coplane.compaction.CompactionType.InPlaceWithColumnar;
import io.coplane.compaction.CompactionType.LevelFiles;
import io.coplane.compaction.CompactionType.RowFile;
import io.coplane.compaction.CompactionType.Spec;
import io.coplane.compaction.CompactionType.TableOptions;
import io.coplane.compaction.ModelHistory.Op;
import io.coplane.compaction.ModelShard.L0;
import io.coplane.compaction.ModelShard.Table;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.CompressionType;
import io.coplane.sst.L0Builder;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstFile;
import io.coplane.sst.SstOptions;
import io.coplane.testing.Dumps;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;

/** One random life of a shard: writes, flushes, compactions; after each of them all reads are compared. */
final class ModelRun {
    private static final byte[] MASTER_KEY = new byte[32];
    private static final String PREFIX = "78000001";
    private static final String END = "ffffffffffffffff";

    // of all runs of this JVM
    private static final LongAdder JOBS = new LongAdder();
    private static final LongAdder VERSIONS_READ = new LongAdder();
    private static final LongAdder VERSIONS_WRITTEN = new LongAdder();
    private static final LongAdder OUTPUT_BYTES = new LongAdder();
    private static final LongAdder COPIED_BYTES = new LongAdder();

    private final SplittableRandom random;
    private final MemoryStore store = new MemoryStore();
    private final MemoryLimiter limiter = new MemoryLimiter(1L << 30);
    private final ModelShard shard = new ModelShard();
    private final ModelHistory history;
    private final ShardKey key;
    private final CompactionConfig config;
    private final boolean blobs;
    private final Interruptions interruptions; // null: none
    private String low = "";
    private String high = END;
    private long safeTs = 100;
    private long nextId = 1000;

    private ModelRun(long seed, Interruptions interruptions) {
        this.interruptions = interruptions;
        random = new SplittableRandom(seed);
        history = new ModelHistory(random);
        byte[] text = new byte[64];
        Arrays.fill(text, (byte) seed);
        key = random.nextInt(3) == 0 ? ShardKey.plain(text, random.nextInt(3)) : null;
        config = new CompactionConfig(
                ChecksumType.values()[random.nextInt(3)], random.nextInt(1, 4), random.nextBoolean());
        blobs = random.nextBoolean();
    }

    static void run(long seed) {
        run(seed, null);
    }

    /** As the other one; each job is interrupted at random and goes on by its journal. */
    static void run(long seed, Interruptions interruptions) {
        var run = new ModelRun(seed, interruptions);
        int count = run.random.nextInt(3, 12);
        for (int i = 0; i < count; i++) {
            run.step();
        }
        assertThat(run.limiter.usedBytes()).isZero();
    }

    /** What all runs of this JVM came to, for a summary. */
    static String figures() {
        return "jobs=" + JOBS + " versionsRead=" + VERSIONS_READ + " versionsWritten=" + VERSIONS_WRITTEN
                + " outputBytes=" + OUTPUT_BYTES + " copiedBytes=" + COPIED_BYTES;
    }

    private static void count(CompactionResult result) {
        JOBS.increment();
        VERSIONS_READ.add(result.inputEntries());
        VERSIONS_WRITTEN.add(result.outputEntries());
        OUTPUT_BYTES.add(result.outputBytes());
        COPIED_BYTES.add(result.copiedBytes());
    }

    private void step() {
        for (int i = random.nextInt(shard.l0s.isEmpty() ? 1 : 0, 4); i > 0; i--) {
            flush();
        }
        if (random.nextInt(3) > 0) { // else all versions stay, and blocks of older ones with them
            safeTs += random.nextLong(history.ts + 2 - safeTs);
        }
        CompactionType type = switch (random.nextInt(9)) {
            case 0, 1, 2 -> l0();
            case 3, 4, 5 -> l1Plus();
            case 6 -> major();
            default -> inPlace();
        };
        var request = new CompactionRequest(
                1,
                5,
                3,
                Dumps.bytes(PREFIX + low),
                high.equals(END) ? Dumps.bytes("78000002") : Dumps.bytes(PREFIX + high),
                4,
                LongStream.range(0, random.nextInt(5)).map(i -> nextId++).toArray(),
                type,
                3,
                safeTs,
                key == null ? new byte[0] : key.export(MASTER_KEY),
                random.nextInt(200_000));
        CompactionResult result = interruptions == null ? null : interrupted(request);
        switch (result == null ? random.nextInt(6) : 2) {
            case 0 -> {
                try (var faulty = new FaultyStore(store, random.split(), random.nextInt(5, 200))) {
                    result = attempt(
                            request, faulty, limiter, Set.of(ErrorCode.STORE_UNAVAILABLE, ErrorCode.FILE_TRUNCATED));
                }
            }
            case 1 ->
                result = attempt(
                        request, store, new MemoryLimiter(random.nextInt(1 << 19)), Set.of(ErrorCode.MEMORY_LIMIT));
            default -> {
                // at once over a store and a limiter that do what they should
            }
        }
        if (result == null) {
            result = attempt(request, store, limiter, Set.of());
        }
        assertThat(result.changeSet().getShardID()).isEqualTo(5);
        assertThat(result.changeSet().getShardVer()).isEqualTo(3);
        count(result);
        shard.apply(result.changeSet());
        new ModelReads(store, shard, history, key, MASTER_KEY).check(low, high, safeTs, random);
    }

    /** The result of a job that goes on by its journal until it is through; the same as of one that nothing interrupts. */
    private CompactionResult interrupted(CompactionRequest request) {
        var undisturbed = new MemoryStore();
        undisturbed.objects.putAll(store.objects);
        long idsBefore = nextId;
        CompactionResult expected = attempt(request, undisturbed, limiter, Set.of());
        long idsAfter = nextId;
        nextId = idsBefore;

        CompactionResult result =
                interruptions.run(request, config, MASTER_KEY, store, limiter, random.split(), this::ids);

        nextId = idsAfter;
        assertThat(result.changeSet()).isEqualTo(expected.changeSet());
        assertThat(result.inputEntries()).isEqualTo(expected.inputEntries());
        assertThat(result.outputEntries()).isEqualTo(expected.outputEntries());
        assertThat(result.outputFiles()).isEqualTo(expected.outputFiles());
        assertThat(result.outputBytes()).isEqualTo(expected.outputBytes());
        assertThat(store.objects.keySet()).isEqualTo(undisturbed.objects.keySet());
        store.objects.forEach((name, bytes) -> assertThat(bytes).isEqualTo(undisturbed.objects.get(name)));
        return result;
    }

    /** @return null if it failed as it may; then nothing is held */
    private CompactionResult attempt(
            CompactionRequest request, ObjectStore over, MemoryLimiter within, Set<ErrorCode> mayFail) {
        try (MemoryGuard guard = within.acquire(
                Math.min(within.capBytes(), Admission.admissionBytes(request.inputBytes(), 0, within.capBytes())))) {
            try {
                return new Compactor(config, over, MASTER_KEY).compact(request, this::ids, guard, () -> false);
            } catch (CoplaneException e) {
                if (!mayFail.contains(e.code())) {
                    throw e;
                }
                return null;
            } finally {
                assertThat(guard.chargedBytes()).isZero();
            }
        } finally {
            assertThat(within.usedBytes()).isZero();
        }
    }

    private long[] ids(int count) {
        nextId += count;
        return LongStream.range(nextId - count, nextId).toArray();
    }

    private void flush() {
        List<Op> ops = history.write(random.nextInt(1, 60), low, high);
        if (ops.isEmpty()) {
            return;
        }
        long snapVersion = ++history.sequence;
        long id = nextId++;
        SstOptions options = new SstOptions(
                random.nextInt(1, 500), CompressionType.NONE, 3, ChecksumType.values()[random.nextInt(3)], key);
        MemoryGuard guard = MemoryGuard.unlimited();
        try (var arena = new NativeArena(guard)) {
            SstFile file;
            if (ops.stream().allMatch(op -> op.cf() == 0) && random.nextBoolean()) {
                try (SstBuilder builder = SstBuilder.splitL0(options, id, snapVersion, guard)) {
                    ops.forEach(op -> add(op, builder));
                    file = builder.finish(arena);
                }
            } else {
                try (var builder = new L0Builder(options, id, snapVersion, guard)) {
                    String lastLock = "";
                    for (Op op : ops) {
                        if (op.cf() != 1 || !op.key().equals(lastLock)) { // of a lock only the newest
                            add(op, builder.family(ColumnFamily.values()[op.cf()]));
                        }
                        lastLock = op.cf() == 1 ? op.key() : "";
                    }
                    file = builder.finish(arena);
                }
            }
            store.objects.put(
                    new MemoryStore.Name(FileKind.SST, id), file.bytes().toArray(Layouts.BYTE));
        }
        shard.l0s.addFirst(new L0(id, snapVersion));
    }

    private static void add(Op op, SstBuilder to) {
        byte[] k = Dumps.bytes(op.key());
        to.add(
                k,
                0,
                k.length,
                op.version(),
                op.delete() ? 1 : 0,
                op.userMeta(),
                0,
                op.userMeta().length,
                op.value(),
                0,
                op.value().length);
    }

    private TableOptions tableOptions() {
        // what is to be interrupted has many places to go on from
        int cut = interruptions != null ? random.nextInt(50, 500) : random.nextInt(50, 3000);
        return new TableOptions(
                random.nextInt(0, 600),
                random.nextInt(3) == 0 || interruptions != null ? cut : 1 << 24,
                new int[] {random.nextInt(3), random.nextInt(3), random.nextInt(3)},
                3,
                false);
    }

    private BlobTableOptions blobOptions() {
        if (interruptions != null && random.nextInt(4) > 0) {
            return new BlobTableOptions(
                    random.nextInt(3), random.nextInt(1, 30), random.nextInt(1000, 8000), 100, random.nextInt(500));
        }
        return blobs && random.nextInt(4) > 0
                ? new BlobTableOptions(
                        random.nextInt(3), random.nextInt(0, 120), random.nextInt(10, 4000), 100, random.nextInt(500))
                : null;
    }

    private CompactionType l0() {
        var l1 = new ArrayList<long[]>();
        for (int cf = 0; cf < 3; cf++) {
            l1.add(ids(shard.level(cf, 1)));
        }
        return new CompactionType.L0(
                safeTs, shuffled(shard.l0s.stream().mapToLong(L0::id).toArray()), l1, tableOptions(), blobOptions());
    }

    private CompactionType l1Plus() {
        var candidates = new ArrayList<int[]>();
        for (int cf = 0; cf < 3; cf++) {
            for (int level = 1; level < ModelShard.LEVELS[cf]; level++) {
                if (!shard.level(cf, level).isEmpty()) {
                    candidates.add(new int[] {cf, level});
                }
            }
        }
        if (candidates.isEmpty()) {
            return l0();
        }
        int[] chosen = candidates.get(random.nextInt(candidates.size()));
        List<Table> level = shard.level(chosen[0], chosen[1]);
        int from = random.nextInt(level.size());
        int to = random.nextInt(from, level.size()) + 1;
        List<Table> upper = level.subList(from, to);
        String first = upper.getFirst().smallest();
        String last = upper.getLast().biggest();
        List<Table> lower = shard.level(chosen[0], chosen[1] + 1).stream()
                .filter(t -> t.touches(first, last))
                .toList();
        // a tombstone stays while a deeper level may hold what it hides: within upper and lower files together
        String lowest = lower.isEmpty() || first.compareTo(lower.getFirst().smallest()) < 0
                ? first
                : lower.getFirst().smallest();
        String highest = lower.isEmpty() || last.compareTo(lower.getLast().biggest()) > 0
                ? last
                : lower.getLast().biggest();
        boolean keep = false;
        for (int deeper = chosen[1] + 2; deeper <= ModelShard.LEVELS[chosen[0]]; deeper++) {
            keep |= shard.level(chosen[0], deeper).stream().anyMatch(t -> t.touches(lowest, highest));
        }
        return new CompactionType.L1Plus(
                chosen[0],
                chosen[1],
                safeTs,
                keep || random.nextInt(4) == 0,
                shuffled(ids(upper)),
                shuffled(ids(lower)),
                tableOptions());
    }

    private CompactionType major() {
        var ln = new TreeMap<Long, List<LevelFiles>>();
        for (int cf = 0; cf < 3; cf++) {
            var levels = new ArrayList<LevelFiles>();
            for (int level = 1; level <= ModelShard.LEVELS[cf]; level++) {
                if (!shard.level(cf, level).isEmpty()) {
                    levels.add(new LevelFiles(level, shuffled(ids(shard.level(cf, level)))));
                }
            }
            if (!levels.isEmpty()) {
                ln.put((long) cf, levels);
            }
        }
        return new CompactionType.Major(
                safeTs,
                shuffled(shard.l0s.stream().mapToLong(L0::id).toArray()),
                ln,
                shard.blobs.stream().mapToLong(Long::longValue).toArray(),
                tableOptions(),
                blobOptions());
    }

    private CompactionType inPlace() {
        Spec spec = switch (random.nextInt(3)) {
            case 0 -> {
                long ts = safeTs + random.nextLong(history.ts + 2 - safeTs);
                history.truncate(ts);
                yield new Spec.TruncateTs(ts);
            }
            case 1 -> {
                String a = history.randomKey();
                if (a.compareTo(low) > 0 && a.compareTo(high) < 0) {
                    if (random.nextBoolean()) {
                        low = a;
                    } else {
                        high = a;
                    }
                }
                history.trim(low, high);
                yield new Spec.TrimOverBound();
            }
            default -> {
                String a = history.randomKey();
                String prefix = a.substring(0, Math.max(24, a.length() - 2 * random.nextInt(2)));
                history.destroy(prefix);
                byte[] outer = Dumps.bytes(PREFIX + prefix);
                byte[] marshalled = new byte[outer.length + 2];
                marshalled[0] = (byte) outer.length;
                System.arraycopy(outer, 0, marshalled, 2, outer.length);
                yield new Spec.DestroyRange(marshalled);
            }
        };
        var files = new ArrayList<RowFile>();
        shard.l0s.forEach(l0 -> files.add(new RowFile(l0.id(), 0, -1)));
        shard.tables().forEach(t -> files.add(new RowFile(t.id(), t.level(), t.cf())));
        return new InPlaceWithColumnar(
                files,
                List.of(),
                random.nextInt(0, 600),
                new ColumnarOptions(1, 2, 1, 1, 1),
                0,
                new long[0],
                List.of(),
                new FtsPackedOptions(1, "crc32c"),
                new FtsDedicatedOptions(1, "crc32c", 1),
                spec);
    }

    private static long[] ids(List<Table> tables) {
        return tables.stream().mapToLong(Table::id).toArray();
    }

    private long[] shuffled(long[] ids) {
        for (int i = ids.length - 1; i > 0; i--) {
            int other = random.nextInt(i + 1);
            long swapped = ids[i];
            ids[i] = ids[other];
            ids[other] = swapped;
        }
        return ids;
    }
}
