package io.coplane.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFolderTest {
    @TempDir
    Path root;

    @TempDir
    Path unpacked;

    @Test
    void readsPackedFamily() throws IOException {
        write(
                "golden/sst.tar.zst",
                Zstd.compress(Tars.of("sst/a/meta.tsv", "seed\t1\n", "sst/b/meta.tsv", "seed\t2\n")));

        List<GoldenCase> cases = folder().golden("sst");

        assertThat(cases).extracting(GoldenCase::name).containsExactly("a", "b");
        assertThat(cases.get(1).meta()).containsEntry("seed", "2");
    }

    @Test
    void readsPlainFamily() throws IOException {
        write("golden/sst/b/meta.tsv", bytes("seed\t2\n"));
        write("golden/sst/a/meta.tsv", bytes("seed\t1\n"));
        write("golden/sst/README.md", bytes("no case"));

        assertThat(folder().golden("sst")).extracting(GoldenCase::name).containsExactly("a", "b");
        assertThat(unpacked).isEmptyDirectory();
    }

    @Test
    void prefersPlainFamily() throws IOException {
        write("golden/sst.tar.zst", Zstd.compress(Tars.of("sst/packed/x", "")));
        write("golden/sst/plain/x", bytes(""));

        assertThat(folder().golden("sst")).extracting(GoldenCase::name).containsExactly("plain");
    }

    @Test
    void unpacksArchiveOnce() throws IOException {
        write("golden/sst.tar.zst", Zstd.compress(Tars.of("sst/a/x", "1")));
        Path first = folder().golden("sst").getFirst().dir();
        Files.writeString(first.resolve("mark"), "still there");

        GoldenCase again = folder().golden("sst").getFirst();

        assertThat(again.has("mark")).isTrue();
    }

    @Test
    void unpacksArchiveThatChanged() throws IOException {
        write("golden/sst.tar.zst", Zstd.compress(Tars.of("sst/a/x", "1")));
        folder().golden("sst");
        write("golden/sst.tar.zst", Zstd.compress(Tars.of("sst/a/x", "2")));

        assertThat(folder().golden("sst").getFirst().bytes("x")).isEqualTo(bytes("2"));
    }

    @Test
    void unpacksAgainAfterBuildThatWasKilled() throws IOException {
        byte[] archive = Zstd.compress(Tars.of("sst/a/x", "1"));
        write("golden/sst.tar.zst", archive);
        Path partial = unpacked.resolve(Dumps.sha256(archive).substring(0, 16) + ".partial/sst/a");
        Files.createDirectories(partial);
        Files.writeString(partial.resolve("x"), "half");

        assertThat(folder().golden("sst").getFirst().bytes("x")).isEqualTo(bytes("1"));
    }

    @Test
    void unpacksOnceForManyThreads() throws IOException, InterruptedException, ExecutionException {
        write("golden/sst.tar.zst", Zstd.compress(Tars.of("sst/a/x", "1")));

        try (var pool = Executors.newFixedThreadPool(
                4, Thread.ofPlatform().name("reader-", 0).factory())) {
            Callable<byte[]> read = () -> folder().golden("sst").getFirst().bytes("x");
            List<Future<byte[]>> all = pool.invokeAll(List.of(read, read, read, read, read, read, read, read));
            for (Future<byte[]> one : all) {
                assertThat(one.get()).isEqualTo(bytes("1"));
            }
        }
    }

    @Test
    void listsFamiliesOfBothLayouts() throws IOException {
        write("golden/sst.tar.zst", Zstd.compress(Tars.of("sst/a/x", "1")));
        write("golden/l0/a/x", bytes(""));
        write("golden/README.md", bytes(""));

        assertThat(folder().families()).containsExactly("l0", "sst");
    }

    @Test
    void failsWithoutFamily() throws IOException {
        Files.createDirectories(root.resolve("golden/empty"));
        write("golden/hollow.tar.zst", Zstd.compress(Tars.of("hollow/", "")));

        assertThatThrownBy(() -> folder().golden("sst"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(root.resolve("golden/sst").toString());
        assertThatThrownBy(() -> folder().golden("empty"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(root.resolve("golden/empty").toString());
        assertThatThrownBy(() -> folder().golden("hollow"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("no golden case");
        assertThatThrownBy(() -> folder().golden("../golden")).isInstanceOf(AssertionError.class);
    }

    @Test
    void failsWithoutRoot() {
        assertThatThrownBy(() -> new DataFolder(root.resolve("nowhere"), unpacked))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("nowhere");
    }

    @Test
    void findsDataSets() throws IOException {
        for (String file : List.of("b.req.zst", "b.tikv.zst", "a.req.zst", "README.md")) {
            write("corpus/" + file, bytes(""));
        }

        assertThat(folder().corpusNames()).containsExactly("a", "b");
        assertThat(folder().corpusFile("b", "tikv.zst")).isRegularFile();
        assertThatThrownBy(() -> folder().corpusFile("a", "tikv.zst"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("a.tikv.zst");
    }

    @Test
    void failsWithoutDataSets() throws IOException {
        assertThatThrownBy(() -> folder().corpusNames()).isInstanceOf(AssertionError.class);

        Files.createDirectories(root.resolve("corpus"));

        assertThatThrownBy(() -> folder().corpusNames()).isInstanceOf(AssertionError.class);
    }

    @Test
    void findsVectorsOfBothLayouts() throws IOException {
        assertThatThrownBy(() -> folder().expressionVectors()).isInstanceOf(AssertionError.class);

        write("expressions/expression-vectors.tsv", bytes("own"));
        assertThat(folder().expressionVectors()).hasContent("own");

        write("spec/expression-vectors.tsv", bytes("plain"));
        assertThat(folder().expressionVectors()).hasContent("plain");
    }

    private DataFolder folder() {
        return new DataFolder(root, unpacked);
    }

    private void write(String file, byte[] contents) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.write(path, contents);
    }

    private static byte[] bytes(String text) {
        return Tars.bytes(text);
    }
}
