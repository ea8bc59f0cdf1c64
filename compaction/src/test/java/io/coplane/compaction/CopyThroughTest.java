package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.compaction.CompactionType.BlobTableOptions;
import io.coplane.compaction.CompactionType.ColumnarOptions;
import io.coplane.compaction.CompactionType.FtsDedicatedOptions;
import io.coplane.compaction.CompactionType.FtsPackedOptions;
import io.coplane.compaction.CompactionType.InPlaceWithColumnar;
import io.coplane.compaction.CompactionType.L0;
import io.coplane.compaction.CompactionType.L1Plus;
import io.coplane.compaction.CompactionType.RowFile;
import io.coplane.compaction.CompactionType.Spec;
import io.coplane.compaction.CompactionType.TableOptions;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.CompressionType;
import io.coplane.sst.Fingerprint64;
import io.coplane.sst.L0Builder;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstOptions;
import io.coplane.sst.SstReader;
import io.coplane.sst.TableCursor;
import io.coplane.sst.TableProperties;
import io.coplane.sst.ValueMeta;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Copied blocks change nothing but the time: entries and properties are those of a compaction that copies none. */
@ExtendWith(NoLeaks.class)
class CopyThroughTest {
    private static final byte[] MASTER_KEY = new byte[32];
    private static final int BLOCK_BYTES = 2 << 10;
    private static final int KEYS = 6_000;
    private static final int TRIES = 6;
    private static final int LITTLE_MEMORY = 3 << 20;

    private final MemoryStore store = new MemoryStore();

    /** What a compaction came to, whatever its files. */
    private record Outcome(
            List<String> entries,
            long inputEntries,
            long outputEntries,
            long keys,
            long oldEntries,
            long tombs,
            long kvBytes,
            long blobBytes,
            long maxTs,
            long maxLockTs,
            long copiedBytes) {}

    /** Which keys have older versions, and how many of them. */
    private enum Versions {
        IN_PATCHES,
        FEW,
        MANY
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void changesNeitherEntriesNorProperties(long seed) {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < TRIES; i++) {
            store.objects.clear();
            compare(random.split());
        }
    }

    private void compare(SplittableRandom random) {
        byte[] text = new byte[64];
        random.nextBytes(text);
        ShardKey key = random.nextInt(3) == 0 ? ShardKey.plain(text, 1) : null;
        CompressionType compression = CompressionType.values()[random.nextInt(3)];
        ChecksumType checksum = ChecksumType.values()[random.nextInt(3)];
        Versions versions = Versions.values()[random.nextInt(3)];
        var options = new SstOptions(BLOCK_BYTES, compression, 3, checksum, key);
        boolean locks = random.nextInt(4) == 0;
        // with a safe point below all versions whatever is there stays
        long safeTs = random.nextBoolean() ? 0 : random.nextInt(40);
        int upper = random.nextInt(1, 4);
        int lower = random.nextInt(1, 5);
        for (int id = 0; id < upper; id++) {
            int step = random.nextInt(1, 2_000);
            write(options, id, span(id, upper), span(id + 1, upper), step, 21, versions, locks, random);
        }
        for (int id = upper; id < upper + lower; id++) {
            write(options, id, span(id - upper, lower), span(id - upper + 1, lower), 1, 1, versions, locks, random);
        }
        CompactionType type = random.nextInt(3) == 0
                ? inPlace(upper + lower, locks, random)
                : new L1Plus(
                        locks ? 1 : 0,
                        1,
                        safeTs,
                        random.nextBoolean(),
                        ids(0, upper),
                        ids(upper, upper + lower),
                        tableOptions(compression, random.nextInt(20_000, 400_000)));

        compareBothWays(type, checksum, key);
        if (type instanceof L1Plus) {
            writesTheSameInLittleMemory(type, checksum, key);
        }
    }

    /** Inputs are read in smaller pieces then, whose ends lie within what belongs to one block. */
    private void writesTheSameInLittleMemory(CompactionType type, ChecksumType checksum, ShardKey key) {
        Outcome expected = compact(type, checksum, key, true);
        var written = Map.copyOf(store.objects);

        try (MemoryGuard guard = new MemoryLimiter(LITTLE_MEMORY).acquire(LITTLE_MEMORY)) {
            assertThat(compact(type, checksum, key, true, guard)).isEqualTo(expected);
        }

        assertThat(store.objects.keySet()).isEqualTo(written.keySet());
        store.objects.forEach((name, bytes) -> assertThat(bytes).isEqualTo(written.get(name)));
    }

