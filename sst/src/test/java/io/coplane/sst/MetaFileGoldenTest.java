package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.testing.Corrupt;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Meta parts and tiny metas of golden files. */
@ExtendWith(NoLeaks.class)
class MetaFileGoldenTest {
    private static final Set<ErrorCode> BROKEN =
            Set.of(ErrorCode.FILE_TRUNCATED, ErrorCode.FILE_CHECKSUM, ErrorCode.FILE_FORMAT);

    static Stream<GoldenCase> tables() {
        return TestData.cases("sst");
    }

    static Stream<GoldenCase> blobs() {
        return TestData.cases("blob");
    }

    @ParameterizedTest
    @MethodSource("tables")
    void theMetaPartOfATableTellsWhatTheTableDoes(GoldenCase golden) {
        try (var file = new TestFile(golden.bytes("table.sst"))) {
            long fileId = Long.parseUnsignedLong(golden.meta().get("file_id"));
            SstReader table = SstReader.open(file.bytes, fileId, 1, TableDumps.shardKey(golden));

            MetaFile meta = MetaFile.openSst(MetaFile.ofTable(file.bytes, fileId), fileId);

            assertThat(meta.kind()).isEqualTo(FileKind.SST);
            assertThat("" + meta.metaOffset()).isEqualTo(golden.meta().get("footer.index_offset"));
            assertThat(meta.fileBytes()).isEqualTo(file.bytes.byteSize());
            assertThat(meta.properties()).usingRecursiveComparison().isEqualTo(table.properties());
            assertThat(Long.toUnsignedString(meta.property("max_ts")))
                    .isEqualTo(golden.meta().get("max_ts"));
            assertThatThrownBy(() -> meta.property("tombs")).hasMessage("property not supported: tombs");
            segments(meta, table);
            ranges(meta, table);

            TinyMeta tiny = TinyMeta.open(meta.tinyMeta(), fileId);
            assertThat(tiny.fileBytes()).isEqualTo(file.bytes.byteSize());
            assertThat(tiny.metaOffset()).isEqualTo(meta.metaOffset());
            assertThat(tiny.metaBytes()).isEqualTo(file.bytes.byteSize() - meta.metaOffset());
            assertThat(tiny.properties()).usingRecursiveComparison().isEqualTo(table.properties());
        }
    }

    /** No block crosses a cut, every segment but those at the ends of the two areas reaches the wanted size. */
    private static void segments(MetaFile meta, SstReader table) {
        for (long segmentBytes : new long[] {1, 100, 1_000, 1 << 20}) {
            long[] offsets = meta.segmentOffsets(segmentBytes);
            assertThat(offsets[0]).isZero();
            assertThat(offsets[offsets.length - 1]).isEqualTo(meta.metaOffset());
            long oldData = table.footer().oldDataOffset();
            assertThat(offsets).contains(oldData);
            for (int i = 1; i < offsets.length; i++) {
                assertThat(offsets[i]).isGreaterThan(offsets[i - 1]);
                boolean atAnEnd = offsets[i] == oldData || offsets[i] == meta.metaOffset();
                assertThat(atAnEnd || offsets[i] - offsets[i - 1] >= segmentBytes)
                        .isTrue();
            }
            for (boolean old : new boolean[] {false, true}) {
                BlockIndex index = old ? table.blocks().oldIndex : table.blocks().index;
                for (int block = 0; block < index.count(); block++) {
                    long start = index.start(block);
                    long end = index.end(block);
                    assertThat(Arrays.stream(offsets).noneMatch(cut -> start < cut && cut < end))
                            .isTrue();
                }
            }
        }
    }

    private static void ranges(MetaFile meta, SstReader table) {
        BlockIndex index = table.blocks().index;
        byte[] biggest = meta.biggest();
        byte[] behind = Arrays.copyOf(biggest, biggest.length + 1);
        for (int block = 0; block < index.count(); block++) {
            byte[] lower = index.copyKey(block);
            byte[] upper = block + 1 < index.count() ? index.copyKey(block + 1) : behind;
            assertThat(meta.dataRange(lower, upper)).containsExactly(index.start(block), index.end(block));
        }
        assertThat(meta.dataRange(behind, Arrays.copyOf(behind, behind.length + 1)))
                .containsExactly(0, 0);
        assertThat(meta.dataRange(new byte[0], meta.smallest())).containsExactly(0, 0);
    }

