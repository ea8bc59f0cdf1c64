package io.coplane.sst;

import static io.coplane.sst.CraftedTable.body;
import static io.coplane.sst.CraftedTable.concat;
import static io.coplane.sst.CraftedTable.entry;
import static io.coplane.sst.CraftedTable.ints;
import static io.coplane.sst.CraftedTable.longs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.CraftedTable.Block;
import io.coplane.testing.Dumps;
import io.coplane.testing.NoLeaks;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Files with right checksums and wrong fields, as no writer makes them: a typed error, little memory, an end. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
class CraftedFileTest {
    private static final long LIMIT_BYTES = 16 << 20;
    private static final byte[] A = entry("a", 0, 5, 0, "1");
    private static final byte[] B = entry("b", 0, 5, 0, "2");

    /** A name and what is wrong. */
    record Wrong(String name, Consumer<CraftedTable> change) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Wrong> blocks() {
        int[] none = {};
        return Stream.of(
                block("no entries", body(0, none)),
                block("4 Gi entries", body(-1, new int[] {0}, A)),
                block("2 Gi entries", body(Integer.MIN_VALUE, new int[] {0}, A)),
                block("more offsets than bytes", body(1_000_000, new int[] {0}, A)),
                block("first offset is not 0 but far", body(1, new int[] {1 << 30}, A)),
                block("negative offset", body(2, new int[] {0, -8}, A, B)),
                block("offsets that go back", body(3, new int[] {0, A.length, 0}, A, B)),
                block("offsets that stay", body(2, new int[] {0, 0}, A, B)),
                block("offset at the very end", body(2, new int[] {0, A.length}, A)),
                block("key longer than its entry", body(new byte[] {-1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})),
                block("user meta longer than its entry", userMetaTooLong()),
                block("old version without room", body(Arrays.copyOf(entry("a", 2, 5, 4, ""), 4 + 8))),
                block("format of the future", concat(ints(2, 1, 0), new byte[2], A)),
                block("prefix longer than the block", concat(ints(1, 1, 0), new byte[] {-1, -1}, A)),
                block("empty content", new byte[0]),
                block("seven bytes", new byte[7]));
    }

    private static byte[] userMetaTooLong() {
        byte[] entry = entry("a", 0, 5, 0, "1");
        entry[3 + 1 + 8] = -1;
        return body(entry);
    }

    private static Wrong block(String name, byte[] content) {
        return new Wrong("block: " + name, table -> table.main.add(new Block("a", content)));
    }

    static Stream<Wrong> compressed() {
        byte[] lz4 = Tables.hex("f041");
        return Stream.of(
                compressed("LZ4 of 4 GiB", CompressionType.LZ4, concat(ints(-1), lz4)),
                compressed("LZ4 of 2 GiB", CompressionType.LZ4, concat(ints(Integer.MAX_VALUE), lz4)),
                compressed("LZ4 of nothing", CompressionType.LZ4, ints(0)),
                compressed(
                        "LZ4 that refers to before its start",
                        CompressionType.LZ4,
                        concat(ints(40), Tables.hex("14610900"))),
                compressed("LZ4 without a length", CompressionType.LZ4, new byte[3]),
                compressed("zstd without a content size", CompressionType.ZSTD, Tables.hex("28b52ffd 00 58 010000")),
                compressed("zstd of 2^63", CompressionType.ZSTD, Tables.hex("28b52ffd e0 0000000000000080 010000")),
                compressed("zstd of 2^64-1", CompressionType.ZSTD, Tables.hex("28b52ffd e0 ffffffffffffffff 010000")),
                compressed(
                        "zstd of 1 GiB in one small block",
                        CompressionType.ZSTD,
                        Tables.hex("28b52ffd a0 00000040 0b0000 61")),
                compressed("a zstd bomb", CompressionType.ZSTD, bomb(1_000)),
                compressed("a skippable frame", CompressionType.ZSTD, Tables.hex("502a4d18 04000000 00000000")),
                compressed("no frame", CompressionType.ZSTD, new byte[64]));
    }

