package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.compaction.CompactionType.BlobTableOptions;
import io.coplane.compaction.CompactionType.InPlaceWithColumnar;
import io.coplane.compaction.CompactionType.L0;
import io.coplane.compaction.CompactionType.RowFile;
import io.coplane.compaction.CompactionType.Spec;
import io.coplane.compaction.CompactionType.TableOptions;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.CompressionType;
import io.coplane.sst.L0Builder;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstOptions;
import io.coplane.testing.NoLeaks;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Inputs of which little is left to share: jobs that hold one large thing stay within the admission that any worker gives them. */
@ExtendWith(NoLeaks.class)
class LargeJobTest {
    private static final long L0_ID = 1;
    private static final long CAP_BYTES = 4L << 30;
    private static final int MIB = 1 << 20;
    private static final int VALUE_BYTES = 8 << 10;

    @Test
    void aKeyWithVeryManyVersions() {
        int versions = 150_000;
        var store = new MemoryStore();
        long inputBytes = writeL0(store, 1, versions, 100);

        CompactionResult result = compact(
                store,
                inputBytes,
                new L0(0, new long[] {L0_ID}, List.of(new long[0], new long[0], new long[0]), tables(1), null));

        assertThat(result.outputEntries()).isEqualTo(versions);
        assertThat(result.changeSet().getCompaction().getTableCreatesList()).hasSize(1);
    }

    /** Sizes at which memory that doubles, or grows by half beside what is outgrown, needs more than twice the input. */
    @ParameterizedTest
    @ValueSource(ints = {30, 50})
    void valuesThatAllGoToBlobTables(int mebibytes) {
        int rows = mebibytes * (MIB / VALUE_BYTES);
        var store = new MemoryStore();
        long inputBytes = writeL0(store, rows, 1, VALUE_BYTES);

        CompactionResult result = compact(
                store,
                inputBytes,
                new L0(
                        0,
                        new long[] {L0_ID},
                        List.of(new long[0], new long[0], new long[0]),
                        tables(1),
                        new BlobTableOptions(1, 4 << 10, 64 * MIB, 64 * MIB, 64 << 10)));

        assertThat(result.outputEntries()).isEqualTo(rows);
        assertThat(result.changeSet().getCompaction().getBlobTablesList()).hasSize(1);
    }

    @Test
    void anL0FileThatIsTrimmed() {
        int rows = 45 * (MIB / VALUE_BYTES);
        var store = new MemoryStore();
        long inputBytes = writeL0(store, rows, 1, VALUE_BYTES);

        CompactionResult result = compact(
                store,
                inputBytes,
                new InPlaceWithColumnar(
                        List.of(new RowFile(L0_ID, 0, -1)),
                        List.of(),
                        64 << 10,
                        null,
                        0,
                        new long[0],
                        List.of(),
                        null,
                        null,
                        new Spec.TrimOverBound()));

        assertThat(result.outputEntries()).isEqualTo(rows);
        assertThat(result.outputBytes()).isEqualTo(inputBytes);
    }

    private static TableOptions tables(int compression) {
        return new TableOptions(64 << 10, 16 * MIB, new int[] {compression, compression, compression}, 3, false);
    }

    private static CompactionResult compact(MemoryStore store, long inputBytes, CompactionType type) {
        var request = new CompactionRequest(
                1,
                1,
                1,
                new byte[0],
                new byte[] {'z'},
                0,
                LongStream.range(100, 200).toArray(),
                type,
                3,
                0,
                new byte[0],
                inputBytes);
        var limiter = new MemoryLimiter(CAP_BYTES);
        try (MemoryGuard guard = limiter.acquire(Admission.admissionBytes(inputBytes, 0, CAP_BYTES))) {
            CompactionResult result = new Compactor(new CompactionConfig(ChecksumType.CRC32, 3), store, new byte[0])
                    .compact(request, count -> new long[count], guard, () -> false);
            assertThat(guard.chargedBytes()).isZero();
            return result;
        } finally {
            assertThat(limiter.usedBytes()).isZero();
        }
    }

    /** An L0 file with random values. @return its size */
    private static long writeL0(MemoryStore store, int keys, int versions, int valueBytes) {
        var random = new SplittableRandom(keys);
        byte[] value = new byte[valueBytes];
        try (var builder = new L0Builder(
                SstOptions.of(CompressionType.NONE).withBlockBytes(64 << 10), L0_ID, 5, MemoryGuard.unlimited())) {
            SstBuilder writes = builder.family(ColumnFamily.WRITE);
            for (int i = 0; i < keys; i++) {
                byte[] key = ByteBuffer.allocate(9).put((byte) 't').putLong(i).array();
                for (long version = versions; version > 0; version--) {
                    random.nextBytes(value);
                    writes.add(key, 0, key.length, version, 0, new byte[17], 0, 17, value, 0, value.length);
                }
            }
            var file = builder.finish();
            store.put(FileKind.SST, L0_ID, file.bytes()).join();
            return file.bytes().byteSize();
        }
    }
}
