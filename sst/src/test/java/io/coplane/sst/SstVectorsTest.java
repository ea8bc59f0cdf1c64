package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.memory.Layouts;
import io.coplane.testing.Dumps;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The files of sst.md 12, byte for byte. */
@ExtendWith(NoLeaks.class)
class SstVectorsTest {
    private static final byte[] NO_META = {};
    private static final byte[] USER_META = Tables.hex("01 0500000000000000 0900000000000000");

    private static SstFile table(ChecksumType checksum, ShardKey key, TestFile in) {
        SstOptions options = Tables.PLAIN.withChecksum(checksum).withKey(key);
        try (var builder = new SstBuilder(options, 1, false, 0, false, in.guard)) {
            Tables.add(builder, "abc1", 9, 0, Tables.ZERO_META, "v1");
            Tables.add(builder, "abc2", 8, 0, Tables.ZERO_META, "v2");
            Tables.add(builder, "abc2", 5, 0, Tables.ZERO_META, "old5");
            Tables.add(builder, "abc2", 3, 1, NO_META, "");
            Tables.add(builder, "abd", 7, 0, Tables.ZERO_META, "");
            return builder.finish(in.arena);
        }
    }

    @Test
    void writesTheTableOf12_1() {
        try (var file = new TestFile(new byte[0])) {
            SstFile table = table(ChecksumType.CRC32C, null, file);

            assertThat(Dumps.hex(table.bytes())).isEqualTo(HexVectors.TABLE);
            assertThat(table.metaOffset()).isEqualTo(0x8b);
            assertThat(table.tinyMetaOffset()).isEqualTo(0x117);
        }
    }

    @Test
    void readsTheTableOf12_1() {
        try (var file = new TestFile(Dumps.bytes(HexVectors.TABLE))) {
            SstReader reader = SstReader.open(file.bytes, 1, 1, null);
            TableCursor cursor = reader.cursor(false, file.arena);

            TableProperties p = reader.properties();
            assertThat(p.smallest()).isEqualTo(Tables.bytes("abc1"));
            assertThat(p.biggest()).isEqualTo(Tables.bytes("abd"));
            assertThat(p.maxTs()).isEqualTo(9);
            assertThat(p.entries()).isEqualTo(3);
            assertThat(p.oldEntries()).isEqualTo(2);
            assertThat(p.tombs()).isEqualTo(2);
            assertThat(p.kvBytes()).isEqualTo(18);
            assertThat(p.maxLockTs()).isEqualTo(1);
            assertThat(reader.metaOffset()).isEqualTo(0x8b);

            assertThat(Tables.find(cursor, "abc2", -1)).isTrue();
            assertThat(Tables.value(cursor)).isEqualTo("v2");
            assertThat(cursor.version()).isEqualTo(8);
            assertThat(Tables.find(cursor, "abc2", 7)).isTrue();
            assertThat(Tables.value(cursor)).isEqualTo("old5");
            assertThat(cursor.version()).isEqualTo(5);
            assertThat(Tables.find(cursor, "abc2", 4)).isTrue();
            assertThat(cursor.version()).isEqualTo(3);
            assertThat(cursor.meta()).isEqualTo(ValueMeta.DELETE);
            assertThat(Tables.find(cursor, "abc2", 2)).isFalse();
            assertThat(Tables.find(cursor, "abc0", -1)).isFalse();
            assertThat(Tables.find(cursor, "abd", 6)).isFalse();
            assertThat(Tables.findNewer(cursor, "abc1", 8)).isTrue();
            assertThat(Tables.value(cursor)).isEqualTo("v1");
            assertThat(Tables.findNewer(cursor, "abc1", 9)).isFalse();
        }
    }

    @Test
    void writesIeeeChecksums() {
        String expected = HexVectors.TABLE
                .replace("d36e0d8d", "b5dbe15c")
                .replace("ec8d175a", "08a92804")
                .replace("66f09002", "a1204ccd")
                .replace("4432751f", "89e5cd2b")
                .replace("6d4c6145", "3e6079fc")
                .replace("c9efe6af", "718073ce")
                .replace("00010100594045af", "00020100594045af");

        try (var file = new TestFile(new byte[0])) {
            assertThat(Dumps.hex(table(ChecksumType.CRC32, null, file).bytes())).isEqualTo(expected);
        }
    }

