package io.coplane.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UntarTest {
    @TempDir
    Path temp;

    @Test
    void unpacksFilesAndFolders() throws IOException {
        String long1 = "x".repeat(512);
        String long2 = "y".repeat(70_001);

        untar(Tars.of("f/", "", "f/a/1", long1, "f/a/2", "", "f/b/3", long2));

        assertThat(temp.resolve("out/f/a/1")).hasContent(long1);
        assertThat(temp.resolve("out/f/a/2")).isEmptyFile();
        assertThat(temp.resolve("out/f/b/3")).hasContent(long2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"../f/evil", "f/../../evil", "f/../g/evil", "/f/evil", "g/evil", "f/a/../../evil"})
    void refusesPathOutsideOfItsFolder(String name) throws IOException {
        assertThatThrownBy(() -> untar(Tars.of(name, "evil")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("outside");

        try (Stream<Path> files = Files.walk(temp)) {
            assertThat(files.filter(Files::isRegularFile)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(chars = {'1', '2', '3', '6', 'L', 'x'})
    void refusesWhatIsNeitherFileNorFolder(char type) {
        assertThatThrownBy(() -> untar(Tars.header("f/link", type, 0)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("neither");
    }

    @Test
    void refusesArchiveThatIsCut() {
        byte[] archive = Tars.of("f/a", "contents");

        for (int length : new int[] {0, 1, 511, 512, 513, 519, 520, 1023, 1024, 1535}) {
            assertThatThrownBy(() -> untar(Arrays.copyOf(archive, length))).isInstanceOf(IOException.class);
        }
    }

    @Test
    void refusesDamagedHeader() {
        byte[] archive = Tars.of("f/a", "contents");
        var refused = new AtomicInteger();

        Corrupt.bitFlips(Arrays.copyOf(archive, 512), 0, 4096, (damage, header) -> {
            byte[] damaged = archive.clone();
            System.arraycopy(header, 0, damaged, 0, header.length);
            try {
                untar(damaged);
            } catch (IOException e) {
                refused.incrementAndGet();
            }
        });

        // behind the digits of its checksum a header may hold anything (8 bits), and a blank instead of the NUL (1 bit)
        assertThat(refused.get()).isEqualTo(4096 - 9);
    }

    private void untar(byte[] archive) throws IOException {
        Untar.into(temp.resolve("out"), "f", new ByteArrayInputStream(archive));
    }
}