    private static Wrong compressed(String name, CompressionType type, byte[] content) {
        return new Wrong(name, table -> {
            table.compression = type;
            table.main.add(new Block("a", content));
        });
    }

    /** A frame of blocks that repeat one byte 128 Ki times, four bytes each. */
    private static byte[] bomb(int blocks) {
        var out = new ByteArrayOutputStream();
        out.writeBytes(Tables.hex("28b52ffd a0"));
        out.writeBytes(ints(blocks << 17));
        for (int i = 0; i < blocks; i++) {
            int header = (1 << 17) << 3 | 1 << 1 | (i + 1 == blocks ? 1 : 0);
            out.writeBytes(Arrays.copyOf(ints(header), 3));
            out.write('a');
        }
        return out.toByteArray();
    }

    static Stream<Wrong> tables() {
        return Stream.of(
                table("4 Gi blocks", table -> table.mainCount = -1),
                table("2 Gi blocks", table -> table.mainCount = Integer.MIN_VALUE),
                table("more blocks than the index has", table -> table.mainCount = 3),
                table("no blocks", table -> table.mainCount = 0),
                table("blocks at one place", table -> table.mainOffsets = new int[] {0, 0}),
                table("blocks that overlap", table -> table.mainOffsets = new int[] {0, 1}),
                table("blocks that go back", table -> table.mainOffsets = new int[] {20, 0}),
                table("a block beyond the blocks", table -> table.mainOffsets = new int[] {0, 1 << 20}),
                table("a block at 4 Gi - 1", table -> table.mainOffsets = new int[] {0, -1}),
                table("blocks out of order", table -> table.main.add(new Block("a0", body(A)))),
                table("blocks of one key", table -> table.main.add(new Block("b", body(B)))),
                table("a filter without a size", table -> table.filter = new byte[19]),
                table("a filter without fingerprints", table -> table.filter = filter(4, 3, 4, 0)),
                table("a filter that is cut", table -> table.filter = filter(4, 3, 4, 11)),
                table("a filter of 2 Gi slots", table -> table.filter = filter(1 << 30, (1 << 30) - 1, 1 << 30, 12)),
                table("a filter of negative segments", table -> table.filter = filter(Integer.MIN_VALUE, -1, 4, 12)),
                table("a filter with another mask", table -> table.filter = filter(4, -1, 4, 12)),
                table("a filter with no segments", table -> table.filter = filter(4, 3, 0, 12)),
                table("a filter of 3 slots a segment", table -> table.filter = filter(3, 2, 3, 12)),
                table("a filter of 4 Gi counts", table -> table.filter = filter(4, 3, -4, 12)),
                table("a property of 4 GiB", table -> table.moreProperties = concat(new byte[] {1, 0, 'a'}, ints(-1))),
                table("a smallest key of 70,000 bytes", table -> table.smallest = "a".repeat(70_000)),
                table("a name beyond the end", table -> table.moreProperties = new byte[] {-1, -1, 'a'}),
                table(
                        "a number of 7 bytes",
                        table -> table.moreProperties = CraftedTable.property(TableProperties.KV_SIZE, new byte[7])));
    }

    private static byte[] filter(int segmentLength, int mask, int countLength, int fingerprints) {
        return concat(longs(1), ints(segmentLength, mask, countLength), new byte[fingerprints]);
    }

    private static Wrong table(String name, Consumer<CraftedTable> change) {
        return new Wrong(name, table -> {
            table.main.add(new Block("a", body(A)));
            table.main.add(new Block("b", body(B)));
            change.accept(table);
        });
    }

    @ParameterizedTest
    @MethodSource({"blocks", "compressed", "tables", "orders"})
    void isRefusedByATypedError(Wrong wrong) {
        var table = new CraftedTable();
        wrong.change().accept(table);
        byte[] file = table.build();

        assertThatThrownBy(() -> readAll(file))
                .isInstanceOfSatisfying(
                        CoplaneException.class,
                        e -> assertThat(e.code())
                                .isIn(ErrorCode.FILE_FORMAT, ErrorCode.FILE_TRUNCATED, ErrorCode.MEMORY_LIMIT));
    }

