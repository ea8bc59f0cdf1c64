package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.FileKind;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** {@code coplane compact}. */
@ExtendWith(NoLeaks.class)
final class CompactCommandTest {
    @TempDir
    private Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        return CoplaneMain.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }

    @Test
    void runsARequestOverADirectory() throws Exception {
        GoldenCase golden = TestData.cases("compaction")
                .filter(c -> c.name().startsWith("major-") && c.meta().containsKey("enc.master_key")
                        || c.name().startsWith("l0-enc"))
                .findFirst()
                .orElseThrow();
        try (var store = new DirectoryStore(folder, "", 2)) {
            for (String file : golden.files("")) {
                if (file.startsWith("in/")) {
                    long id = Long.parseUnsignedLong(file.substring(3, 19), 16);
                    store.put(
                                    file.endsWith(".sst") ? FileKind.SST : FileKind.BLOB,
                                    id,
                                    MemorySegment.ofArray(golden.bytes(file)))
                            .join();
                }
            }
        }
        Path result = folder.resolve("result.pb");

        int status = run(
                "compact",
                "--request",
                golden.path("request.json").toString(),
                "--store",
                folder.toString(),
                "--master-key",
                golden.meta().get("enc.master_key"),
                "--result",
                result.toString());

        assertThat(err.toString()).isEmpty();
        assertThat(status).isZero();
        assertThat(out.toString()).contains("tableCreates", "versions read");
        assertThat(ChangeSet.parseFrom(Files.readAllBytes(result)).getShardID())
                .isEqualTo(ChangeSet.parseFrom(golden.bytes("result.pb")).getShardID());
    }

    @Test
    void saysInOneSentenceWhatIsWrong() throws Exception {
        Path request = Files.writeString(folder.resolve("request.json"), "{\"compactor-version\":4}");

        int status = run("compact", "--request", request.toString(), "--store", folder.toString());

        assertThat(status).isEqualTo(1);
        assertThat(err.toString()).startsWith("coplane: incompatible compactor version (3)");
    }
}
