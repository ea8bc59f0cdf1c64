package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.testing.Corrupt;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NoLeaks.class)
class BlobGoldenTest {
    /** Block size of the tables beside blobs: no dump names it, but their blocks are cut there. */
    private static final int BLOCK_BYTES_BESIDE = 700;

    private static final long TABLE_ID_DISTANCE = 0x10_0000;
    private static final Set<ErrorCode> EXPECTED = Set.of(
            ErrorCode.FILE_TRUNCATED,
            ErrorCode.FILE_CHECKSUM,
            ErrorCode.FILE_FORMAT,
            ErrorCode.FILE_ENCRYPTED,
            ErrorCode.BAD_ENCRYPTION_KEY);

    static Stream<GoldenCase> cases() {
        return TestData.cases("blob");
    }

    @ParameterizedTest
    @MethodSource("cases")
    void readsWhatTheReferenceWrote(GoldenCase golden) {
        Map<String, String> meta = golden.meta();
        try (var file = new TestFile(golden.bytes("table.blob"))) {
            BlobReader reader = open(golden, file.bytes);

            assertThat("" + reader.metaOffset()).isEqualTo(meta.get("footer.index_offset"));
            assertThat("" + reader.propertiesOffset()).isEqualTo(meta.get("footer.properties_offset"));
            assertThat(Integer.toUnsignedString(reader.totalBlobBytes())).isEqualTo(meta.get("footer.total_blob_size"));
            assertThat("" + reader.minBlobBytes()).isEqualTo(meta.get("footer.min_blob_size"));
            assertThat("" + reader.compression().number()).isEqualTo(meta.get("footer.compression_type"));
            assertThat("" + reader.checksum().number()).isEqualTo(meta.get("footer.checksum_type"));
            assertThat(Dumps.hex(reader.smallest())).isEqualTo(meta.get("smallest"));
            assertThat(Dumps.hex(reader.biggest())).isEqualTo(meta.get("biggest"));
            assertThat(index(reader))
                    .isEqualTo(golden.tsv("index.tsv").stream()
                            .map(line -> String.join("\t", line))
                            .toList());
            var fetcher = new BlobFetcher(file.arena);
            List<String[]> lines = golden.tsv("refs.tsv");
            assertThat(lines).isNotEmpty();
            for (String[] line : lines) {
                assertThat(Dumps.value(fetcher.fetch(reader, ref(line))))
                        .as(line[0])
                        .isEqualTo(line[5]);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void resolvesTheReferencesOfATable(GoldenCase golden) {
        if (!golden.has("table.sst")) {
            return;
        }
        try (var blobs = new TestFile(golden.bytes("table.blob"));
                var file = new TestFile(golden.bytes("table.sst"))) {
            BlobReader reader = open(golden, blobs.bytes);
            long tableId = reader.fileId() + TABLE_ID_DISTANCE;
            SstReader table = SstReader.open(file.bytes, tableId, 1, TableDumps.shardKey(golden));
            var dumps = new TableDumps(golden, "sst.", table, file.arena);
            dumps.entries();
            dumps.blocks();
            dumps.seeks();
            dumps.gets();
            dumps.filter();

            var fetcher = new BlobFetcher(file.arena);
            var resolved = new ArrayList<String>();
            TableCursor cursor = table.cursor(false, file.arena);
            for (boolean more = cursor.rewind(); more; more = cursor.nextAllVersions()) {
                MemorySegment value = cursor.valueSegment().asSlice(cursor.valueOffset(), cursor.valueLength());
                int bits = cursor.meta();
                if ((bits & ValueMeta.BLOB_REF) != 0) {
                    bits &= ~ValueMeta.BLOB_REF;
                    value = fetcher.fetch(reader, BlobRef.read(value, 0, cursor.valueLength()));
                }
                resolved.add(String.join(
                        "\t",
                        Dumps.hex(cursor.copyKey()),
                        Long.toUnsignedString(cursor.version()),
                        HexFormat.of().toHexDigits((byte) bits),
                        Dumps.hex(cursor.copyUserMeta()),
                        Dumps.value(value)));
            }
            assertThat(resolved)
                    .isEqualTo(golden.tsv("sst.resolved.tsv").stream()
                            .map(line -> String.join("\t", line))
                            .toList());
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void writesAsTheReferenceDoes(GoldenCase golden) {
        Map<String, String> meta = golden.meta();
        byte[] expected = golden.bytes("table.blob");
        ShardKey key = TableDumps.shardKey(golden);
        try (var file = new TestFile(expected)) {
            BlobReader theirs = open(golden, file.bytes);
            var options = new BlobOptions(
                    theirs.compression(),
                    3,
                    theirs.checksum(),
                    theirs.minBlobBytes(),
                    Integer.parseInt(meta.get("block_size")),
                    key == null ? null : key.withVersion(Integer.parseInt(meta.get("enc.writer_version"))));
            try (var builder = new BlobBuilder(options, theirs.fileId(), file.guard)) {
                var fetcher = new BlobFetcher(file.arena);
                var refs = new ArrayList<BlobRef>();
                List<String[]> lines = golden.tsv("refs.tsv");
                for (String[] line : lines) {
                    byte[] added = Dumps.bytes(line[0]);
                    MemorySegment value = fetcher.fetch(theirs, ref(line));
                    refs.add(builder.add(added, 0, added.length, value, 0, (int) value.byteSize()));
                }
                assertThat("" + builder.totalBlobBytes()).isEqualTo(meta.get("builder.total_blob_size"));
                SstFile ours = builder.finish(file.arena);

                if (theirs.compression() == CompressionType.NONE) {
                    assertThat("" + ours.metaOffset()).isEqualTo(meta.get("builder.meta_offset"));
                    assertThat(ours.bytes().toArray(Layouts.BYTE)).isEqualTo(expected);
                }
                BlobReader reader = BlobReader.open(ours.bytes(), ours.fileId(), key);
                assertThat(index(reader)).hasSameSizeAs(index(theirs));
                assertThat(reader.smallest()).isEqualTo(theirs.smallest());
                assertThat(reader.biggest()).isEqualTo(theirs.biggest());
                assertThat(reader.totalBlobBytes()).isEqualTo(theirs.totalBlobBytes());
                for (int i = 0; i < reader.index().count(); i++) {
                    assertThat(reader.index().copyKey(i))
                            .isEqualTo(theirs.index().copyKey(i));
                }
                for (int i = 0; i < lines.size(); i++) {
                    assertThat(Dumps.value(fetcher.fetch(reader, refs.get(i)))).isEqualTo(lines.get(i)[5]);
                }
            }
        }
    }

    /** The table beside the blobs: small values stand in it, large ones are moved to the blob file, older versions too. */
    @ParameterizedTest
    @MethodSource("cases")
    void writesTheTableBesideAsTheReferenceDoes(GoldenCase golden) {
        if (!golden.has("table.sst")) {
            return;
        }
        byte[] expected = golden.bytes("table.sst");
        ShardKey key = TableDumps.shardKey(golden);
        try (var blobs = new TestFile(golden.bytes("table.blob"));
                var file = new TestFile(expected)) {
            BlobReader theirBlobs = open(golden, blobs.bytes);
            long tableId = theirBlobs.fileId() + TABLE_ID_DISTANCE;
            SstReader theirs = SstReader.open(file.bytes, tableId, 1, key);
            ShardKey writing =
                    key == null ? null : key.withVersion(theirs.properties().encryptionVersion());
            var options = new SstOptions(BLOCK_BYTES_BESIDE, theirs.compression(), 3, theirs.checksum(), writing);
            try (var builder = new SstBuilder(options, tableId, false, file.guard)) {
                TableCursor cursor = theirs.cursor(false, file.arena);
                for (boolean more = cursor.rewind(); more; more = cursor.nextAllVersions()) {
                    if ((cursor.meta() & ValueMeta.BLOB_REF) == 0) {
                        builder.add(cursor);
                        continue;
                    }
                    BlobRef ref = BlobRef.read(cursor.valueSegment(), cursor.valueOffset(), cursor.valueLength());
                    builder.addBlob(
                            cursor.keyBytes(),
                            0,
                            cursor.keyLength(),
                            cursor.version(),
                            0,
                            cursor.valueSegment(),
                            cursor.userMetaOffset(),
                            cursor.userMetaLength(),
                            ref);
                }

                SstFile ours = builder.finish(file.arena);

                if (theirs.compression() == CompressionType.NONE) {
                    SstWriterGoldenTest.assertSame(ours.bytes().toArray(Layouts.BYTE), expected, theirs.footer());
                } else {
                    SstReader reader = SstReader.open(ours.bytes(), tableId, 1, key);
                    SstWriterGoldenTest.compareLogically(golden, reader, file, theirs);
                }
            }
        }
    }

    private static List<String> index(BlobReader reader) {
        BlobIndex index = reader.index();
        var lines = new ArrayList<String>();
        for (int i = 0; i < index.count(); i++) {
            lines.add(i + "\t" + Dumps.hex(index.copyKey(i)) + "\t" + index.offset(i));
        }
        return lines;
    }

    @Test
    void writesTheFileOf12_7() {
        var options = new BlobOptions(CompressionType.NONE, 3, ChecksumType.NONE, 4, 5, null);
        try (var file = new TestFile(Dumps.bytes(HexVectors.BLOBS));
                var builder = new BlobBuilder(options, 9, file.guard);
                var checked = new BlobBuilder(
                        new BlobOptions(CompressionType.NONE, 3, ChecksumType.CRC32, 4, 5, null), 9, file.guard)) {
            BlobRef first = builder.add(Tables.bytes("bk1"), 0, 3, Tables.bytes("hello"), 0, 5);
            BlobRef second = builder.add(Tables.bytes("bk2"), 0, 3, Tables.bytes("world!"), 0, 6);
            checked.add(Tables.bytes("bk1"), 0, 3, Tables.bytes("hello"), 0, 5);
            checked.add(Tables.bytes("bk2"), 0, 3, Tables.bytes("world!"), 0, 6);

            assertThat(first).isEqualTo(new BlobRef(9, 0, 5, 5));
            assertThat(second).isEqualTo(new BlobRef(9, 13, 6, 6));
            assertThat(Dumps.hex(builder.finish(file.arena).bytes())).isEqualTo(HexVectors.BLOBS);
            String withChecksums = Dumps.hex(checked.finish(file.arena).bytes());
            assertThat(withChecksums)
                    .startsWith("86a61036")
                    .contains("e8988471")
                    .endsWith("02");
            assertThat(withChecksums.substring(2 * 27, 2 * 31)).isEqualTo("4a7728e1");
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void damagedFileGivesATypedErrorOrTheRightAnswer(GoldenCase golden) {
        List<String[]> refs = golden.tsv("refs.tsv");
        boolean checked = !golden.meta().get("footer.checksum_type").equals("0");
        long fileId = Long.parseUnsignedLong(golden.meta().get("file_id"));
        ShardKey key = TableDumps.shardKey(golden);

        byte[] good = golden.bytes("table.blob");

        int tried = Corrupt.everyWay(good, 7, budget(good), (damage, bytes) -> {
            try (var file = new TestFile(bytes)) {
                BlobReader reader = BlobReader.open(file.bytes, fileId, key);
                var fetcher = new BlobFetcher(file.arena);
                for (String[] line : refs) {
                    String value = Dumps.value(fetcher.fetch(reader, ref(line)));
                    // no checksum covers the footer and its types, nor the properties and their key version
                    if (checked && damaged(bytes, good) < reader.metaOffset()) {
                        assertThat(value).isEqualTo(line[5]);
                    }
                }
            } catch (CoplaneException e) {
                assertThat(e.code()).isIn(EXPECTED);
                assertThat(e).hasMessageContaining("file=").hasMessageContaining("offset=");
            }
        });

        assertThat(tried).isPositive();
    }

    private static int budget(byte[] good) {
        int most = Boolean.getBoolean("coplane.long") ? 50_000 : 2_000;
        return Math.clamp(10L * most * 300 / good.length, 45, most);
    }

    private static int damaged(byte[] bytes, byte[] good) {
        return Arrays.mismatch(bytes, good);
    }

    private static BlobReader open(GoldenCase golden, MemorySegment bytes) {
        long fileId = Long.parseUnsignedLong(golden.meta().get("file_id"));
        return BlobReader.open(bytes, fileId, TableDumps.shardKey(golden));
    }

    private static BlobRef ref(String[] line) {
        return new BlobRef(
                Long.parseUnsignedLong(line[1]),
                Integer.parseUnsignedInt(line[2]),
                Integer.parseUnsignedInt(line[3]),
                Integer.parseUnsignedInt(line[4]));
    }
}
