package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.testing.Corrupt;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Damaged files: a typed error that names the file, or the right answer. */
@ExtendWith(NoLeaks.class)
class CorruptFileTest {
    private static final boolean LONG = Boolean.getBoolean("coplane.long");
    /** Files up to here are damaged in every way that there is. */
    private static final int TINY_BYTES = 700;

    private static final int LEAST_DAMAGES = 45;
    private static final int BUDGET_BYTES = 4_000_000;

    private static final long LIMIT_BYTES = 64 << 20;
    private static final Set<ErrorCode> EXPECTED =
            Set.of(ErrorCode.FILE_TRUNCATED, ErrorCode.FILE_CHECKSUM, ErrorCode.FILE_FORMAT, ErrorCode.FILE_ENCRYPTED);

    static Stream<GoldenCase> tables() {
        return TestData.cases("sst");
    }

    static Stream<GoldenCase> l0Files() {
        return TestData.cases("l0");
    }

    @ParameterizedTest
    @MethodSource("tables")
    void damagedTableGivesATypedErrorOrTheRightAnswer(GoldenCase golden) {
        long fileId = Long.parseUnsignedLong(golden.meta().get("file_id"));
        boolean checked = !golden.meta().get("footer.checksum_type").equals("0");
        ShardKey key = TableDumps.shardKey(golden);
        byte[] good = golden.bytes("table.sst");
        List<String> expected = read(good, fileId, key, false);
        assertThat(expected).isNotEmpty();

        int tried = Corrupt.everyWay(
                good, 7, budget(good), (damage, bytes) -> check(bytes, fileId, key, false, checked ? expected : null));

        assertThat(tried).isGreaterThanOrEqualTo(LEAST_DAMAGES);
    }

    @ParameterizedTest
    @MethodSource("l0Files")
    void damagedL0FileGivesATypedErrorOrTheRightAnswer(GoldenCase golden) {
        long fileId = Long.parseUnsignedLong(golden.meta().get("file_id"));
        ShardKey key = TableDumps.shardKey(golden);
        byte[] good = golden.bytes("table.sst");
        assertThat(read(good, fileId, key, true)).isNotEmpty();

        // the tail of an L0 file has no checksum: an offset that leaves out a family can't be told from a good one
        int tried = Corrupt.everyWay(good, 7, budget(good), (damage, bytes) -> check(bytes, fileId, key, true, null));

        assertThat(tried).isGreaterThanOrEqualTo(LEAST_DAMAGES);
    }

    @Test
    void everyByteOfABlockIsCovered() {
        byte[] good = Dumps.bytes(HexVectors.TABLE);
        List<String> expected = read(good, 1, null, false);

        int tried =
                Corrupt.bitFlips(good, 7, Integer.MAX_VALUE, (damage, bytes) -> check(bytes, 1, null, false, expected));

        assertThat(tried).isEqualTo(8 * good.length);
    }

    @Test
    void namesFileAndOffset() {
        byte[] bytes = Dumps.bytes(HexVectors.TABLE);
        bytes[0x20] ^= 1;
        try (var file = new TestFile(bytes)) {
            TableCursor cursor = SstReader.open(file.bytes, 0x12ab, 1, null).cursor(false, file.arena);

            assertThat(catchThrowable(cursor::rewind))
                    .hasMessageContaining("Invalid checksum Crc32c checksum mismatch expect 2366467795 got ")
                    .hasMessageContaining("file=00000000000012ab.sst offset=0")
                    .isInstanceOfSatisfying(
                            CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.FILE_CHECKSUM));
            assertThat(cursor.valid()).isFalse();
        }
    }

    @Test
    void encryptedFileWithoutAKeyIsRefused() {
        GoldenCase golden = TestData.cases("sst")
                .filter(candidate -> TableDumps.shardKey(candidate) != null)
                .findFirst()
                .orElseThrow();

        try (var file = new TestFile(golden.bytes("table.sst"))) {
            assertThat(catchThrowable(() -> SstReader.open(file.bytes, 1, 1, null)))
                    .isInstanceOfSatisfying(
                            CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.FILE_ENCRYPTED));
        }
    }

    @Test
    void otherKindsOfFilesAreRefused() {
        try (var l0 = new TestFile(Dumps.bytes(HexVectors.L0));
                var table = new TestFile(Dumps.bytes(HexVectors.TABLE));
                var blobs = new TestFile(Dumps.bytes(HexVectors.BLOBS))) {
            for (ThrowingCallable wrong : List.<ThrowingCallable>of(
                    () -> SstReader.open(l0.bytes, 1, 1, null),
                    () -> L0Reader.open(table.bytes, 1, null),
                    () -> SstReader.open(blobs.bytes, 1, 1, null),
                    () -> L0Reader.open(blobs.bytes, 1, null))) {
                assertThat(catchThrowable(wrong))
                        .isInstanceOfSatisfying(
                                CoplaneException.class,
                                e -> assertThat(e.code()).isEqualTo(ErrorCode.FILE_FORMAT));
            }
        }
    }

    private static int budget(byte[] good) {
        if (good.length <= TINY_BYTES) {
            return Integer.MAX_VALUE;
        }
        // every file is damaged, the large ones less often: reading one back costs as much as it has bytes
        int affordable = BUDGET_BYTES / good.length;
        return LONG ? 20 * Math.max(LEAST_DAMAGES, affordable) : Math.clamp(affordable, LEAST_DAMAGES, 3_000);
    }

    /** @param expected what the good file says; null if damage may go unnoticed */
    private static void check(byte[] bytes, long fileId, ShardKey key, boolean l0, List<String> expected) {
        List<String> actual;
        try {
            actual = read(bytes, fileId, key, l0);
        } catch (MemoryLimitException e) {
            throw new AssertionError("damage made the reader ask for memory without bound", e);
        } catch (CoplaneException e) {
            assertThat(e.code()).isIn(EXPECTED);
            assertThat(e).hasMessageContaining("file=").hasMessageContaining("offset=");
            return;
        }
        if (expected != null) {
            assertThat(actual).isEqualTo(expected);
        }
    }

    private static List<String> read(byte[] bytes, long fileId, ShardKey key, boolean l0) {
        var entries = new ArrayList<String>();
        try (var guard = new MemoryLimiter(LIMIT_BYTES).acquire(0);
                var arena = new NativeArena(guard)) {
            MemorySegment file = arena.allocate(bytes.length);
            file.copyFrom(MemorySegment.ofArray(bytes));
            if (!l0) {
                readTable(SstReader.open(file, fileId, 1, key), arena, entries);
                return entries;
            }
            L0Reader reader = L0Reader.open(file, fileId, key);
            for (ColumnFamily family : ColumnFamily.values()) {
                if (reader.family(family) != null) {
                    readTable(reader.family(family), arena, entries);
                }
            }
            return entries;
        }
    }

    /** All entries, and some moves that go through the other code. */
    private static void readTable(SstReader table, NativeArena arena, List<String> entries) {
        TableCursor cursor = table.cursor(false, arena);
        for (boolean more = cursor.rewind(); more; more = cursor.nextAllVersions()) {
            entries.add(TableDumps.entry(cursor));
        }
        TableCursor reverse = table.cursor(true, arena);
        reverse.rewind();
        byte[] smallest = table.smallest();
        reverse.seek(smallest, 0, smallest.length);
        cursor.find(smallest, 0, smallest.length, Fingerprint64.hash(smallest), 1);
    }
}
