package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.memory.Layouts;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Writes the golden tables anew: the bytes are the reference's but for those that it draws at random. */
@ExtendWith(NoLeaks.class)
class SstWriterGoldenTest {
    static Stream<GoldenCase> tables() {
        return TestData.cases("sst");
    }

    static Stream<GoldenCase> l0Files() {
        return TestData.cases("l0");
    }

    @ParameterizedTest
    @MethodSource("tables")
    void writesTablesAsTheReferenceDoes(GoldenCase golden) {
        Map<String, String> meta = golden.meta();
        byte[] expected = golden.bytes("table.sst");
        long fileId = Long.parseUnsignedLong(meta.get("file_id"));
        int level = Integer.parseInt(meta.get("get_level"));
        long snapVersion = Long.parseUnsignedLong(meta.get("snap_version"));
        ShardKey key = TableDumps.shardKey(golden);

        try (var file = new TestFile(expected)) {
            SstReader theirs = SstReader.open(file.bytes, fileId, level, key);
            boolean lockFamily = theirs.properties().maxLockTs() != fileId;
            SstOptions options = options(theirs, meta, key);
            try (var builder = new SstBuilder(options, fileId, lockFamily, snapVersion, true, file.guard)) {
                copy(theirs, builder, file);
                if (options.compression() == CompressionType.NONE) {
                    assertThat("" + builder.estimatedBytes()).isEqualTo(meta.get("estimated_size_before_finish"));
                }

                SstFile ours = builder.finish(file.arena);
                SstReader reader = SstReader.open(ours.bytes(), fileId, level, key);

                if (options.compression() == CompressionType.NONE) {
                    assertThat("" + ours.metaOffset()).isEqualTo(meta.get("result.meta_offset"));
                    assertThat("" + ours.tinyMetaOffset()).isEqualTo(meta.get("result.tiny_meta_offset"));
                    byte[] written = ours.bytes().toArray(Layouts.BYTE);
                    assertSame(written, expected, theirs.footer());
                } else {
                    compareLogically(golden, reader, file, theirs);
                }
                assertThat(Dumps.hex(ours.smallest())).isEqualTo(meta.get("result.smallest"));
                assertThat(Dumps.hex(ours.biggest())).isEqualTo(meta.get("result.biggest"));
                var dumps = new TableDumps(golden, "", reader, file.arena);
                dumps.entries();
                dumps.backwards();
                dumps.seeks();
                dumps.gets();
                filterHoldsEveryKey(golden, "", reader);
                assertThat(filterHeader(reader, ours.bytes())).isEqualTo(filterHeader(theirs, file.bytes));
            }
        }
    }

    private static void filterHoldsEveryKey(GoldenCase golden, String prefix, SstReader ours) {
        assertThat(ours.hasFilter()).isTrue();
        for (byte[] key : golden.distinctKeys(prefix + "entries.tsv")) {
            assertThat(ours.mayContain(Fingerprint64.hash(key))).isTrue();
        }
    }

    /** Seed and geometry. */
    private static byte[] filterHeader(SstReader table, MemorySegment bytes) {
        return bytes.asSlice(table.footer().filterOffset() + FilterSection.HEADER_BYTES, BinaryFuse8.HEADER_BYTES)
                .toArray(Layouts.BYTE);
    }

    /** Compressed bytes depend on the codec's version: blocks are compared decoded. */
    static void compareLogically(GoldenCase golden, SstReader ours, TestFile file, SstReader theirs) {
        assertThat(ours.properties()).usingRecursiveComparison().isEqualTo(theirs.properties());
        var ourLoader = new BlockLoader(file.arena);
        var theirLoader = new BlockLoader(file.arena);
        for (boolean old : new boolean[] {false, true}) {
            BlockIndex index = old ? ours.blocks().oldIndex : ours.blocks().index;
            BlockIndex other = old ? theirs.blocks().oldIndex : theirs.blocks().index;
            assertThat(index.count()).as(golden.name()).isEqualTo(other.count());
            for (int i = 0; i < index.count(); i++) {
                var ourView = new BlockView();
                var theirView = new BlockView();
                ourLoader.load(ours.blocks(), old, i, ourView);
                theirLoader.load(theirs.blocks(), old, i, theirView);
                assertThat(ourView.viewBody().mismatch(theirView.viewBody())).isEqualTo(-1);
                assertThat(index.copyKey(i)).isEqualTo(other.copyKey(i));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("l0Files")
    void writesL0FilesAsTheReferenceDoes(GoldenCase golden) {
        Map<String, String> meta = golden.meta();
        byte[] expected = golden.bytes("table.sst");
        long fileId = Long.parseUnsignedLong(meta.get("file_id"));
        ShardKey key = TableDumps.shardKey(golden);

        try (var file = new TestFile(expected)) {
            L0Reader theirs = L0Reader.open(file.bytes, fileId, key);
            SstReader any = Stream.of(ColumnFamily.values())
                    .map(theirs::family)
                    .filter(table -> table != null)
                    .findFirst()
                    .orElseThrow();
            SstOptions options = options(any, meta, key);
            try (var builder = new L0Builder(options, fileId, theirs.snapVersion(), file.guard)) {
                for (ColumnFamily family : ColumnFamily.values()) {
                    if (theirs.family(family) != null) {
                        copy(theirs.family(family), builder.family(family), file);
                    }
                }

                MemorySegment ours = builder.finish(file.arena).bytes();
                byte[] written = ours.toArray(Layouts.BYTE);
                L0Reader reader = L0Reader.open(ours, fileId, key);
                for (ColumnFamily family : ColumnFamily.values()) {
                    if (reader.family(family) != null) {
                        String prefix = "cf" + family.number() + ".";
                        filterHoldsEveryKey(golden, prefix, reader.family(family));
                        new TableDumps(golden, prefix, reader.family(family), file.arena).entries();
                    }
                }

                SstFooter[] footers = Stream.of(ColumnFamily.values())
                        .map(theirs::family)
                        .filter(table -> table != null)
                        .map(SstReader::footer)
                        .toArray(SstFooter[]::new);
                assertSame(written, expected, footers);
            }
        }
    }

    private static SstOptions options(SstReader theirs, Map<String, String> meta, ShardKey key) {
        ShardKey writing =
                key == null ? null : key.withVersion(Integer.parseUnsignedInt(meta.get("enc.writer_version")));
        int level = Integer.parseInt(meta.getOrDefault("compression_level", "3"));
        return new SstOptions(
                Integer.parseInt(meta.get("block_size")), theirs.compression(), level, theirs.checksum(), writing);
    }

    private static void copy(SstReader from, SstBuilder to, TestFile file) {
        TableCursor cursor = from.cursor(false, file.arena);
        for (boolean more = cursor.rewind(); more; more = cursor.nextAllVersions()) {
            to.add(cursor);
        }
    }

    /** Equal but for fingerprints of filters and the checksums over them. */
    static void assertSame(byte[] ours, byte[] theirs, SstFooter... footers) {
        byte[] masked = ours.clone();
        assertThat(ours).hasSameSizeAs(theirs);
        for (SstFooter footer : footers) {
            int from = (int) footer.filterOffset();
            int to = (int) footer.propertiesOffset();
            if (from < to) {
                System.arraycopy(theirs, from, masked, from, Formats.CHECKSUM_BYTES);
                int fingerprints = from + FilterSection.HEADER_BYTES + BinaryFuse8.HEADER_BYTES;
                System.arraycopy(theirs, fingerprints, masked, fingerprints, to - fingerprints);
            }
        }
        assertThat(masked).isEqualTo(theirs);
    }
}
