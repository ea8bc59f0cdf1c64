package io.coplane.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The project's own data is complete and unchanged, whatever root the other tests read. */
class TestDataTest {
    /** Families and their cases, as {@code testdata/golden/README.md} lists them. */
    private static final Map<String, Integer> CASES = new TreeMap<>(Map.ofEntries(
            Map.entry("sst", 66),
            Map.entry("l0", 21),
            Map.entry("blob", 27),
            Map.entry("txn_chunk", 28),
            Map.entry("txn_file", 18),
            Map.entry("snapshot", 7),
            Map.entry("compaction", 33),
            Map.entry("columnar", 49),
            Map.entry("columnar_mvcc", 4),
            Map.entry("columnar_compaction", 64),
            Map.entry("row_columnar", 9),
            Map.entry("schema_file", 10),
            Map.entry("vector_index", 13)));

    private static final DataFolder OWN = own();

    private static DataFolder own() {
        Path project = TestData.projectRoot();
        return new DataFolder(project.resolve("testdata"), project.resolve("native-cache/target/testdata"));
    }

    static Stream<String> familiesOfTheRoot() {
        return TestData.families().stream();
    }

    static Stream<String> dataSetsOfTheRoot() {
        return TestData.corpusNames().stream();
    }

    @Test
    void holdsEveryGoldenFamilyWhole() {
        var cases = new TreeMap<String, Integer>();

        for (String family : OWN.families()) {
            cases.put(family, OWN.golden(family).size());
        }

        assertThat(cases).isEqualTo(CASES);
        assertThat(cases.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(349);
    }

    @ParameterizedTest
    @ValueSource(strings = {"golden", "corpus"})
    void hasNoFileThatDiffersFromItsChecksum(String folder) throws IOException {
        Path sums = OWN.file(folder + "/SHA256SUMS");
        var found = new ArrayList<String>();

        try (Stream<Path> files = Files.list(sums.getParent())) {
            for (Path file : files.sorted().toList()) {
                String name = file.getFileName().toString();
                if (name.endsWith(".zst") || name.endsWith(".tsv")) {
                    found.add(Dumps.sha256(Files.readAllBytes(file)) + "  " + name);
                }
            }
        }

        assertThat(found).containsExactlyInAnyOrderElementsOf(Files.readAllLines(sums));
    }

    @Test
    void holdsEveryRecordedRequestWithItsAnswer() throws IOException {
        long requests = 0;
        long versions = 0;

        for (String name : OWN.corpusNames()) {
            long lines = lines(OWN.corpusFile(name, "tsv")) - 1; // a header
            assertThat(messages(OWN.corpusFile(name, "req.zst"))).as(name).isEqualTo(lines);
            assertThat(messages(OWN.corpusFile(name, "tikv.zst"))).as(name).isEqualTo(lines);
            requests += lines;
            versions += versions(OWN.corpusFile(name, "mvcc.zst"));
        }

        assertThat(OWN.corpusNames()).hasSize(69);
        assertThat(requests).isEqualTo(87_114);
        assertThat(versions).isEqualTo(354_103);
    }

    @Test
    void holdsEveryExpressionVector() throws IOException {
        List<String> lines = Files.readAllLines(OWN.expressionVectors());

        long vectors = lines.stream()
                .filter(line -> !line.isEmpty() && line.charAt(0) != '#' && line.charAt(0) != 'W')
                .count();
        long weights = lines.stream().filter(line -> line.startsWith("W")).count();

        assertThat(vectors).isEqualTo(8_230);
        assertThat(weights).isEqualTo(166);
    }

    @ParameterizedTest
    @MethodSource("familiesOfTheRoot")
    void listsNonEmptyCasesOfAnyRoot(String family) {
        List<GoldenCase> cases = TestData.golden(family);

        assertThat(cases)
                .isNotEmpty()
                .allSatisfy(golden -> assertThat(golden.files("")).isNotEmpty());
        assertThat(TestData.golden(family)).isSameAs(cases);
    }

    @ParameterizedTest
    @MethodSource("dataSetsOfTheRoot")
    void findsFourFilesOfEachDataSetOfAnyRoot(String name) {
        for (String suffix : List.of("mvcc.zst", "req.zst", "tikv.zst", "tsv")) {
            assertThat(TestData.corpusFile(name, suffix)).isNotEmptyFile();
        }
    }

    @Test
    void namesFamilyThatIsMissing() {
        assertThatThrownBy(() -> TestData.cases("no_such_family"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(
                        TestData.root().resolve("golden/no_such_family").toString());
    }

    private static long lines(Path file) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.count();
        }
    }

    private static long messages(Path file) throws IOException {
        try (InputStream in = TestData.openZstd(file)) {
            long count = 0;
            for (long bytes = u32OrEnd(in); bytes >= 0; bytes = u32OrEnd(in)) {
                in.skipNBytes(bytes);
                count++;
            }
            return count;
        }
    }

    private static long versions(Path file) throws IOException {
        try (InputStream in = TestData.openZstd(file)) {
            long count = 0;
            for (long keyBytes = u32OrEnd(in); keyBytes >= 0; keyBytes = u32OrEnd(in)) {
                in.skipNBytes(keyBytes + Long.BYTES + Long.BYTES + 1); // start_ts, commit_ts, op
                in.skipNBytes(u32OrEnd(in));
                count++;
            }
            return count;
        }
    }

    /** Returns a little-endian u32, -1 at the end of the stream. */
    private static long u32OrEnd(InputStream in) throws IOException {
        byte[] four = in.readNBytes(Integer.BYTES);
        if (four.length == 0) {
            return -1;
        }
        if (four.length < Integer.BYTES) {
            throw new EOFException("cut within a length");
        }
        return (four[0] & 0xFF) | (four[1] & 0xFF) << 8 | (four[2] & 0xFF) << 16 | (four[3] & 0xFFL) << 24;
    }
}
