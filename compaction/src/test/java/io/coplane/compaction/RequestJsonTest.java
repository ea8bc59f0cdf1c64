package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.coplane.compaction.CompactionType.InPlaceWithColumnar;
import io.coplane.compaction.CompactionType.L0;
import io.coplane.compaction.CompactionType.Spec;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.testing.FuzzMutator;
import io.coplane.testing.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** compaction.md 1.4 to 1.8. */
final class RequestJsonTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private static final String SST = "\"sst_config\":{\"block_size\":65536,\"max_table_size\":16777216,"
            + "\"compression_tps\":[1,2,2],\"compression_lvl\":3,\"flush_split_l0\":false}";

    /** One payload of each variant, whole. */
    private static final List<String> VARIANTS = List.of(
            "{\"Major\":{\"safe_ts\":18446744073709551615,\"l0_tables\":[1],\"ln_tables\":{\"0\":[[1,[2,3]],[2,[]]],\"2\":[]},"
                    + "\"blob_tables\":[7]," + SST + "}}",
            "{\"L0\":{\"safe_ts\":104,\"l0_tables\":[12,11],\"multi_cf_l1_tables\":[[7],[],[]]," + SST + "}}",
            "{\"L1Plus\":{\"cf\":0,\"level\":1,\"safe_ts\":1,\"keep_latest_obsolete_tombstone\":true,\"upper_level\":[1],"
                    + "\"lower_level\":[2]," + SST + "}}",
            "{\"InPlaceWithColumnar\":{\"file_ids\":[[21,1,0],[22,0,-1]],\"col_file_ids\":[[5,2]],\"block_size\":65536,"
                    + "\"columnar_build_opts\":{},\"columnar_table_ids\":[-1],\"fts_tasks\":[{\"id\":9,\"kind\":\"L2\"}],"
                    + "\"fts_packed_build_opts\":{},\"fts_dedicated_build_opts\":{},\"spec\":{\"TruncateTs\":5}}}",
            "{\"Columnar\":{\"level\":0,\"safe_ts\":1,\"snap_version\":2,\"source_row_files\":[[0,4]],"
                    + "\"source_columnar_files\":[],\"schema_file_id\":3,\"columnar_table_ids\":[100],\"columnar_config\":{}}}",
            "{\"ColumnarMajor\":{\"safe_ts\":1,\"l0_tables\":[],\"ln_tables\":[[1,[2]]],\"blob_tables\":[],"
                    + "\"old_columnar_tables\":[[2,9]],\"schema_file_id\":3,\"table_ids\":[[4,5],[3]],\"columnar_config\":{},"
                    + "\"snap_version\":0,\"target_level\":2}}",
            "{\"VectorIndex\":{\"table_id\":1,\"index_id\":2,\"col_id\":3,\"snap_version\":4,\"schema_file_id\":5,"
                    + "\"col_file_ids\":[[1,2]],\"remove_file_ids\":[3],\"vector_index_build_opts\":{}}}",
            "{\"FtsCreateL0\":{\"fts_indexes\":[[1,2]],\"schema_file_id\":1,\"col_l0_file_ids\":[1],\"snap_version\":2,"
                    + "\"build_options\":{\"l0-file-max-size\":\"96MiB\"}}}",
            "{\"FtsAddIndex\":{\"fts_indexes_to_add\":[[1,2]],\"schema_file_id\":1,\"col_file_ids\":[[1,0]],"
                    + "\"current_snap_version\":2,\"build_options\":{}}}",
            "{\"FtsCompactL0\":{\"build_options\":{},\"tracked_indexes\":[[1,2]],\"l0_file_ids\":[1],\"l1_file_ids\":[],"
                    + "\"l2_lp_keys\":[[1,2,255]]}}",
            "{\"FtsCompactL2\":{\"lp_key\":[],\"l2_file_ids\":[1],\"build_options\":{}}}",
            "{\"FtsCleanup\":{\"l1_file_ids\":[1],\"l2_file_ids\":[2]}}");

    static Stream<String> variants() {
        return VARIANTS.stream();
    }

    private static CompactionRequest parse(String json) {
        return CompactionRequest.parse(json.getBytes(StandardCharsets.UTF_8));
    }

    private static String request(String type) {
        return "{\"compaction-tp\":" + type + "}";
    }

    @Test
    void readsTheL0RequestOfTheSpecification() {
        CompactionRequest request = parse("{\"engine-id\":1,\"shard-id\":5,\"shard-ver\":3,\"start\":[120,0,0,1],"
                + "\"end\":[120,0,0,2],\"inner-key-off\":4,\"file-ids\":[1001,18446744073709551615],\"compaction-tp\":"
                + VARIANTS.get(1).replace("]," + SST, "],\"bt_config\":{\"min-blob-size\":5}," + SST)
                + ",\"compactor-version\":3,\"safe-ts\":104,\"exported-encryption-key\":[255],\"input-size\":3145728}");

        assertThat(request.engineId()).isEqualTo(1);
        assertThat(request.shardId()).isEqualTo(5);
        assertThat(request.shardVersion()).isEqualTo(3);
        assertThat(request.start()).containsExactly(120, 0, 0, 1);
        assertThat(request.end()).containsExactly(120, 0, 0, 2);
        assertThat(request.innerKeyOffset()).isEqualTo(4);
        assertThat(request.fileIds()).containsExactly(1001, -1);
        assertThat(request.compactorVersion()).isEqualTo(3);
        assertThat(request.safeTs()).isEqualTo(104);
        assertThat(request.exportedKey()).containsExactly(-1);
        assertThat(request.inputBytes()).isEqualTo(3145728);
        L0 l0 = (L0) request.type();
        assertThat(l0.l0Tables()).containsExactly(12, 11);
        assertThat(l0.l1Tables().get(0)).containsExactly(7);
        assertThat(l0.tableOptions().compressionTypes()).containsExactly(1, 2, 2);
        assertThat(l0.blobOptions())
                .isEqualTo(new CompactionType.BlobTableOptions(1, 5, 67_108_864, 2_097_152, 32_768));
    }

    @Test
    void readsAnEmptyObjectAsUnknownOfVersion0() {
        CompactionRequest request = parse("{}");

        assertThat(request.type()).isEqualTo(new CompactionType.Unknown());
        assertThat(request.compactorVersion()).isZero();
        assertThat(request.fileIds()).isEmpty();
    }

    @Test
    void readsInPlaceTuplesInTheirOrder() {
        var type = (InPlaceWithColumnar) parse(request(VARIANTS.get(3))).type();

        assertThat(type.fileIds())
                .containsExactly(new CompactionType.RowFile(21, 1, 0), new CompactionType.RowFile(22, 0, -1));
        assertThat(type.colFileIds()).containsExactly(new CompactionType.LeveledFile(5, 2));
        assertThat(type.spec()).isEqualTo(new Spec.TruncateTs(5));
        assertThat(type.schemaFileId()).isZero();
    }

    @ParameterizedTest
    @MethodSource("variants")
    void namesTheVariant(String type) throws Exception {
        String name = MAPPER.readTree(type).properties().iterator().next().getKey();

        assertThat(parse(request(type)).type().variant()).isEqualTo(name);
    }

    @ParameterizedTest
    @MethodSource("variants")
    void refusesAPayloadWithoutAnyOneOfItsFields(String type) throws Exception {
        var whole = (ObjectNode) MAPPER.readTree(type);
        String variant = whole.properties().iterator().next().getKey();
        var names = new ArrayList<String>();
        whole.get(variant).fieldNames().forEachRemaining(names::add);

        for (String name : names) {
            ObjectNode cut = whole.deepCopy();
            ((ObjectNode) cut.get(variant)).remove(name);
            assertThatThrownBy(() -> parse(request(cut.toString())))
                    .as(name)
                    .isInstanceOfSatisfying(
                            CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_REQUEST_BODY))
                    .hasMessageContaining("missing field `" + name + "`");
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void ignoresUnknownFieldsEverywhere(String type) throws Exception {
        JsonNode node = MAPPER.readTree(request(type));
        addUnknown(node);

        assertThat(parse(node.toString()).type())
                .usingRecursiveComparison()
                .isEqualTo(parse(request(type)).type());
    }

    private static void addUnknown(JsonNode node) {
        node.forEach(RequestJsonTest::addUnknown);
        boolean isMap = node.size() > 0
                && node.fieldNames().hasNext()
                && "0".equals(node.fieldNames().next());
        boolean isVariant = node.size() == 1
                && node.isObject()
                && !node.has("compaction-tp")
                && Character.isUpperCase(node.fieldNames().next().charAt(0));
        if (node.isObject() && !isMap && !isVariant) {
            ((ObjectNode) node).putObject("later-field").put("x", 1);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "[]",
                "null",
                "{}x",
                "{\"shard-id\":-1}",
                "{\"shard-id\":1.0}",
                "{\"shard-id\":\"1\"}",
                "{\"shard-id\":18446744073709551616}",
                "{\"compactor-version\":4294967296}",
                "{\"start\":[256]}",
                "{\"start\":\"x\"}",
                "{\"start\":null}",
                "{\"compaction-tp\":\"Major\"}",
                "{\"compaction-tp\":{\"InPlace\":{}},\"compactor-version\":4}",
                "{\"compaction-tp\":{}}",
                "{\"compaction-tp\":{\"FtsCleanup\":{\"l1_file_ids\":[],\"l2_file_ids\":[]},\"Unknown\":null}}",
                "{\"compaction-tp\":{\"FtsCompactL2\":{\"lp_key\":[],\"l2_file_ids\":[1],"
                        + "\"build_options\":{\"min-l2-lp-size\":\"5 parsecs\"}}}}"
            })
    void refusesWhatIsNoRequest(String json) {
        assertThatThrownBy(() -> parse(json))
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_REQUEST_BODY));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"\"1.5KiB\"", "\"1536\"", "1536", "\"1.5K\"", "\"1.5kb\"", "\"1536B\"", "\"0.0014648438 MiB\""})
    void readsSizesWithUnits(String size) {
        var type = (CompactionType.FtsCompactL2) parse(request("{\"FtsCompactL2\":{\"lp_key\":[],\"l2_file_ids\":[],"
                        + "\"build_options\":{\"min-l2-lp-size\":" + size + "}}}"))
                .type();

        assertThat(type.buildOptions().minL2LpSize()).isEqualTo(1536);
        assertThat(type.buildOptions().l0FileMaxSize()).isEqualTo(96L << 20);
    }

    /** Whatever JSON, or what is none: a request or a refusal. */
    @Test
    void anyBytesAreParsedOrRefused() {
        List<byte[]> seeds = VARIANTS.stream()
                .map(variant -> request(variant).getBytes(StandardCharsets.UTF_8))
                .toList();

        long executions = FuzzMutator.fuzz(
                "compaction-request",
                Seeds.fresh(),
                seeds,
                TimeUnit.SECONDS.toNanos(Long.getLong("coplane.fuzz.seconds", 2)),
                bytes -> {
                    try {
                        CompactionRequest.parse(bytes);
                    } catch (CoplaneException e) {
                        assertThat(e.code()).isNotEqualTo(ErrorCode.INVARIANT_BROKEN);
                    }
                });

        System.out.println("fuzz target=COMPACTION_REQUEST executions=" + executions);
    }
}