    @Test
    void encryptsBlocksOnly() {
        ShardKey key = ShardKey.plain(ascending64(), 0);
        try (var file = new TestFile(new byte[0])) {
            String encrypted = Dumps.hex(table(ChecksumType.CRC32C, key, file).bytes());

            assertThat(encrypted).hasSize(2 * 499);
            assertThat(encrypted).startsWith(HexVectors.ENCRYPTED_BLOCKS);
            int properties = 2 * 0x117;
            assertThat(encrypted.substring(2 * 0x8b, properties))
                    .isEqualTo(HexVectors.TABLE.substring(2 * 0x8b, properties));
            assertThat(encrypted.substring(properties, properties + 8)).isEqualTo("c3a1c5d1");
            assertThat(encrypted)
                    .endsWith("0e00656e6372797074696f6e5f7665720400000000000000"
                            + "540000008b000000b5000000df0000001701000000010100594045af");
        }
    }

    @ParameterizedTest
    @CsvSource({"LZ4, 429c601c50000000f041", "ZSTD, 034ed96d28b52ffd2050810200"})
    void decodesLiteralsInEveryCompression(CompressionType compression, String head) {
        byte[] table = Dumps.bytes(HexVectors.TABLE);
        byte[] body = Arrays.copyOfRange(table, 4, 0x54);
        byte[] stored = Dumps.bytes(head + Dumps.hex(body));
        byte[] index = Dumps.bytes(HexVectors.TABLE.substring(2 * 0x8f, 2 * 0xb5));
        byte[] file = Arrays.copyOf(stored, stored.length + index.length);
        System.arraycopy(index, 0, file, stored.length, index.length);

        try (var in = new TestFile(file)) {
            var blocks = BlockIndex.open(in.bytes, stored.length, file.length, 0, stored.length, "vector");
            var of = new BlockTable(
                    in.bytes,
                    null,
                    1,
                    "vector",
                    blocks,
                    blocks,
                    compression,
                    ChecksumType.CRC32C,
                    null,
                    NO_META,
                    NO_META,
                    9,
                    null,
                    true);
            var view = new BlockView();
            new BlockLoader(in.arena).load(of, false, 0, view);

            assertThat(view.viewBody().toArray(Layouts.BYTE)).isEqualTo(body);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "k, 10, 60, 2, 226, 64, 80, 171, 587, 70",
        "key, 100, 4096, 1, 2109, 45, 224, 175, 2599, 990",
        "k, 10000, 4096, 49, 241441, 1195, 12832, 171, 255685, 98890",
        "key, 10000, 4096, 49, 241539, 1197, 12832, 175, 255789, 118890"
    })
    void cutsBlocksWhereTheReferenceDoes(
            String prefix,
            int n,
            int blockBytes,
            int blocks,
            int data,
            int index,
            int filter,
            int properties,
            int size,
            int kvBytes) {
        SstOptions options = Tables.PLAIN.withBlockBytes(blockBytes);
        try (var in = new TestFile(new byte[0]);
                var builder = Tables.numbered(options, 2, prefix, n, in.guard)) {
            SstFile file = builder.finish(in.arena);
            SstReader reader = SstReader.open(file.bytes(), 2, 1, null);
            SstFooter footer = reader.footer();

            assertThat(reader.blocks().index.count()).isEqualTo(blocks);
            assertThat(footer.oldDataOffset()).isEqualTo(data);
            assertThat(footer.oldIndexOffset() - footer.indexOffset()).isEqualTo(index);
            assertThat(footer.propertiesOffset() - footer.filterOffset()).isEqualTo(filter);
            assertThat(footer.footerOffset() - footer.propertiesOffset()).isEqualTo(properties);
            assertThat(file.bytes().byteSize()).isEqualTo(size);
            assertThat(reader.properties().kvBytes()).isEqualTo(kvBytes);
            if (blocks == 2) {
                assertThat(Dumps.hex(file.bytes().asSlice(footer.indexOffset(), index)))
                        .isEqualTo("7fccde9e0100000002000000000000000100000002000000000000000000000000000000"
                                + "0200000000000000710000007100000004006b303030020000003035");
            }
            if (blocks == 49) {
                assertThat(reader.blocks().index.copyKey(1)).isEqualTo(Tables.bytes(prefix + "0222"));
                assertThat(reader.blocks().index.copyKey(2)).isEqualTo(Tables.bytes(prefix + "0438"));
                assertThat(reader.blocks().index.copyKey(3)).isEqualTo(Tables.bytes(prefix + "0654"));
            }
        }
    }