    /** @return bytes copied */
    private long compareBothWays(CompactionType type, ChecksumType checksum, ShardKey key) {
        Outcome copied = compact(type, checksum, key, true);
        Outcome written = compact(type, checksum, key, false);

        assertThat(written.copiedBytes()).isZero();
        assertThat(copied.entries()).isEqualTo(written.entries());
        assertThat(copied)
                .usingRecursiveComparison()
                .ignoringFields("copiedBytes", "entries")
                .isEqualTo(written);
        return copied.copiedBytes();
    }

    private static CompactionType inPlace(int files, boolean locks, SplittableRandom random) {
        byte[] prefix = key(random.nextInt(KEYS));
        int length = random.nextInt(10, 13);
        byte[] marshalled = new byte[2 + length];
        marshalled[0] = (byte) length;
        System.arraycopy(prefix, 0, marshalled, 2, length);
        return inPlace(
                files,
                locks,
                random.nextBoolean()
                        ? new Spec.DestroyRange(marshalled)
                        : new Spec.TruncateTs(random.nextBoolean() ? 100 : random.nextInt(10, 40)));
    }

    private static CompactionType inPlace(int files, boolean locks, Spec spec) {
        return new InPlaceWithColumnar(
                LongStream.range(0, files)
                        .mapToObj(id -> new RowFile(id, 1, locks ? 1 : 0))
                        .toList(),
                List.of(),
                BLOCK_BYTES,
                new ColumnarOptions(1, 2, 1, 1, 1),
                0,
                new long[0],
                List.of(),
                new FtsPackedOptions(1, "crc32c"),
                new FtsDedicatedOptions(1, "crc32c", 1),
                spec);
    }

    /** Were the old blocks not copied, it could not be half of the file: older versions are most of it. */
    @ParameterizedTest
    @EnumSource(CompressionType.class)
    void copiesBlocksOfOlderVersionsThatBelongToOneBlock(CompressionType compression) {
        var key = ShardKey.plain(new byte[64], 1);
        for (ShardKey encryption : Arrays.asList(null, key)) {
            var options = new SstOptions(BLOCK_BYTES, compression, 3, ChecksumType.CRC32C, encryption);
            var random = new SplittableRandom(1);
            write(options, 0, 0, KEYS / 2, 1, 1, Versions.MANY, false, random);
            write(options, 1, KEYS / 2, KEYS, 1, 1, Versions.MANY, false, random);
            long inputBytes = fileBytes(0) + fileBytes(1);
            var merge = new L1Plus(0, 1, 0, true, ids(0, 1), ids(1, 2), tableOptions(compression, 100_000));

            assertThat(compareBothWays(merge, ChecksumType.CRC32C, encryption)).isGreaterThan(inputBytes / 2);
            assertThat(compareBothWays(inPlace(2, false, new Spec.TruncateTs(100)), ChecksumType.CRC32C, encryption))
                    .isGreaterThan(inputBytes / 2);
        }
    }

    @Test
    void copiesBlocksOfLocksAndNotesTheNewest() {
        var options = new SstOptions(BLOCK_BYTES, CompressionType.LZ4, 3, ChecksumType.CRC32, null);
        write(options, 0, 0, KEYS, 0, 1, Versions.IN_PATCHES, true, new SplittableRandom(1));
        var type = new L1Plus(1, 1, 0, true, ids(0, 1), ids(0, 0), tableOptions(CompressionType.LZ4, 100_000));

        assertThat(compareBothWays(type, ChecksumType.CRC32, null)).isGreaterThan(fileBytes(0) / 2);
        assertThat(compact(type, ChecksumType.CRC32, null, true).maxLockTs()).isEqualTo(19);
    }

    /** An L0 file isn't compressed: what goes to a level that isn't either is copied, of every family. */
    @Test
    void copiesBlocksOfAnL0File() {
        var options = new SstOptions(BLOCK_BYTES, CompressionType.NONE, 3, ChecksumType.CRC32, null);
        try (var builder = new L0Builder(options, 0, 7, MemoryGuard.unlimited())) {
            for (ColumnFamily family : ColumnFamily.values()) {
                boolean locks = family == ColumnFamily.LOCK;
                fill(builder.family(family), 0, KEYS / 4, 0, 1, Versions.IN_PATCHES, locks, new SplittableRandom(1));
            }
            store.put(FileKind.SST, 0, builder.finish().bytes()).join();
        }
        var none = List.of(ids(0, 0), ids(0, 0), ids(0, 0));
        var type = new L0(0, ids(0, 1), none, tableOptions(CompressionType.NONE, 1 << 20), null);

        assertThat(compareBothWays(type, ChecksumType.CRC32, null)).isGreaterThan(fileBytes(0) * 3 / 4);
    }

