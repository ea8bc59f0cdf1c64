package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NoLeaks.class)
class L0GoldenTest {
    static Stream<GoldenCase> cases() {
        return TestData.cases("l0");
    }

    @ParameterizedTest
    @MethodSource("cases")
    void readsWhatTheReferenceWrote(GoldenCase golden) {
        Map<String, String> meta = golden.meta();
        long fileId = Long.parseUnsignedLong(meta.get("file_id"));
        ShardKey key = TableDumps.shardKey(golden);

        try (var file = new TestFile(golden.bytes("table.sst"))) {
            L0Reader reader = L0Reader.open(file.bytes, fileId, key);

            assertThat(Dumps.hex(reader.smallest())).isEqualTo(meta.get("l0.smallest"));
            assertThat(Dumps.hex(reader.biggest())).isEqualTo(meta.get("l0.biggest"));
            assertThat(Long.toUnsignedString(reader.snapVersion())).isEqualTo(meta.get("l0.snap_version"));
            assertThat(Long.toUnsignedString(reader.maxTs())).isEqualTo(meta.get("l0.max_ts"));
            assertThat("" + reader.entries()).isEqualTo(meta.get("l0.entries"));
            assertThat("" + reader.kvBytes()).isEqualTo(meta.get("l0.kv_size"));
            assertThat("" + reader.tombs()).isEqualTo(meta.get("l0.tombs"));
            assertThat("" + reader.blobBytes()).isEqualTo(meta.get("l0.total_blob_size"));
            assertThat("" + reader.byteSize()).isEqualTo(meta.get("file_size"));
            for (ColumnFamily family : ColumnFamily.values()) {
                String prefix = "cf" + family.number() + ".";
                SstReader table = reader.family(family);
                assertThat("" + (table != null)).isEqualTo(meta.get(prefix + "present"));
                if (table != null) {
                    new TableDumps(golden, prefix, table, file.arena).all();
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void opensTheWriteFamilyAlone(GoldenCase golden) {
        Map<String, String> meta = golden.meta();
        long fileId = Long.parseUnsignedLong(meta.get("file_id"));

        try (var file = new TestFile(golden.bytes("table.sst"))) {
            L0Reader reader = L0Reader.openWriteOnly(file.bytes, fileId, TableDumps.shardKey(golden));

            assertThat(reader == null ? "none" : "entries=" + reader.entries())
                    .isEqualTo(meta.get("l0.open_write_cf_only"));
            if (reader != null) {
                assertThat(reader.family(ColumnFamily.LOCK)).isNull();
                assertThat(reader.family(ColumnFamily.EXTRA)).isNull();
                new TableDumps(golden, "cf0.", reader.family(ColumnFamily.WRITE), file.arena).entries();
            }
        }
    }
}