    @Test
    void writesAndReadsTheL0FileOf12_5() {
        try (var in = new TestFile(Dumps.bytes(HexVectors.L0));
                var builder = new L0Builder(Tables.PLAIN, 7, 100, false, in.guard)) {
            Tables.add(builder.family(ColumnFamily.WRITE), "k1", 9, 0, USER_META, "v");
            Tables.add(
                    builder.family(ColumnFamily.LOCK),
                    Tables.bytes("k2"),
                    99,
                    0,
                    NO_META,
                    Tables.hex("5004706bac0203"));

            assertThat(Dumps.hex(builder.finish(in.arena).bytes())).isEqualTo(HexVectors.L0);

            L0Reader reader = L0Reader.open(in.bytes, 7, null);
            assertThat(reader.smallest()).isEqualTo(Tables.bytes("k1"));
            assertThat(reader.biggest()).isEqualTo(Tables.bytes("k2"));
            assertThat(reader.maxTs()).isEqualTo(9);
            assertThat(reader.entries()).isEqualTo(2);
            assertThat(reader.kvBytes()).isEqualTo(20);
            assertThat(reader.snapVersion()).isEqualTo(100);
            assertThat(reader.family(ColumnFamily.EXTRA)).isNull();
        }
    }

    @Test
    void writesAndReadsTheSplitL0FileOf12_6() {
        try (var in = new TestFile(Dumps.bytes(HexVectors.SPLIT_L0));
                var builder = new SstBuilder(Tables.PLAIN, 8, false, 100, false, in.guard)) {
            Tables.add(builder, "k1", 9, 0, USER_META, "v");

            assertThat(Dumps.hex(builder.finish(in.arena).bytes())).isEqualTo(HexVectors.SPLIT_L0);

            L0Reader reader = L0Reader.open(in.bytes, 8, null);
            assertThat(reader.snapVersion()).isEqualTo(100);
            assertThat(reader.family(ColumnFamily.WRITE).properties().entries()).isEqualTo(1);
            assertThat(reader.family(ColumnFamily.LOCK)).isNull();
        }
    }

    @Test
    void writesAnEntryWithABlob() {
        try (var in = new TestFile(new byte[0]);
                var builder = new SstBuilder(Tables.PLAIN, 10, false, 0, false, in.guard)) {
            byte[] key = Tables.bytes("bk1");
            var meta = in.arena.allocate(USER_META.length);
            meta.copyFrom(MemorySegment.ofArray(USER_META));
            builder.addBlob(key, 0, key.length, 9, 0, meta, 0, USER_META.length, new BlobRef(9, 0, 5, 5));

            SstFile file = builder.finish(in.arena);
            SstReader reader = SstReader.open(file.bytes(), 10, 1, null);

            String block = "a092bf520100000001000000000000000300626b31000004090000000000000011010500000000000000"
                    + "0900000000000000090000000000000000000000050000000500000000000000";
            assertThat(Dumps.hex(file.bytes())).startsWith(block);
            assertThat(reader.properties().kvBytes()).isEqualTo(25);
            assertThat(reader.properties().inUseBlobBytes()).isEqualTo(5);
        }
    }

    @Test
    void writesAnEmptyOldIndexOf18Bytes() {
        for (ChecksumType checksum : ChecksumType.values()) {
            SstOptions options = Tables.PLAIN.withChecksum(checksum);
            try (var in = new TestFile(new byte[0]);
                    var builder = Tables.numbered(options, 2, "k", 1, in.guard)) {
                SstFile file = builder.finish(in.arena);
                SstFooter footer = SstReader.open(file.bytes(), 2, 1, null).footer();

                String head = new String[] {"00000000", "b7626c22", "b198b44c"}[checksum.number()];
                assertThat(Dumps.hex(file.bytes().asSlice(footer.oldIndexOffset(), 18)))
                        .isEqualTo(head + "01000000" + "00000000" + "0000" + "00000000");
                assertThat(footer.filterOffset() - footer.oldIndexOffset()).isEqualTo(18);
            }
        }
    }

    private static byte[] ascending64() {
        var hex = new StringBuilder();
        for (int i = 0; i < 64; i++) {
            hex.append(HexFormat.of().toHexDigits((byte) i));
        }
        return Dumps.bytes(hex.toString());
    }
}
