package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.compaction.CompactionType.BlobTableOptions;
import io.coplane.compaction.CompactionType.L0;
import io.coplane.compaction.CompactionType.L1Plus;
import io.coplane.compaction.CompactionType.TableOptions;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.CompressionType;
import io.coplane.sst.Fingerprint64;
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
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Copied blocks change nothing but the time: entries and properties are those of a compaction that copies none. */
@ExtendWith(NoLeaks.class)
class CopyThroughTest {
    private static final byte[] MASTER_KEY = new byte[32];
    private static final int BLOCK_BYTES = 2 << 10;
    private static final int KEYS = 6_000;
    private static final int TRIES = 12;

    private final MemoryStore store = new MemoryStore();

    /** What a compaction came to, whatever its files. */
    private record Outcome(
            List<String> entries,
            long keys,
            long oldEntries,
            long tombs,
            long kvBytes,
            long blobBytes,
            long maxTs,
            long copiedBytes) {}

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
        var options = new SstOptions(BLOCK_BYTES, compression, 3, checksum, key);
        long safeTs = random.nextInt(40);
        int upper = random.nextInt(1, 4);
        int lower = random.nextInt(1, 5);
        for (int id = 0; id < upper; id++) {
            write(options, id, span(id, upper), span(id + 1, upper), random.nextInt(1, 2_000), 21, random);
        }
        for (int id = upper; id < upper + lower; id++) {
            write(options, id, span(id - upper, lower), span(id - upper + 1, lower), 1, 1, random);
        }
        var type = new L1Plus(
                0,
                1,
                safeTs,
                random.nextBoolean(),
                ids(0, upper),
                ids(upper, upper + lower),
                tableOptions(compression, random.nextInt(20_000, 400_000)));

        Outcome copied = compact(type, checksum, key, true);
        Outcome written = compact(type, checksum, key, false);

        assertThat(written.copiedBytes()).isZero();
        assertThat(copied.entries()).isEqualTo(written.entries());
        assertThat(copied)
                .usingRecursiveComparison()
                .ignoringFields("copiedBytes", "entries")
                .isEqualTo(written);
    }

    @Test
    void copiesNearlyAllOfFilesThatDoNotMeet() {
        var options = new SstOptions(BLOCK_BYTES, CompressionType.LZ4, 3, ChecksumType.CRC32, null);
        var random = new SplittableRandom(1);
        write(options, 0, 0, KEYS / 2, 0, 1, random);
        write(options, 1, KEYS / 2, KEYS, 0, 1, random);
        var type = new L1Plus(0, 1, 0, true, ids(0, 1), ids(1, 2), tableOptions(CompressionType.LZ4, 100_000));

        Outcome copied = compact(type, ChecksumType.CRC32, null, true);

        assertThat(copied.keys()).isEqualTo(KEYS);
        long inputBytes = (long) store.objects.get(new MemoryStore.Name(FileKind.SST, 0)).length
                + store.objects.get(new MemoryStore.Name(FileKind.SST, 1)).length;
        assertThat(copied.copiedBytes()).isGreaterThan(inputBytes * 3 / 4);
    }

    @Test
    void doesNotCopyBlocksOfAnotherCompressionOrWithValuesForBlobs() {
        var options = new SstOptions(BLOCK_BYTES, CompressionType.NONE, 3, ChecksumType.CRC32, null);
        write(options, 0, 0, KEYS, 0, 1, new SplittableRandom(1));
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

    /** @param step between keys at random up to so many, with deletes, older versions and references in patches; 0: every key, nothing odd */
    private void write(
            SstOptions options, long id, long from, long to, int step, long version, SplittableRandom random) {
        MemoryGuard guard = MemoryGuard.unlimited();
        byte[] value = new byte[60];
        try (var builder = new SstBuilder(options, id, false, guard)) {
            boolean odd = false;
            for (long i = from; i < to; i += 1 + (step == 0 ? 0 : random.nextInt(step))) {
                byte[] key =
                        ByteBuffer.allocate(12).put((byte) 't').putLong(3, i).array();
                odd = step > 0 && random.nextInt(100) == 0 ? !odd : odd;
                random.nextBytes(value);
                int length = odd && random.nextInt(8) == 0 ? 0 : 24 + random.nextInt(36);
                long newest = version + random.nextInt(19);
                int meta = length == 0 && random.nextBoolean()
                        ? ValueMeta.DELETE
                        : odd && length > 0 && random.nextInt(8) == 0 ? ValueMeta.BLOB_REF : 0;
                add(builder, key, newest, meta, value, length);
                if (odd && random.nextInt(16) == 0 && newest > 1) {
                    add(builder, key, 1 + random.nextLong(newest - 1), 0, value, 30);
                }
            }
            store.put(FileKind.SST, id, builder.finish().bytes()).join();
        }
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
        MemoryGuard guard = MemoryGuard.unlimited();
        CompactionResult result = new Compactor(new CompactionConfig(checksum, 3, copies), store, MASTER_KEY)
                .compact(request, count -> new long[count], guard, () -> false);
        assertThat(guard.chargedBytes()).isZero();
        var entries = new ArrayList<String>();
        long[] sums = new long[6];
        result.changeSet().getCompaction().getTableCreatesList().stream()
                .sorted(Comparator.comparing(create -> create.getSmallest().toByteArray(), Arrays::compareUnsigned))
                .forEach(create -> read(create, key, entries, sums));
        return new Outcome(entries, sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], result.copiedBytes());
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
