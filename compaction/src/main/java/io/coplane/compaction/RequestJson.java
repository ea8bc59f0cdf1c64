package io.coplane.compaction;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.coplane.compaction.CompactionType.FtsKind;
import io.coplane.compaction.CompactionType.FtsTask;
import io.coplane.compaction.CompactionType.LevelFiles;
import io.coplane.compaction.CompactionType.LeveledFile;
import io.coplane.compaction.CompactionType.RowFile;
import io.coplane.compaction.CompactionType.Spec;
import io.coplane.compaction.CompactionType.TableIndex;
import io.coplane.nativecache.AsciiNumbers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Request bodies of {@code /compact} (compaction.md 1.4 to 1.7). Stateless. */
final class RequestJson {
    /** As deep as the reference's parser goes. */
    private static final int MOST_NESTING = 128;

    private static final int FAMILIES = 3;

    private static final JsonMapper MAPPER = JsonMapper.builder(com.fasterxml.jackson.core.JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MOST_NESTING)
                            .build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private RequestJson() {}

    static CompactionRequest parse(byte[] json) {
        JsonNode node;
        try {
            node = MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            throw JsonFields.bad(e.getOriginalMessage() + " at line "
                    + (e.getLocation() == null
                            ? "0"
                            : e.getLocation().getLineNr() + " column "
                                    + e.getLocation().getColumnNr()));
        } catch (IOException e) {
            throw JsonFields.bad(String.valueOf(e.getMessage()));
        }
        if (node == null || node.isMissingNode()) {
            throw JsonFields.bad("EOF while parsing a value at line 1 column 0");
        }
        var f = new JsonFields(node, "request");
        JsonNode type = f.optional("compaction-tp");
        JsonNode fileIds = f.optional("file-ids");
        return new CompactionRequest(
                f.u64("engine-id", 0),
                f.u64("shard-id", 0),
                f.u64("shard-ver", 0),
                f.bytesOrEmpty("start"),
                f.bytesOrEmpty("end"),
                (int) Math.min(Integer.MAX_VALUE, Long.MAX_VALUE & f.u64("inner-key-off", 0)),
                fileIds == null ? new long[0] : JsonFields.u64s(fileIds, "file-ids"),
                type == null ? new CompactionType.Unknown() : type(type),
                f.u32("compactor-version", 0),
                f.u64("safe-ts", 0),
                f.bytesOrEmpty("exported-encryption-key"),
                f.u64("input-size", 0));
    }

    /** The externally tagged variant: a string, or an object of one member. */
    private static CompactionType type(JsonNode node) {
        if (node.isTextual()) {
            if (node.textValue().equals("Unknown")) {
                return new CompactionType.Unknown();
            }
            throw JsonFields.bad("unknown or incomplete variant `" + node.textValue() + "`: field=compaction-tp");
        }
        Map.Entry<String, JsonNode> member = onlyMember(node, "compaction-tp");
        JsonNode payload = member.getValue();
        return switch (member.getKey()) {
            case "Unknown" -> {
                if (!payload.isNull()) {
                    throw JsonFields.bad("invalid type, expected null: field=Unknown");
                }
                yield new CompactionType.Unknown();
            }
            case "Major" -> major(new JsonFields(payload, "Major"));
            case "L0" -> l0(new JsonFields(payload, "L0"));
            case "L1Plus" -> l1Plus(new JsonFields(payload, "L1Plus"));
            case "InPlaceWithColumnar" -> inPlace(new JsonFields(payload, "InPlaceWithColumnar"));
            case "Columnar" -> columnar(new JsonFields(payload, "Columnar"));
            case "ColumnarMajor" -> columnarMajor(new JsonFields(payload, "ColumnarMajor"));
            case "VectorIndex" -> vectorIndex(new JsonFields(payload, "VectorIndex"));
            case "FtsCreateL0" -> ftsCreateL0(new JsonFields(payload, "FtsCreateL0"));
            case "FtsAddIndex" -> ftsAddIndex(new JsonFields(payload, "FtsAddIndex"));
            case "FtsCompactL0" -> ftsCompactL0(new JsonFields(payload, "FtsCompactL0"));
            case "FtsCompactL2" -> ftsCompactL2(new JsonFields(payload, "FtsCompactL2"));
            case "FtsCleanup" -> {
                var f = new JsonFields(payload, "FtsCleanup");
                yield new CompactionType.FtsCleanup(f.u64s("l1_file_ids"), f.u64s("l2_file_ids"));
            }
            default -> throw JsonFields.bad("unknown variant `" + member.getKey() + "`: field=compaction-tp");
        };
    }

    private static Map.Entry<String, JsonNode> onlyMember(JsonNode node, String name) {
        if (!node.isObject() || node.size() != 1) {
            throw JsonFields.bad("invalid type, expected a variant: field=" + name);
        }
        return node.properties().iterator().next();
    }