    @ParameterizedTest
    @MethodSource("blobs")
    void theMetaPartOfABlobFileTellsWhatTheFileDoes(GoldenCase golden) {
        try (var file = new TestFile(golden.bytes("table.blob"))) {
            long fileId = Long.parseUnsignedLong(golden.meta().get("file_id"));
            BlobReader blobs = BlobReader.open(file.bytes, fileId, TableDumps.shardKey(golden));

            MetaFile meta = MetaFile.openBlob(file.bytes.asSlice(blobs.metaOffset()), fileId);

            assertThat(meta.kind()).isEqualTo(FileKind.BLOB);
            assertThat("" + meta.metaOffset()).isEqualTo(golden.meta().get("footer.index_offset"));
            assertThat(meta.fileBytes()).isEqualTo(file.bytes.byteSize());
            assertThat(meta.smallest()).isEqualTo(blobs.smallest());
            assertThat(meta.biggest()).isEqualTo(blobs.biggest());
            long[] offsets = meta.segmentOffsets(1);
            assertThat(offsets).hasSize(blobs.index().count() + 1).startsWith(0).endsWith(meta.metaOffset());
            assertThatThrownBy(() -> meta.property("max_ts")).hasMessage("property not found: max_ts");
        }
    }

    @Test
    void anythingElseIsRefused() {
        GoldenCase golden = TestData.cases("l0").findFirst().orElseThrow();
        try (var l0 = new TestFile(golden.bytes("table.sst"));
                var short28 = new TestFile(new byte[27])) {
            assertThatThrownBy(() -> MetaFile.openSst(l0.bytes, 42))
                    .hasMessageStartingWith("IA manager error: 42 open for sst: footer not match")
                    .isInstanceOfSatisfying(
                            CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.FILE_FORMAT));
            assertThatThrownBy(() -> TinyMeta.open(l0.bytes, 42))
                    .hasMessageStartingWith("SstTinyMeta: footer not match: 42");
            assertThatThrownBy(() -> MetaFile.ofTable(short28.bytes, 42)).hasMessageStartingWith("Invalid file size");
            byte[] ones = new byte[28];
            Arrays.fill(ones, (byte) 0xFF);
            assertThatThrownBy(() -> MetaFile.ofTable(MemorySegment.ofArray(ones), 42))
                    .hasMessageStartingWith("Invalid file size");
        }
    }

    @ParameterizedTest
    @MethodSource("tables")
    void damageGivesATypedErrorOrTheRightAnswer(GoldenCase golden) {
        byte[] whole = golden.bytes("table.sst");
        long fileId = Long.parseUnsignedLong(golden.meta().get("file_id"));
        byte[] good;
        try (var file = new TestFile(whole)) {
            good = MetaFile.ofTable(file.bytes, fileId).toArray(Layouts.BYTE);
        }

        Corrupt.everyWay(good, 7, 90, (damage, bytes) -> {
            try (var file = new TestFile(bytes)) {
                MetaFile meta = MetaFile.openSst(file.bytes, fileId);
                meta.segmentOffsets(1_000);
                TinyMeta.open(meta.tinyMeta(), fileId).properties();
            } catch (CoplaneException e) {
                assertThat(e.code()).isIn(BROKEN);
                assertThat(e).hasMessageContaining("file=").hasMessageContaining("offset=");
            }
        });
    }

    @Test
    void namesOfLocalFiles() { // ia.md 2.2
        assertThat(MetaFile.name(FileKind.SST, 42)).isEqualTo("000000000000002a.sst.meta");
        assertThat(MetaFile.name(FileKind.COLUMNAR, 43)).isEqualTo("000000000000002b.col.meta");
        assertThat(MetaFile.Name.parse("000000000000002a.sst.meta")).isEqualTo(new MetaFile.Name(FileKind.SST, 42));
        assertThat(MetaFile.Name.parse("ffffffffffffffff.ftsded.meta"))
                .isEqualTo(new MetaFile.Name(FileKind.FTS_DEDICATED, -1));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "000000000000002a.sst",
                "000000000000002a.sst.meta1",
                "000000000000002a.s.meta",
                "x00000000000002a.sst.meta",
                "000000000000002a.txn.meta",
                "0000000000000002a.sst.meta",
                ".sst.meta",
                ""
            })
    void namesOfOtherFiles(String name) {
        assertThat(MetaFile.Name.parse(name)).isNull();
    }
}
