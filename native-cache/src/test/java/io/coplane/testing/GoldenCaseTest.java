package io.coplane.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GoldenCaseTest {
    @TempDir
    Path dir;

    @Test
    void keepsEmptyFields() throws IOException {
        Files.writeString(dir.resolve("x.tsv"), "\ta\t\t\n\nb\n");

        List<String[]> lines = golden().tsv("x.tsv");

        assertThat(lines).containsExactly(new String[] {"", "a", "", ""}, new String[] {""}, new String[] {"b"});
    }

    @Test
    void readsDumpWithoutLines() throws IOException {
        Files.writeString(dir.resolve("x.tsv"), "");

        assertThat(golden().tsv("x.tsv")).isEmpty();
        assertThat(golden().tsvIfPresent("y.tsv")).isEmpty();
    }

    @Test
    void refusesDumpThatIsCut() throws IOException {
        Files.writeString(dir.resolve("x.tsv"), "a\nb");

        assertThatThrownBy(() -> golden().tsv("x.tsv")).isInstanceOf(AssertionError.class);
    }

    @Test
    void readsMetaInOrder() throws IOException {
        Files.writeString(dir.resolve("meta.tsv"), "z\t1\na\t\n");

        assertThat(golden().meta()).containsExactly(Map.entry("z", "1"), Map.entry("a", ""));
    }

    @Test
    void refusesMetaWithTwoValues() throws IOException {
        Files.writeString(dir.resolve("meta.tsv"), "a\t1\na\t2\n");

        assertThatThrownBy(() -> golden().meta()).isInstanceOf(AssertionError.class);
    }

    @Test
    void namesFileThatIsMissing() {
        assertThat(golden().has("table.sst")).isFalse();
        assertThatThrownBy(() -> golden().bytes("table.sst"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(dir.resolve("table.sst").toString());
    }

    @Test
    void listsFilesBySuffix() throws IOException {
        Files.createDirectories(dir.resolve("in"));
        Files.createFile(dir.resolve("in/2.sst"));
        Files.createFile(dir.resolve("1.sst"));
        Files.createFile(dir.resolve("in/3.col"));

        assertThat(golden().files(".sst")).containsExactly("1.sst", "in/2.sst");
    }

    @Test
    void numbersDistinctKeys() throws IOException {
        Files.writeString(dir.resolve("entries.tsv"), "01\t9\n01\t8\n02\t9\n\t1\n");

        List<byte[]> keys = golden().distinctKeys("entries.tsv");

        assertThat(keys).containsExactly(new byte[] {1}, new byte[] {2}, new byte[0]);
        assertThat(Dumps.key("@1", keys)).containsExactly(2);
        assertThat(Dumps.key("0203", keys)).containsExactly(2, 3);
        assertThatThrownBy(() -> Dumps.key("@3", keys)).isInstanceOf(AssertionError.class);
    }

    @Test
    void isShownByItsName() {
        assertThat(golden()).hasToString("case-1");
    }

    /** In the reference's own dumps: whatever is written by number must exist in the entries it refers to. */
    @Test
    void resolvesEveryNumberedKeyOfTheGoldenSsts() {
        int numbered = 0;
        for (GoldenCase golden : TestData.golden("sst")) {
            List<byte[]> keys = golden.distinctKeys("entries.tsv");
            for (String[] line : golden.tsv("seeks.tsv")) {
                if (line[2].startsWith("@")) {
                    assertThat(Dumps.key(line[2], keys)).hasSizeGreaterThan(200);
                    numbered++;
                }
            }
        }
        assertThat(numbered).isPositive();
    }

    private GoldenCase golden() {
        return new GoldenCase("sst", "case-1", dir);
    }
}