    private static CompactionType.Major major(JsonFields f) {
        return new CompactionType.Major(
                f.u64("safe_ts"),
                f.u64s("l0_tables"),
                lnTables(f.required("ln_tables")),
                f.u64s("blob_tables"),
                OptionsJson.table(f.required("sst_config")),
                OptionsJson.blobOrNull(f.nullable("bt_config")));
    }

    private static SortedMap<Long, List<LevelFiles>> lnTables(JsonNode node) {
        if (!node.isObject()) {
            throw JsonFields.bad("invalid type, expected a map: field=ln_tables");
        }
        var tables = new TreeMap<Long, List<LevelFiles>>();
        for (Map.Entry<String, JsonNode> member : node.properties()) {
            long cf;
            try {
                cf = AsciiNumbers.parseUnsignedLong(member.getKey());
            } catch (NumberFormatException e) {
                throw JsonFields.bad("invalid key, expected an integer: field=ln_tables " + e.getMessage());
            }
            tables.put(cf, JsonFields.list(member.getValue(), "ln_tables", RequestJson::levelFiles));
        }
        return Collections.unmodifiableSortedMap(tables);
    }

    private static LevelFiles levelFiles(JsonNode node) {
        JsonNode pair = JsonFields.tuple(node, 2, "ln_tables");
        return new LevelFiles(JsonFields.u64(pair.get(0), "level"), JsonFields.u64s(pair.get(1), "ln_tables"));
    }

    private static CompactionType.L0 l0(JsonFields f) {
        List<long[]> lists = f.list("multi_cf_l1_tables", node -> JsonFields.u64s(node, "multi_cf_l1_tables"));
        if (lists.size() != FAMILIES) {
            throw JsonFields.bad("invalid length " + lists.size() + ", expected an array of length " + FAMILIES
                    + ": field=multi_cf_l1_tables");
        }
        return new CompactionType.L0(
                f.u64("safe_ts"),
                f.u64s("l0_tables"),
                lists,
                OptionsJson.table(f.required("sst_config")),
                OptionsJson.blobOrNull(f.nullable("bt_config")));
    }

    private static CompactionType.L1Plus l1Plus(JsonFields f) {
        return new CompactionType.L1Plus(
                f.i64("cf"),
                f.u64("level"),
                f.u64("safe_ts"),
                f.bool("keep_latest_obsolete_tombstone"),
                f.u64s("upper_level"),
                f.u64s("lower_level"),
                OptionsJson.table(f.required("sst_config")));
    }

    private static CompactionType.InPlaceWithColumnar inPlace(JsonFields f) {
        JsonNode schema = f.nullable("schema_file_id");
        return new CompactionType.InPlaceWithColumnar(
                f.list("file_ids", RequestJson::rowFile),
                f.list("col_file_ids", RequestJson::fileLevel),
                f.u64("block_size"),
                OptionsJson.columnar(f.required("columnar_build_opts")),
                schema == null ? 0 : JsonFields.u64(schema, "schema_file_id"),
                f.i64s("columnar_table_ids"),
                f.list("fts_tasks", RequestJson::ftsTask),
                OptionsJson.packed(f.required("fts_packed_build_opts")),
                OptionsJson.dedicated(f.required("fts_dedicated_build_opts")),
                spec(f.required("spec")));
    }

    private static RowFile rowFile(JsonNode node) {
        JsonNode triple = JsonFields.tuple(node, 3, "file_ids");
        return new RowFile(
                JsonFields.u64(triple.get(0), "file_ids"),
                JsonFields.unsigned(triple.get(1), 32, "file_ids"),
                JsonFields.i64(triple.get(2), "file_ids"));
    }

    /** A pair of file id and level. */
    private static LeveledFile fileLevel(JsonNode node) {
        JsonNode pair = JsonFields.tuple(node, 2, "file and level");
        return new LeveledFile(
                JsonFields.u64(pair.get(0), "file id"), JsonFields.unsigned(pair.get(1), 32, "file level"));
    }

    /** A pair of level and file id. */
    private static LeveledFile levelFile(JsonNode node) {
        JsonNode pair = JsonFields.tuple(node, 2, "level and file");
        return new LeveledFile(
                JsonFields.u64(pair.get(1), "file id"), JsonFields.unsigned(pair.get(0), 32, "file level"));
    }

    private static FtsTask ftsTask(JsonNode node) {
        var f = new JsonFields(node, "fts_tasks");
        JsonNode kind = f.required("kind");
        return new FtsTask(
                f.u64("id"),
                switch (kind.isTextual() ? kind.textValue() : "") {
                    case "L0" -> FtsKind.L0;
                    case "L1" -> FtsKind.L1;
                    case "L2" -> FtsKind.L2;
                    default -> throw JsonFields.bad("unknown variant, expected one of `L0`, `L1`, `L2`: field=kind");
                });
    }