    @Test
    void aSoundOneIsRead() {
        var table = new CraftedTable();
        table.main.add(new Block("a", body(A)));
        table.main.add(new Block("b", body(B)));

        assertThat(readAll(table.build())).containsExactly("a 5", "b 5");
    }

    /** What a chain of versions claims: itself, a younger one, one of another key, one that isn't there. */
    @Test
    void versionsThatLeadAstrayEnd() {
        int bits = ValueMeta.HAS_OLD_VERSION;
        for (Block old : List.of(
                new Block("a", body(entry("a", 0, 5, 0, "same"))),
                new Block("a", body(entry("a", 0, 9, 0, "younger"), entry("a", 0, 9, 0, "again"))),
                new Block("b", body(entry("b", 0, 4, 0, "of b"))),
                new Block("a", body(entry("a", 2, 4, 4, "chained"))))) {
            var table = new CraftedTable();
            table.main.add(new Block("a", body(entry("a", bits, 5, 4, "1"), B)));
            table.old.add(old);
            readOrFail(table.build());
        }
        var without = new CraftedTable();
        without.main.add(new Block("a", body(entry("a", bits, 5, 4, "1"), B)));
        readOrFail(without.build());
    }

    /** Wrong rows would be the answer: binary search and merging rely on the order. */
    static Stream<Wrong> orders() {
        byte[] ab = entry("ab", 0, 5, 0, "");
        int bits = ValueMeta.HAS_OLD_VERSION;
        return Stream.of(
                order("entries out of order", body(A, B, ab)),
                order("an entry twice", body(A, A)),
                order("a key behind one that it begins", body(A, ab, A)),
                order(
                        "order that only byte 9 tells",
                        body(A, entry("a23456789", 0, 5, 0, ""), entry("a23456788", 0, 5, 0, ""))),
                order("another first key than the index has", body(ab)),
                new Wrong("a block that reaches into the next", table -> {
                    table.main.add(new Block("a", body(A, B)));
                    table.main.add(new Block("b", body(B)));
                }),
                new Wrong("a key beyond the biggest", table -> {
                    table.main.add(new Block("a", body(A, B)));
                    table.biggest = "aa";
                }),
                new Wrong("a key before the smallest", table -> {
                    table.main.add(new Block("a", body(A, B)));
                    table.smallest = "aa";
                }),
                new Wrong("versions that ascend", table -> {
                    table.main.add(new Block("a", body(entry("a", bits, 5, 3, "1"))));
                    table.old.add(new Block("a", body(entry("a", 0, 3, 0, ""), entry("a", 0, 4, 0, ""))));
                }),
                new Wrong("an older version that is newer", table -> {
                    table.main.add(new Block("a", body(entry("a", bits, 5, 6, "1"))));
                    table.old.add(new Block("a", body(entry("a", 0, 6, 0, ""))));
                }),
                new Wrong("older keys out of order", table -> {
                    table.main.add(new Block("a", body(entry("a", bits, 5, 3, "1"), B)));
                    table.old.add(new Block("b", body(entry("b", 0, 3, 0, ""), entry("a", 0, 3, 0, ""))));
                }));
    }

    private static Wrong order(String name, byte[] content) {
        return new Wrong(name, table -> table.main.add(new Block("a", content)));
    }

