package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.FileKind;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code /compact} of whole workers, asked by a client that follows a store's rules (compaction.md 1, 7). */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class CompactionWorkerTest {
    private static final byte[] TOO_NEW = "{\"compactor-version\":4}".getBytes(StandardCharsets.UTF_8);

    @TempDir
    private Path folder;

    private final List<Worker> workers = new ArrayList<>();
    private HttpClient http;

    @BeforeEach
    void open() {
        http = HttpClient.newHttpClient();
    }

    @AfterEach
    void nothingIsHeld() {
        http.close();
        for (Worker worker : workers) {
            worker.close();
            assertThat(worker.memory().usedBytes()).isZero();
        }
    }

    static Stream<GoldenCase> jobs() {
        return TestData.cases("compaction").filter(c -> !c.meta().containsKey("enc.master_key"));
    }

    @ParameterizedTest
    @MethodSource("jobs")
    void runsTheJobsOfTheReference(GoldenCase golden) throws Exception {
        fill(golden);
        var client = new CompactionClient(http, false, List.of(worker("")));

        CompactionClient.Outcome outcome = client.compact(golden.bytes("request.json"));

        ChangeSet expected = ChangeSet.parseFrom(golden.bytes("result.pb"));
        assertThat(outcome.statuses()).containsExactly(200);
        assertThat(outcome.changeSet().getShardID()).isEqualTo(expected.getShardID());
        assertThat(outcome.changeSet().getAllFields().keySet())
                .isEqualTo(expected.getAllFields().keySet());
    }

    @Test
    void aRequestThatIsTooNewIsLeftToTheStoreAtOnce() throws Exception {
        var client = new CompactionClient(http, true, List.of(worker("")));

        CompactionClient.Outcome outcome = client.compact(TOO_NEW);

        assertThat(outcome.statuses()).containsExactly(501);
        assertThat(outcome.local()).isTrue();
        assertThat(client.workers).hasSize(1);
    }

    @Test
    void aBusyWorkerIsFollowedByTheNextOneAndKept() throws Exception {
        GoldenCase golden = jobs().findFirst().orElseThrow();
        fill(golden);
        URI free = worker("");
        URI busy = worker("memory-upper-threshold = \"20KiB\"\n"); // less than twice the input, more than a body
        var client = new CompactionClient(http, false, List.of(free, busy)); // the one at index 1 is asked first

        CompactionClient.Outcome outcome = client.compact(golden.bytes("request.json"));

        assertThat(outcome.statuses()).containsExactly(503, 200);
        assertThat(client.workers).hasSize(2);
    }

    @Test
    void aWorkerThatFailsIsDroppedAfterThreeAttempts() throws Exception {
        GoldenCase golden = jobs().findFirst().orElseThrow(); // whose files are not there
        var client = new CompactionClient(http, true, List.of(worker("")));

        CompactionClient.Outcome outcome = client.compact(golden.bytes("request.json"));

        assertThat(outcome.statuses()).containsExactly(500, 500, 500);
        assertThat(outcome.local()).isTrue();
        assertThat(client.workers).isEmpty();
    }

    @Test
    void aRetryWithTheSameBodyGivesTheSameFiles() throws Exception {
        GoldenCase golden = TestData.cases("compaction")
                .filter(c -> c.name().startsWith("l0-split"))
                .findFirst()
                .orElse(jobs().findFirst().orElseThrow());
        fill(golden);
        var client = new CompactionClient(http, false, List.of(worker("")));

        ChangeSet first = client.compact(golden.bytes("request.json")).changeSet();
        ChangeSet second = client.compact(golden.bytes("request.json")).changeSet();

        assertThat(second).isEqualTo(first);
    }

    @Test
    void aLostReplyIsAnsweredAgainByTheNextWorkerWithoutAPut() throws Exception {
        GoldenCase golden = jobs().findFirst().orElseThrow();
        fill(golden);
        String journals = "compact-journal-dir = \"" + folder.resolve("journals") + "\"\n";
        URI first = worker("[coplane]\n" + journals + "[dfs]\n", true);
        lose(first, golden.bytes("request.json"));
        awaitSuccess(first);
        workers.getLast().close();
        Map<String, Object> written = objects();

        var client = new CompactionClient(http, false, List.of(worker("[coplane]\n" + journals + "[dfs]\n", true)));
        CompactionClient.Outcome outcome = client.compact(golden.bytes("request.json"));

        assertThat(outcome.statuses()).containsExactly(200);
        assertThat(objects()).isEqualTo(written);
        assertThat(outcome.changeSet())
                .isEqualTo(client.compact(golden.bytes("request.json")).changeSet());
        assertThat(objects()).isEqualTo(written);
    }

    @Test
    void theSameRequestAtTheSameTimeIsOneCompaction() throws Exception {
        GoldenCase golden = jobs().findFirst().orElseThrow();
        fill(golden);
        URI worker = worker("");
        var requests = new ArrayList<CompletableFuture<HttpResponse<byte[]>>>();
        for (int i = 0; i < 8; i++) {
            requests.add(http.sendAsync(
                    HttpRequest.newBuilder(worker)
                            .POST(HttpRequest.BodyPublishers.ofByteArray(golden.bytes("request.json")))
                            .build(),
                    HttpResponse.BodyHandlers.ofByteArray()));
        }

        byte[] first = requests.getFirst().join().body();

        assertThat(requests).allSatisfy(request -> {
            assertThat(request.join().statusCode()).isEqualTo(200);
            assertThat(request.join().body()).isEqualTo(first);
        });
    }

    /** Sends a request and goes before the answer comes. */
    private static void lose(URI worker, byte[] body) throws IOException {
        try (var socket = new Socket(worker.getHost(), worker.getPort())) {
            socket.getOutputStream()
                    .write(("POST /compact HTTP/1.1\r\nhost: x\r\ncontent-length: " + body.length + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().write(body);
            socket.getOutputStream().flush();
        }
    }

    /** Waits for the answer that nobody gets. */
    private void awaitSuccess(URI worker) throws IOException, InterruptedException {
        HttpRequest metrics = HttpRequest.newBuilder(worker.resolve("/metrics")).build();
        while (!http.send(metrics, HttpResponse.BodyHandlers.ofString())
                .body()
                .contains("tikv_worker_remote_compact_request_duration_seconds_count 1")) {
            Thread.onSpinWait();
        }
    }

    /** Objects with their inodes: one that is put again gets another. */
    private Map<String, Object> objects() throws IOException {
        var objects = new TreeMap<String, Object>();
        try (Stream<Path> files = Files.walk(folder.resolve("default"))) {
            for (Path file : files.filter(
                            f -> f.toString().endsWith(".sst") || f.toString().endsWith(".blob"))
                    .toList()) {
                objects.put(file.getFileName().toString(), Files.getAttribute(file, "unix:ino"));
            }
        } catch (UncheckedIOException e) {
            return objects(); // a temporary file went meanwhile
        }
        return objects;
    }

    @Test
    void answersHaveTheStatusesAndTextsOfTheContract() throws Exception {
        URI worker = worker("");

        HttpResponse<String> answer = send(worker, "GET", TOO_NEW);
        assertThat(answer.statusCode()).isEqualTo(501);
        assertThat(answer.body()).isEqualTo("incompatible compactor version (3)");
        assertThat(answer.headers().firstValue("content-type")).isEmpty();
        assertThat(send(worker, "POST", "{".getBytes(StandardCharsets.UTF_8)).statusCode())
                .isEqualTo(400);
        assertThat(send(worker, "PUT", "{}".getBytes(StandardCharsets.UTF_8)).statusCode())
                .isEqualTo(500);
        assertThat(send(worker, "POST", new byte[33 << 20]).statusCode()).isEqualTo(413);
        assertThat(send(URI.create(worker + "/"), "POST", TOO_NEW).statusCode()).isEqualTo(404);
    }

    private HttpResponse<String> send(URI uri, String method, byte[] body) throws IOException, InterruptedException {
        return http.send(
                HttpRequest.newBuilder(uri)
                        .method(method, HttpRequest.BodyPublishers.ofByteArray(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private URI worker(String toml) throws IOException {
        return worker(toml, false);
    }

    /** @param isInDfs whether the text ends within table {@code dfs} */
    private URI worker(String toml, boolean isInDfs) throws IOException {
        String dfs = isInDfs ? "" : "dfs.";
        Path file = Files.writeString(
                folder.resolve("worker-" + workers.size() + ".toml"),
                "addr = \"127.0.0.1:0\"\ncop-addr = \"\"\n" + toml + dfs + "backend = \"local\"\n" + dfs
                        + "local-dir = \"" + folder + "\"\n");
        Worker worker =
                Worker.start(ConfigLoader.load(Optional.of(file), Map.of(), Map.of()), new Machine(64L << 30, 2));
        workers.add(worker);
        return URI.create("http://127.0.0.1:" + worker.address().getPort() + "/compact");
    }

    private void fill(GoldenCase golden) {
        try (var store = new DirectoryStore(folder, "", 2)) {
            for (String file : golden.files("")) {
                if (file.startsWith("in/")) {
                    String name = file.substring("in/".length());
                    store.put(
                                    name.endsWith(".sst") ? FileKind.SST : FileKind.BLOB,
                                    Long.parseUnsignedLong(name.substring(0, 16), 16),
                                    MemorySegment.ofArray(golden.bytes(file)))
                            .join();
                }
            }
        }
    }
}
