package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.ErrorCode;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.Seeds;
import io.coplane.testing.TestData;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NoLeaks.class)
class FileInspectorGoldenTest {
    private static final int FLIPS = 12;

    static Stream<GoldenCase> cases() {
        return Stream.of("sst", "l0", "blob", "txn_chunk").flatMap(TestData::cases);
    }

    static Stream<GoldenCase> tables() {
        return cases().filter(golden ->
                golden.family().equals("sst") || golden.family().equals("l0"));
    }

    static Stream<GoldenCase> encrypted() {
        return cases().filter(golden -> golden.meta().containsKey("enc.data_key"));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void findsNothingWrongInWhatTheReferenceWrote(GoldenCase golden) {
        Recorder found = inspect(golden, golden.bytes(file(golden)), true);

        assertThat(found.problems).isEmpty();
        assertThat(found.entries).isNotEmpty();
    }

    @ParameterizedTest
    @MethodSource("tables")
    void saysOfTablesWhatTheReferenceSays(GoldenCase golden) {
        Recorder found = inspect(golden, golden.bytes("table.sst"), true);

        int tables = 0;
        for (ColumnFamily family : ColumnFamily.values()) {
            boolean isL0 = golden.family().equals("l0");
            String prefix = isL0 ? "cf" + family.number() + "." : "";
            if (!golden.has(prefix + "entries.tsv") || !isL0 && family != ColumnFamily.WRITE) {
                continue;
            }
            String table = found.facts.containsKey(family.label()) ? family.label() : "";
            if (golden.tsv(prefix + "entries.tsv").isEmpty()) {
                continue;
            }
            tables++;
            compare(golden, prefix, found, table);
        }
        assertThat(tables).isPositive();
    }

    private static void compare(GoldenCase golden, String prefix, Recorder found, String table) {
        Map<String, String> meta = golden.meta();
        for (String name : List.of(
                "footer.old_data_offset",
                "footer.index_offset",
                "footer.old_index_offset",
                "footer.aux_index_offset",
                "footer.properties_offset",
                "footer.compression_type",
                "footer.checksum_type",
                "footer.magic",
                "table_size",
                "smallest",
                "biggest",
                "max_ts",
                "entries",
                "old_entries",
                "tombs",
                "kv_size",
                "in_use_total_blob_size")) {
            assertThat(found.facts.get(table).get(name.replace("footer.", "")))
                    .as(name)
                    .isEqualTo(meta.get(prefix + name));
        }
        var expectedBlocks = new ArrayList<String>();
        for (String[] line : golden.tsv(prefix + "blocks.tsv")) {
            byte[] key = Dumps.key(line[2], golden.distinctKeys(prefix + "entries.tsv"));
            expectedBlocks.add(line[0] + " " + line[1] + " " + Dumps.hex(key) + " " + line[5] + " " + line[6]);
        }
        assertThat(found.blocks.get(table)).isEqualTo(expectedBlocks);
        var actual = new ArrayList<>(found.entries.get(table + "main"));
        actual.addAll(found.entries.getOrDefault(table + "old", List.of()));
        var expected = new ArrayList<String>();
        for (String[] line : golden.tsv(prefix + "entries.tsv")) {
            expected.add(line[0] + " " + line[1] + " " + Integer.parseInt(line[2], 16) + " " + line[3] + " " + line[4]);
        }
        assertThat(actual).containsExactlyInAnyOrderElementsOf(expected);
    }

    /** A flipped bit that matters is reported where the block, record or section begins that it is in. */
    @ParameterizedTest
    @MethodSource("cases")
    void reportsWhereABitWasFlipped(GoldenCase golden) {
        byte[] good = golden.bytes(file(golden));
        Recorder sound = inspect(golden, good, true);
        boolean hasChecksums = !sound.facts.values().stream().anyMatch(facts -> "0".equals(facts.get("checksum_type")));
        var random = new SplittableRandom(Seeds.fresh() + golden.name().hashCode());
        for (int i = 0; i < FLIPS; i++) {
            int at = random.nextInt(good.length);
            byte[] bad = good.clone();
            bad[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));

            Recorder found = inspect(golden, bad, true);

            Recorder.Region region = sound.regions.stream()
                    .filter(r -> r.offset() <= at
                            && at < r.offset() + r.bytes()
                            && !r.name().equals("footer"))
                    .findFirst()
                    .orElse(null);
            boolean isUnguarded = !hasChecksums
                    || region == null
                    || golden.family().equals("blob") && region.name().equals("properties");
            if (!isUnguarded) {
                assertThat(found.firstBadOffset())
                        .as("byte " + at + " in " + region + " " + found.problems)
                        .isEqualTo(region.offset());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("encrypted")
    void saysWhenAKeyIsMissing(GoldenCase golden) {
        Recorder found = inspect(golden, golden.bytes(file(golden)), false);

        assertThat(found.problems).extracting(Recorder.Problem::code).containsOnly(ErrorCode.FILE_ENCRYPTED);
    }

    private static String file(GoldenCase golden) {
        return switch (golden.family()) {
            case "blob" -> "table.blob";
            case "txn_chunk" -> "chunk.txn";
            default -> "table.sst";
        };
    }

    private static Recorder inspect(GoldenCase golden, byte[] bytes, boolean withKey) {
        Map<String, String> meta = golden.meta();
        String id = meta.get(golden.family().equals("txn_chunk") ? "chunk_id" : "file_id");
        ShardKey key = withKey && meta.containsKey("enc.data_key") ? TableDumps.shardKey(golden) : null;
        RowFileKind forced = switch (golden.family()) {
            case "l0" -> RowFileKind.L0;
            case "blob" -> RowFileKind.BLOB;
            case "txn_chunk" -> RowFileKind.TXN_CHUNK;
            default -> golden.name().startsWith("splitl0") ? RowFileKind.L0 : RowFileKind.SST;
        };
        var recorder = new Recorder();
        try (var file = new TestFile(bytes)) {
            FileInspector.inspect(file.bytes, forced, Long.parseUnsignedLong(id), key, file.guard, recorder);
        }
        return recorder;
    }

    @ParameterizedTest
    @MethodSource("cases")
    void kindIsSeenInTheLastBytes(GoldenCase golden) {
        try (var file = new TestFile(golden.bytes(file(golden)))) {
            RowFileKind kind = RowFileKind.of(file.bytes, "no name");

            assertThat(kind)
                    .isEqualTo(
                            switch (golden.family()) {
                                case "l0" -> RowFileKind.L0;
                                case "blob" -> RowFileKind.BLOB;
                                case "txn_chunk" -> RowFileKind.TXN_CHUNK;
                                default -> golden.name().startsWith("splitl0") ? RowFileKind.L0 : RowFileKind.SST;
                            });
        }
    }
}
