package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** compaction.md 1.2, 1.12. */
final class AdmissionTest {
    private static Admission of(String type, int version) {
        String json = "{\"compaction-tp\":" + type + ",\"compactor-version\":" + version + "}";
        return Admission.of(CompactionRequest.parse(json.getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @CsvSource({"4, NEWER_VERSION", "4294967295, NEWER_VERSION", "3, EXECUTE", "2, EXECUTE", "0, EXECUTE"})
    void refusesLaterVersionsOnly(long version, Admission expected) {
        String json = "{\"compactor-version\":" + version + "}";

        assertThat(Admission.of(CompactionRequest.parse(json.getBytes(StandardCharsets.UTF_8))))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "'[]', '[]', 0, '[]', EXECUTE",
        "'[[5,2]]', '[]', 0, '[1]', EXECUTE",
        "'[[5,2]]', '[]', 9, '[]', EXECUTE",
        "'[[5,2]]', '[]', 9, '[1]', NOT_BUILT",
        "'[]', '[{\"id\":1,\"kind\":\"L0\"}]', 0, '[]', NOT_BUILT"
    })
    void executesInPlaceJobsWhoseColumnarPartIsDeletes(
            String columnar, String fts, long schema, String tables, Admission expected) {
        String type = "{\"InPlaceWithColumnar\":{\"file_ids\":[],\"col_file_ids\":" + columnar
                + ",\"block_size\":1,\"columnar_build_opts\":{},\"schema_file_id\":" + schema
                + ",\"columnar_table_ids\":" + tables + ",\"fts_tasks\":" + fts
                + ",\"fts_packed_build_opts\":{},\"fts_dedicated_build_opts\":{},\"spec\":\"TrimOverBound\"}}";

        assertThat(of(type, 3)).isEqualTo(expected);
        assertThat(of(type, 2)).isEqualTo(Admission.EXECUTE); // and fails there: too old
    }

    @ParameterizedTest
    @CsvSource({"0, '[4]', EXECUTE", "7, '[4]', NOT_BUILT", "7, '[]', EXECUTE"})
    void executesColumnarMajorsThatClear(long snapVersion, String add, Admission expected) {
        String type = "{\"ColumnarMajor\":{\"safe_ts\":1,\"l0_tables\":[],\"ln_tables\":[],\"blob_tables\":[],"
                + "\"old_columnar_tables\":[[2,9]],\"schema_file_id\":3,\"table_ids\":[" + add
                + ",[]],\"columnar_config\":{},\"snap_version\":" + snapVersion + ",\"target_level\":2}}";

        assertThat(of(type, 3)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 0",
        "512, 0, 1024",
        "512, 1000, 1000",
        "400, 1000, 800",
        "4611686018427387903, 0, 9223372036854775806",
        "4611686018427387904, 0, -1",
        "-1, 0, -1",
        "-1, 1000, 1000"
    })
    void takesTwiceTheInputWithinTheWindow(long input, long window, long expected) {
        assertThat(Admission.admissionBytes(input, window)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 1073741824, 67108864", // an unknown input
        "512, 0, 1073741824, 67108864",
        "512, 0, 4096, 1024",
        "512, 0, 8192, 2048",
        "512, 1000, 1073741824, 1000",
        "100000000, 0, 1073741824, 200000000",
        "-1, 0, 1073741824, -1"
    })
    void aSmallJobIsAdmittedWithWhatItHoldsWhateverItsInput(long input, long window, long cap, long expected) {
        assertThat(Admission.admissionBytes(input, window, cap)).isEqualTo(expected);
    }
}
