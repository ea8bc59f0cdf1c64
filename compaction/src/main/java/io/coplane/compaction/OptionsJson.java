package io.coplane.compaction;

import com.fasterxml.jackson.databind.JsonNode;
import io.coplane.compaction.CompactionType.BlobTableOptions;
import io.coplane.compaction.CompactionType.ColumnarOptions;
import io.coplane.compaction.CompactionType.FtsDedicatedOptions;
import io.coplane.compaction.CompactionType.FtsOptions;
import io.coplane.compaction.CompactionType.FtsPackedOptions;
import io.coplane.compaction.CompactionType.TableOptions;
import io.coplane.compaction.CompactionType.VectorIndexOptions;

/** The option objects of compaction.md 1.7, with their defaults. */
final class OptionsJson {
    private static final int COMPRESSION_TYPES = 3;
    private static final long KIB = 1L << 10;
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;

    private OptionsJson() {}

    static TableOptions table(JsonNode node) {
        var f = new JsonFields(node, "sst_config");
        JsonNode types = JsonFields.tuple(f.required("compression_tps"), COMPRESSION_TYPES, "compression_tps");
        int[] compressionTypes = new int[COMPRESSION_TYPES];
        for (int i = 0; i < COMPRESSION_TYPES; i++) {
            compressionTypes[i] = (int) JsonFields.unsigned(types.get(i), 8, "compression_tps");
        }
        return new TableOptions(
                f.u64("block_size"),
                f.u64("max_table_size"),
                compressionTypes,
                JsonFields.i64(f.required("compression_lvl"), "compression_lvl"),
                f.bool("flush_split_l0"));
    }

    /** @param node null: no blob tables, and null is returned */
    static BlobTableOptions blobOrNull(JsonNode node) {
        if (node == null) {
            return null;
        }
        var f = new JsonFields(node, "bt_config");
        return new BlobTableOptions(
                f.u8("compression-type", 1),
                f.u32("min-blob-size", 4 * KIB),
                f.u64("max-blob-table-size", 64 * MIB),
                f.u64("target-blob-table-size", 2 * MIB),
                f.u64("block-size", 32 * KIB));
    }

    static ColumnarOptions columnar(JsonNode node) {
        var f = new JsonFields(node, "columnar options");
        return new ColumnarOptions(
                f.u8("compression-type", 1),
                f.u8("checksum-type", 2),
                f.u64("max-columnar-table-size", 32 * MIB),
                f.u64("pack-max-row-count", 8 * KIB),
                f.u64("pack-max-size", 256 * KIB));
    }

    static VectorIndexOptions vectorIndex(JsonNode node) {
        var f = new JsonFields(node, "vector_index_build_opts");
        return new VectorIndexOptions(
                f.u64("delta-size", 16 * MIB), f.u64("rebuild-file-count", 4), f.u64("max-file-size", 2 * GIB));
    }

    static FtsPackedOptions packed(JsonNode node) {
        var f = new JsonFields(node, "fts_packed_build_opts");
        return new FtsPackedOptions(f.u64("block-size", 64 * KIB), checksumType(f));
    }

    static FtsDedicatedOptions dedicated(JsonNode node) {
        var f = new JsonFields(node, "fts_dedicated_build_opts");
        return new FtsDedicatedOptions(
                f.u64("handle-block-size", 8 * MIB), checksumType(f), f.u64("handle-rank-stride", 10_000));
    }

    static FtsOptions fts(JsonNode node) {
        var f = new JsonFields(node, "build_options");
        return new FtsOptions(
                f.u64("max-l0-files", 4),
                size(f, "max-l0-sizes", 192 * MIB),
                size(f, "l0-file-max-size", 96 * MIB),
                size(f, "l1-file-max-size", 96 * MIB),
                size(f, "min-l2-lp-size", 64 * MIB),
                f.u64("l2-max-files-per-lp", 6),
                f.u64("l2-min-merge-files", 3),
                size(f, "l2-max-output-file-size", 2 * GIB),
                f.u64("l2-min-layer-docs", 10_000),
                number(f, "l2-level-log-size", 0.75),
                f.u64("l2-max-docs-before-merge", 10_000_000));
    }

    private static String checksumType(JsonFields f) {
        JsonNode value = f.optional("checksum-type");
        if (value == null) {
            return "crc32c";
        }
        String name = value.isTextual() ? value.textValue() : "";
        return switch (name) {
            case "none", "crc32c", "crc32" -> name;
            default ->
                throw JsonFields.bad(
                        "unknown variant, expected one of `none`, `crc32c`, `crc32`: " + "field=checksum-type");
        };
    }

    private static long size(JsonFields f, String name, long absent) {
        JsonNode value = f.optional(name);
        return value == null ? absent : ReadableSize.bytes(value, name);
    }

    private static double number(JsonFields f, String name, double absent) {
        JsonNode value = f.optional(name);
        if (value == null) {
            return absent;
        }
        if (!value.isNumber()) {
            throw JsonFields.bad("invalid type, expected a number: field=" + name);
        }
        return value.doubleValue();
    }
}
