package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.coplane.compaction.CompactionProgress;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.store.StoreUrl;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.S3Server;
import io.coplane.testing.TestData;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

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
        fill(golden);
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

    @Test
    void theExitStatusSaysWhoActs() throws Exception {
        fill(golden("l0-safe0"));
        String request = golden("l0-safe0").path("request.json").toString();
        String store = folder.toString();

        assertThat(run("compact", "--store", store)).isEqualTo(2);
        assertThat(run("compact", "--orphans")).isEqualTo(2);
        assertThat(run("compact", "--request", "nowhere.json", "--store", store))
                .isEqualTo(1);
        assertThat(run("compact", "--request", request, "--store", store, "--memory", "4096"))
                .isEqualTo(3);
        assertThat(err.toString()).contains("(MEMORY_LIMIT 2001)");
        Files.delete(inputFile(golden("l0-safe0")));
        assertThat(run("compact", "--request", request, "--store", store)).isEqualTo(4);
        assertThat(err.toString()).contains("(FILE_NOT_FOUND 3001)");
    }

    @Test
    void aPlanTellsWhatIsThereAndWritesNothing() throws Exception {
        GoldenCase golden = golden("l1plus-cf0-l1-k0-s0");
        fill(golden);
        long before = objects();
        long bytes = golden.files(".sst").stream()
                .filter(f -> f.startsWith("in/"))
                .mapToLong(f -> golden.bytes(f).length)
                .sum();

        int status = run(
                "compact", "--plan", "--request", golden.path("request.json").toString(), "--store", folder.toString());

        assertThat(err.toString()).isEmpty();
        assertThat(status).isZero();
        assertThat(out.toString())
                .contains("variant=L1Plus", "inputBytes=" + bytes, "L1 write: files=2", "L2 write: files=2")
                .contains("copied without decoding: at most ", "admitted=67108864", "given=40 neededAtMostAbout=1");
        assertThat(objects()).isEqualTo(before);
    }

    @Test
    void whatNobodyGotIsListedAsOrphansAndTheSameRequestIsAnsweredAgain() throws Exception {
        GoldenCase golden = golden("l0-safe0");
        fill(golden);
        String[] compact = {
            "compact",
            "--request",
            golden.path("request.json").toString(),
            "--store",
            folder.toString(),
            "--journal-dir",
            folder.resolve("journals").toString(),
            "--result",
            folder.resolve("missing/result.pb").toString()
        };
        assertThat(run(compact)).isEqualTo(1); // it ends before anybody has the result
        out.getBuffer().setLength(0);

        assertThat(run("compact", "--orphans", "--json", "--journal-dir", compact[6]))
                .isZero();
        String orphans = out.toString();
        assertThat(orphans).contains("\"key\":\"", "\"stored\":true", "\"ageSeconds\":");
        out.getBuffer().setLength(0);
        compact[8] = folder.resolve("result.pb").toString();
        assertThat(run(compact)).isZero();
        assertThat(out.toString()).contains(orphans.lines().count() + " files by earlier attempts");
        out.getBuffer().setLength(0);
        assertThat(run("compact", "--orphans", "--journal-dir", compact[6])).isZero();
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void orphansInABucketAreListedByTheirKeysAndLengths() throws Exception {
        GoldenCase golden = golden("l0-safe0");
        Map<String, String> keys = Map.of("DFS_S3_KEY_ID", S3Server.KEY_ID, "DFS_S3_SECRET_KEY", S3Server.SECRET_KEY);
        String journals = folder.resolve("journals").toString();
        try (S3Server server = S3Server.start()) {
            String url = "s3://" + S3Server.BUCKET + "/p?endpoint=" + server.endpoint();
            try (ObjectStore store = StoreUrl.parse(url).open(keys, 2)) {
                fill(golden, store);
                int status = new CommandLine(new CompactCommand(keys))
                        .setErr(new PrintWriter(err, true))
                        .execute(
                                "--request",
                                golden.path("request.json").toString(),
                                "--store",
                                url,
                                "--journal-dir",
                                journals,
                                "--result",
                                folder.resolve("missing/result.pb").toString());
                assertThat(status).isEqualTo(1); // it ends before anybody has the result

                assertThat(run("compact", "--orphans", "--json", "--journal-dir", journals))
                        .isZero();

                List<String> lines = out.toString().lines().toList();
                assertThat(lines).isNotEmpty();
                for (String line : lines) {
                    JsonNode orphan = new ObjectMapper().readTree(line);
                    long id = Long.parseUnsignedLong(orphan.get("id").asText());
                    assertThat(orphan.get("stored").asBoolean()).isTrue();
                    assertThat(orphan.get("key").asText()).isEqualTo(ObjectKeys.path(FileKind.SST, id));
                    assertThat(store.byteSize(FileKind.SST, id).join())
                            .isEqualTo(orphan.get("bytes").asLong());
                }
            }
        }
    }

    @Test
    void progressIsSaidInPercentSpeedAndTime() {
        var progress = new CompactionProgress();
        assertThat(CompactProgressBar.text(progress, 0, false))
                .isEqualTo("  0 % of 0.0 MiB, 0.0 MiB/s, ETA ? s, 0 files, 0.0 MiB written");
        assertThat(CompactProgressBar.text(progress, 0, true)).startsWith("[------------------------------]   0 %");
    }

    private static GoldenCase golden(String name) {
        return TestData.cases("compaction")
                .filter(c -> c.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private void fill(GoldenCase golden) {
        try (var store = new DirectoryStore(folder, "", 2)) {
            fill(golden, store);
        }
    }

    private static void fill(GoldenCase golden, ObjectStore store) {
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

    private Path inputFile(GoldenCase golden) {
        String file = golden.files(".sst").stream()
                .filter(f -> f.startsWith("in/"))
                .findFirst()
                .orElseThrow();
        return folder.resolve(ObjectKeys.key("", FileKind.SST, Long.parseUnsignedLong(file.substring(3, 19), 16)));
    }

    private long objects() throws Exception {
        try (var files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).count();
        }
    }
}