    @Test
    void anL0FileWithFamiliesAstrayIsRefused() {
        byte[] good = Dumps.bytes(HexVectors.L0);
        int tail = good.length - L0Reader.TAIL_BYTES;
        for (int[] offsets : new int[][] {
            {-1, 0x159, 0x2a7},
            {0, -1, 0x2a7},
            {0, 0x159, -1},
            {0x159, 0, 0x2a7},
            {0, 0, 0},
            {0x2a7, 0x2a7, 0x2a7},
            {0, 0x158, 0x2a7},
            {0, 0x15a, 0x2a7}
        }) {
            byte[] bad = good.clone();
            System.arraycopy(ints(offsets), 0, bad, tail, 12);
            assertThatThrownBy(() -> {
                        try (var file = new TestFile(bad)) {
                            L0Reader.open(file.bytes, 7, null);
                        }
                    })
                    .isInstanceOfSatisfying(
                            CoplaneException.class,
                            e -> assertThat(e.code())
                                    .isIn(ErrorCode.FILE_FORMAT, ErrorCode.FILE_TRUNCATED, ErrorCode.FILE_CHECKSUM));
        }
    }

    @Test
    void aReferenceThatLeavesTheBlobFileIsRefused() {
        try (var file = new TestFile(Dumps.bytes(HexVectors.BLOBS))) {
            BlobReader blobs = BlobReader.open(file.bytes, 9, null);
            var fetcher = new BlobFetcher(file.arena);
            for (BlobRef ref : List.of(
                    new BlobRef(9, -1, 5, 5),
                    new BlobRef(9, 0, -1, 5),
                    new BlobRef(9, 27, 0, 0),
                    new BlobRef(9, 1, 5, 5),
                    new BlobRef(9, Integer.MIN_VALUE, Integer.MIN_VALUE, 5),
                    new BlobRef(9, 120, 5, 5),
                    new BlobRef(9, 0, 5, 4),
                    new BlobRef(9, 0, 5, 0),
                    new BlobRef(9, 0, 5, -1))) {
                assertThatThrownBy(() -> fetcher.fetch(blobs, ref))
                        .isInstanceOfSatisfying(
                                CoplaneException.class,
                                e -> assertThat(e.code()).isEqualTo(ErrorCode.FILE_FORMAT));
            }
        }
    }

    @Test
    void anOldBlobFileIsNamed() {
        byte[] old = new byte[40];
        System.arraycopy(Tables.hex("efbeadde"), 0, old, 36, 4);
        try (var file = new TestFile(old)) {
            assertThatThrownBy(() -> BlobReader.open(file.bytes, 9, null))
                    .hasMessageStartingWith("blob file of an old version without index: file=0000000000000009.blob");
        }
    }

    private static void readOrFail(byte[] file) {
        try {
            readAll(file);
        } catch (CoplaneException e) {
            assertThat(e.code()).isIn(ErrorCode.FILE_FORMAT, ErrorCode.FILE_CHECKSUM);
        }
    }

    /** All entries forward; then backward, sought and found, without a look at what comes. */
    private static List<String> readAll(byte[] bytes) {
        var entries = new ArrayList<String>();
        try (var guard = new MemoryLimiter(LIMIT_BYTES).acquire(0);
                var arena = new NativeArena(guard)) {
            MemorySegment file = arena.allocate(bytes.length);
            file.copyFrom(MemorySegment.ofArray(bytes));
            SstReader table = SstReader.open(file, 1, 1, null);
            TableCursor cursor = table.cursor(false, arena);
            for (boolean more = cursor.rewind(); more; more = cursor.nextAllVersions()) {
                entries.add(new String(cursor.copyKey(), StandardCharsets.US_ASCII) + " " + cursor.version());
                assertThat(entries.size()).isLessThan(1_000);
            }
            TableCursor reverse = table.cursor(true, arena);
            int moves = 0;
            for (boolean more = reverse.rewind(); more; more = reverse.next()) {
                while (reverse.nextVersion()) {
                    assertThat(moves++).isLessThan(1_000);
                }
                assertThat(moves++).isLessThan(1_000);
            }
            for (String key : List.of("", "a", "aa", "b", "c", "zzz", "zzzz")) {
                byte[] k = Tables.bytes(key);
                cursor.seek(k, 0, k.length);
                reverse.seek(k, 0, k.length);
                for (long version : new long[] {0, 1, 4, 5, 9, -1}) {
                    cursor.find(k, 0, k.length, Fingerprint64.hash(k), version);
                }
            }
        }
        return entries;
    }
}