    private static Spec spec(JsonNode node) {
        if (node.isTextual()) {
            return switch (node.textValue()) {
                case "Unknown" -> new Spec.Unknown();
                case "TrimOverBound" -> new Spec.TrimOverBound();
                default -> throw JsonFields.bad("unknown variant `" + node.textValue() + "`: field=spec");
            };
        }
        Map.Entry<String, JsonNode> member = onlyMember(node, "spec");
        return switch (member.getKey()) {
            case "TruncateTs" -> new Spec.TruncateTs(JsonFields.u64(member.getValue(), "TruncateTs"));
            case "DestroyRange" -> new Spec.DestroyRange(JsonFields.bytes(member.getValue(), "DestroyRange"));
            case "Unknown", "TrimOverBound" -> {
                if (!member.getValue().isNull()) {
                    throw JsonFields.bad("invalid type, expected null: field=spec");
                }
                yield member.getKey().equals("Unknown") ? new Spec.Unknown() : new Spec.TrimOverBound();
            }
            default -> throw JsonFields.bad("unknown variant `" + member.getKey() + "`: field=spec");
        };
    }

    private static CompactionType.Columnar columnar(JsonFields f) {
        return new CompactionType.Columnar(
                f.u32("level"),
                f.u64("safe_ts"),
                f.u64("snap_version"),
                f.list("source_row_files", RequestJson::levelFile),
                f.list("source_columnar_files", RequestJson::levelFile),
                f.u64("schema_file_id"),
                f.i64s("columnar_table_ids"),
                OptionsJson.columnar(f.required("columnar_config")));
    }

    private static CompactionType.ColumnarMajor columnarMajor(JsonFields f) {
        JsonNode tableIds = JsonFields.tuple(f.required("table_ids"), 2, "table_ids");
        return new CompactionType.ColumnarMajor(
                f.u64("safe_ts"),
                f.u64s("l0_tables"),
                f.list("ln_tables", RequestJson::levelFiles),
                f.u64s("blob_tables"),
                f.list("old_columnar_tables", RequestJson::levelFile),
                f.u64("schema_file_id"),
                JsonFields.i64s(tableIds.get(0), "table_ids"),
                JsonFields.i64s(tableIds.get(1), "table_ids"),
                OptionsJson.columnar(f.required("columnar_config")),
                f.u64("snap_version"),
                f.u32("target_level"));
    }

    private static CompactionType.VectorIndex vectorIndex(JsonFields f) {
        return new CompactionType.VectorIndex(
                f.i64("table_id"),
                f.i64("index_id"),
                f.i64("col_id"),
                f.u64("snap_version"),
                f.u64("schema_file_id"),
                f.list("col_file_ids", RequestJson::fileLevel),
                f.u64s("remove_file_ids"),
                OptionsJson.vectorIndex(f.required("vector_index_build_opts")));
    }

    private static CompactionType.FtsCreateL0 ftsCreateL0(JsonFields f) {
        return new CompactionType.FtsCreateL0(
                f.list("fts_indexes", RequestJson::tableIndex),
                f.u64("schema_file_id"),
                f.u64s("col_l0_file_ids"),
                f.u64("snap_version"),
                OptionsJson.fts(f.required("build_options")));
    }

    private static CompactionType.FtsAddIndex ftsAddIndex(JsonFields f) {
        return new CompactionType.FtsAddIndex(
                f.list("fts_indexes_to_add", RequestJson::tableIndex),
                f.u64("schema_file_id"),
                f.list("col_file_ids", RequestJson::fileLevel),
                f.u64("current_snap_version"),
                OptionsJson.fts(f.required("build_options")));
    }

    private static CompactionType.FtsCompactL0 ftsCompactL0(JsonFields f) {
        return new CompactionType.FtsCompactL0(
                OptionsJson.fts(f.required("build_options")),
                f.list("tracked_indexes", RequestJson::tableIndex),
                f.u64s("l0_file_ids"),
                f.u64s("l1_file_ids"),
                new ArrayList<>(f.list("l2_lp_keys", node -> JsonFields.bytes(node, "l2_lp_keys"))));
    }

    private static CompactionType.FtsCompactL2 ftsCompactL2(JsonFields f) {
        return new CompactionType.FtsCompactL2(
                f.bytes("lp_key"), f.u64s("l2_file_ids"), OptionsJson.fts(f.required("build_options")));
    }

    private static TableIndex tableIndex(JsonNode node) {
        JsonNode pair = JsonFields.tuple(node, 2, "table and index");
        return new TableIndex(JsonFields.i64(pair.get(0), "table id"), JsonFields.i64(pair.get(1), "index id"));
    }
}