    private long fileBytes(long id) {
        return store.objects.get(new MemoryStore.Name(FileKind.SST, id)).length;
    }

    @Test
    void copiesNearlyAllOfFilesThatDoNotMeet() {
        var options = new SstOptions(BLOCK_BYTES, CompressionType.LZ4, 3, ChecksumType.CRC32, null);
        var random = new SplittableRandom(1);
        write(options, 0, 0, KEYS / 2, 0, 1, Versions.IN_PATCHES, false, random);
        write(options, 1, KEYS / 2, KEYS, 0, 1, Versions.IN_PATCHES, false, random);
        var type = new L1Plus(0, 1, 0, true, ids(0, 1), ids(1, 2), tableOptions(CompressionType.LZ4, 100_000));

        Outcome copied = compact(type, ChecksumType.CRC32, null, true);

        assertThat(copied.keys()).isEqualTo(KEYS);
        assertThat(copied.copiedBytes()).isGreaterThan((fileBytes(0) + fileBytes(1)) * 3 / 4);
    }

    @Test
    void doesNotCopyBlocksOfAnotherCompressionOrWithValuesForBlobs() {
        var options = new SstOptions(BLOCK_BYTES, CompressionType.NONE, 3, ChecksumType.CRC32, null);
        write(options, 0, 0, KEYS, 0, 1, Versions.IN_PATCHES, false, new SplittableRandom(1));
        var other = new L1Plus(0, 1, 0, true, ids(0, 1), ids(0, 0), tableOptions(CompressionType.LZ4, 100_000));
        assertThat(compact(other, ChecksumType.CRC32, null, true).copiedBytes()).isZero();

        var same = tableOptions(CompressionType.NONE, 100_000);
        var blobs = new BlobTableOptions(0, 16, 1 << 20, 1 << 20, 1 << 10);
        var toBlobs = new L0(0, ids(0, 0), List.of(ids(0, 1), ids(0, 0), ids(0, 0)), same, blobs);
        assertThat(compact(toBlobs, ChecksumType.CRC32, null, true).copiedBytes())
                .isZero();
    }

    private static long span(int part, int parts) {
        return (long) KEYS * part / parts;
    }

    private static long[] ids(int from, int to) {
        return LongStream.range(from, to).toArray();
    }

    private static TableOptions tableOptions(CompressionType compression, long tableBytes) {
        int number = compression.ordinal();
        return new TableOptions(BLOCK_BYTES, tableBytes, new int[] {number, number, number}, 3, false);
    }

    private void write(
            SstOptions options,
            long id,
            long from,
            long to,
            int step,
            long version,
            Versions versions,
            boolean locks,
            SplittableRandom random) {
        try (var builder = new SstBuilder(options, id, locks, MemoryGuard.unlimited())) {
            fill(builder, from, to, step, version, versions, locks, random);
            store.put(FileKind.SST, id, builder.finish().bytes()).join();
        }
    }

    /** @param step between keys at random up to so many, with deletes, older versions and references in patches; 0: every key, nothing odd */
    private static void fill(
            SstBuilder builder,
            long from,
            long to,
            int step,
            long version,
            Versions versions,
            boolean locks,
            SplittableRandom random) {
        byte[] value = new byte[60];
        boolean odd = false;
        for (long i = from; i < to; i += 1 + (step == 0 ? 0 : random.nextInt(step))) {
            byte[] key = key(i);
            odd = step > 0 && random.nextInt(100) == 0 ? !odd : odd;
            random.nextBytes(value);
            long newest = version + random.nextInt(19);
            if (locks) {
                if (odd && random.nextInt(8) == 0) {
                    add(builder, key, newest, ValueMeta.DELETE, value, 0);
                } else {
                    byte[] lock = {'P', 2, 'p', (byte) newest, 3};
                    builder.add(key, 0, key.length, newest, 0, value, 0, 0, lock, 0, lock.length);
                }
                continue;
            }
            int length = odd && random.nextInt(8) == 0 ? 0 : 24 + random.nextInt(36);
            int meta = length == 0 && random.nextBoolean()
                    ? ValueMeta.DELETE
                    : odd && length > 0 && random.nextInt(8) == 0 ? ValueMeta.BLOB_REF : 0;
            add(builder, key, newest, meta, value, length);
            int older = switch (versions) {
                case IN_PATCHES -> odd && random.nextInt(16) == 0 ? 1 : 0;
                case FEW -> step > 0 && random.nextInt(4) == 0 ? random.nextInt(1, 3) : 0;
                case MANY -> step > 0 ? random.nextInt(12) : 0;
            };
            for (long v = newest - 1; v > 0 && older > 0; v--) {
                if (random.nextInt(3) > 0) {
                    random.nextBytes(value);
                    add(builder, key, v, odd && random.nextInt(8) == 0 ? ValueMeta.BLOB_REF : 0, value, 30);
                    older--;
                }
            }
        }
    }

