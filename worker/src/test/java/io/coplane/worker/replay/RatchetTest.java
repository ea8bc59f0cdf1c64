package io.coplane.worker.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RatchetTest {
    @TempDir
    Path folder;

    @Test
    void writesRangesAndReadsThemBack() throws IOException {
        Path file = folder.resolve("list.tsv");

        Ratchet.of(Map.of("b", List.of(7), "a", List.of(1, 2, 3, 9, 0))).write(file);

        assertThat(Files.readAllLines(file).subList(1, 3)).containsExactly("a\t0-3,9\topen", "b\t7\topen");
        Ratchet read = Ratchet.read(file);
        assertThat(read.size()).isEqualTo(6);
        assertThat(read.contains("a", 2)).isTrue();
        assertThat(read.contains("a", 4)).isFalse();
        assertThat(read.contains("c", 0)).isFalse();
    }

    @Test
    void keepsTheReasonsOfAnOlderList() throws IOException {
        Path file = folder.resolve("list.tsv");
        Files.writeString(file, "a\t1-2,5\texpressions.md 13\na\t3\n");

        Ratchet.of(Map.of("a", List.of(2, 3, 4, 5)))
                .withReasonsOf(Ratchet.read(file))
                .write(file);

        assertThat(Files.readAllLines(file).subList(1, 3)).containsExactly("a\t2,5\texpressions.md 13", "a\t3-4\topen");
        assertThat(Ratchet.read(file).reason("a", 5)).isEqualTo("expressions.md 13");
    }

    @Test
    void refusesALineWithoutOrdinals() throws IOException {
        Path file = folder.resolve("list.tsv");
        Files.writeString(file, "# comment\n\nagg\n");

        assertThatThrownBy(() -> Ratchet.read(file))
                .isInstanceOf(CoplaneException.class)
                .hasMessageContaining("agg");
    }
}