    private static byte[] key(long i) {
        return ByteBuffer.allocate(12).put((byte) 't').putLong(3, i).array();
    }

    private static void add(SstBuilder builder, byte[] key, long version, int meta, byte[] value, int length) {
        byte[] userMeta = ByteBuffer.allocate(17)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) 1)
                .putLong(version - 1)
                .putLong(version)
                .array();
        int userMetaLength = meta == ValueMeta.DELETE ? 0 : userMeta.length;
        builder.add(key, 0, key.length, version, meta, userMeta, 0, userMetaLength, value, 0, length);
    }

    private Outcome compact(CompactionType type, ChecksumType checksum, ShardKey key, boolean copies) {
        return compact(type, checksum, key, copies, MemoryGuard.unlimited());
    }

    private Outcome compact(
            CompactionType type, ChecksumType checksum, ShardKey key, boolean copies, MemoryGuard guard) {
        var request = new CompactionRequest(
                1,
                1,
                1,
                new byte[0],
                new byte[0],
                0,
                LongStream.range(100, 400).toArray(),
                type,
                3,
                0,
                key == null ? new byte[0] : key.export(MASTER_KEY),
                1 << 20);
        CompactionResult result = new Compactor(new CompactionConfig(checksum, 3, copies), store, MASTER_KEY)
                .compact(request, count -> new long[count], guard, () -> false);
        assertThat(guard.chargedBytes()).isZero();
        var entries = new ArrayList<String>();
        long[] sums = new long[7];
        ChangeSet set = result.changeSet();
        List<TableCreate> creates = new ArrayList<>(set.getCompaction().getTableCreatesList());
        creates.addAll(set.getDestroyRange().getTableCreatesList());
        creates.addAll(set.getTruncateTs().getTableCreatesList());
        creates.stream()
                .sorted(Comparator.comparingInt(TableCreate::getCF)
                        .thenComparing(create -> create.getSmallest().toByteArray(), Arrays::compareUnsigned))
                .forEach(create -> read(create, key, entries, sums));
        return new Outcome(
                entries,
                result.inputEntries(),
                result.outputEntries(),
                sums[0],
                sums[1],
                sums[2],
                sums[3],
                sums[4],
                sums[5],
                sums[6],
                result.copiedBytes());
    }

    private void read(TableCreate create, ShardKey key, List<String> entries, long[] sums) {
        HexFormat hex = HexFormat.of();
        MemoryGuard guard = MemoryGuard.unlimited();
        try (var arena = new NativeArena(guard)) {
            MemorySegment bytes = store.read(FileKind.SST, create.getID(), 0, ObjectStore.TO_END, arena)
                    .join();
            SstReader table = SstReader.open(bytes, create.getID(), 2, key);
            TableProperties properties = table.properties();
            sums[0] += properties.entries();
            sums[1] += properties.oldEntries();
            sums[2] += properties.tombs();
            sums[3] += properties.kvBytes();
            sums[4] += properties.inUseBlobBytes();
            sums[5] = Math.max(sums[5], properties.maxTs());
            sums[6] = Math.max(sums[6], properties.maxLockTs());
            assertThat(create.getSmallest().toByteArray()).isEqualTo(properties.smallest());
            assertThat(create.getBiggest().toByteArray()).isEqualTo(properties.biggest());
            TableCursor cursor = table.cursor(false, arena);
            for (boolean more = cursor.rewind(); more; more = cursor.nextAllVersions()) {
                byte[] k = cursor.copyKey();
                assertThat(table.mayContain(Fingerprint64.hash(k))).isTrue();
                entries.add(hex.formatHex(k) + " " + cursor.version() + " "
                        + (cursor.meta() & ~ValueMeta.HAS_OLD_VERSION) + " "
                        + hex.formatHex(cursor.copyUserMeta()) + " " + hex.formatHex(cursor.copyValue()));
            }
        }
    }
}
