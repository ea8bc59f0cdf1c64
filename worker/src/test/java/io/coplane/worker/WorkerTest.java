package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.Snapshot;
import io.coplane.proto.kvrpcpb.Context;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.testing.NoLeaks;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.coplane.worker.config.WorkerConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The whole worker over HTTP: worker.md 5, 6 and snapshot.md 1, with the real data plane. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class WorkerTest {
    private static final byte[] NOTHING = {};
    private static final Machine MACHINE = new Machine(64L << 30, 2);

    @TempDir
    private Path folder;

    private HttpClient client;
    private Worker worker;

    @BeforeEach
    void start() throws IOException {
        client = HttpClient.newHttpClient();
        worker = Worker.start(config("""
                [black-list.remote-cop]
                keyspace-ids = [7]
                [black-list.checksum]
                keyspace-ids = [8]
                """), MACHINE);
    }

    @AfterEach
    void nothingIsHeld() {
        client.close();
        worker.close();
        assertThat(worker.memory().usedBytes()).isZero();
        assertThat(worker.bodies().usedBytes()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | failed to decode cop request",
                "01000000 | failed to decode cop request",
                "0200000000000000 | failed to decode cop request",
                "01000000 05000000 10673805 | failed to decode cop request",
                "01000000 04000000 10673805 | invalid cop request",
                "01000000 04000000 10673805 00000000 | invalid cop request",
                "01000000 04000000 10673805 01000000 | failed to decode cop request",
                "01000000 04000000 10673805 00000000 01000000 | failed to decode cop request"
            })
    void bodiesOfAnotherFormHaveTheReferencesText(String hex, String text) throws Exception {
        byte[] body = HexFormat.of().parseHex(hex.replace(" ", ""));

        HttpResponse<byte[]> answer = post(body, "application/protobuf");

        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(text(answer)).isEqualTo("Other(\"" + text + "\")");
        assertThat(answer.headers().firstValue("content-type")).isEmpty();
    }

    @Test
    void aRequestWithoutSnapshotSaysSo() throws Exception {
        byte[] body = HexFormat.of().parseHex("0100000004000000106738050000000000000000"); // worker.md 6.1

        HttpResponse<byte[]> answer = post(body, "application/protobuf");

        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(text(answer)).isEqualTo("RemoteRead(\"no snapshot in change set\")");
    }

    @Test
    void whatIsNoProtobufIsAnsweredWith500() throws Exception {
        byte[] broken = {(byte) 0xff, (byte) 0xff, (byte) 0xff};

        for (byte[] body : new byte[][] {
            RemoteRequestBody.join(broken, NOTHING, NOTHING),
            RemoteRequestBody.join(request(103, 1).toByteArray(), NOTHING, broken),
            RemoteRequestBody.join(request(103, 1).toByteArray(), broken, emptyShard())
        }) {
            HttpResponse<byte[]> answer = post(body, "application/protobuf");

            assertThat(answer.statusCode()).isEqualTo(500);
            assertThat(text(answer)).isNotEmpty();
            assertThat(answer.headers().firstValue("content-type")).isEmpty();
        }
    }

    @Test
    void anUnknownTypeIsAnErrorOfExecution() throws Exception {
        byte[] body = RemoteRequestBody.join(request(999, 1).toByteArray(), NOTHING, emptyShard());

        HttpResponse<byte[]> protobuf = post(body, "application/protobuf");
        HttpResponse<byte[]> text = post(body, "text/plain");

        assertThat(protobuf.statusCode()).isEqualTo(500);
        assertThat(protobuf.headers().firstValue("content-type")).contains("application/protobuf");
        assertThat(Response.parseFrom(protobuf.body()).getOtherError()).isEqualTo("unsupported tp 999");
        assertThat(text.statusCode()).isEqualTo(500);
        assertThat(text.headers().firstValue("content-type")).isEmpty();
        assertThat(text(text)).isEqualTo("Other(\"unsupported tp 999\")");
    }

    @ParameterizedTest
    @CsvSource({"103, 7, 403", "103, 8, 500", "105, 8, 403", "104, 7, 500", "999, 7, 500"})
    void theBlackListRefusesBeforeTheSnapshotIsLookedAt(int tp, int keyspaceId, int status) throws Exception {
        byte[] body = RemoteRequestBody.join(request(tp, keyspaceId).toByteArray(), NOTHING, NOTHING);

        HttpResponse<byte[]> answer = post(body, "application/protobuf");

        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().firstValue("content-type").orElse("none"))
                .isEqualTo(status == 403 ? "text/plain" : "none");
    }

    @Test
    void everyCutOfABodyIsAnsweredAndHoldsNothing() throws Exception {
        byte[] whole = RemoteRequestBody.join(request(999, 1).toByteArray(), NOTHING, emptyShard());

        for (int bytes = 0; bytes < whole.length; bytes++) {
            HttpResponse<byte[]> answer = post(Arrays.copyOf(whole, bytes), "*/*");

            assertThat(answer.statusCode()).isEqualTo(500);
            assertThat(text(answer)).matches("Other\\(\"(failed to decode|invalid) cop request\"\\)");
        }
        assertThat(worker.memory().usedBytes()).isZero();
    }

    @Test
    void everyFlippedBitOfABodyIsAnsweredAndHoldsNothing() throws Exception {
        byte[] whole = RemoteRequestBody.join(request(999, 1).toByteArray(), NOTHING, emptyShard());

        for (int bit = 0; bit < whole.length * Byte.SIZE; bit++) {
            byte[] body = whole.clone();
            body[bit / Byte.SIZE] ^= (byte) (1 << (bit % Byte.SIZE));

            assertThat(post(body, "*/*").statusCode()).isIn(200, 403, 500, 503);
        }
        assertThat(worker.memory().usedBytes()).isZero();
    }

    @Test
    void metricsAreOfTheReferencesNames() throws Exception {
        assertThat(get("/metrics")).doesNotContain("tikv_worker_remote_cop_dag_request_counter");
        post(RemoteRequestBody.join(request(103, 1).toByteArray(), NOTHING, NOTHING), "*/*");

        assertThat(get("/metrics"))
                .contains("\n# TYPE tikv_worker_remote_cop_dag_request_counter counter\n")
                .contains("\ntikv_worker_remote_cop_dag_request_counter 1\n")
                .contains("\ntikv_worker_remote_cop_failed_requests_counter{type=\"snapshot\"} 1\n")
                .contains("\ntikv_worker_memory_limiter_current_used 0\n")
                .contains("\ntikv_worker_remote_cop_processing_requests_counter 0\n")
                .contains("\nprocess_resident_memory_bytes ")
                .contains("\nprocess_cpu_seconds_total ")
                .contains("\ntikv_server_cpu_cores_quota 2\n")
                .doesNotContain("tikv_worker_remote_analyze_request_counter")
                .doesNotContain("tikv_worker_remote_cop_request_duration_seconds");
    }

    @Test
    void theStatusPageShowsWhatTheWorkerIsAt() throws Exception {
        assertThat(get("/coplane/"))
                .startsWith("<!DOCTYPE html>")
                .contains("<td>0 B of ")
                .contains("HTTP requests so far</th><td>1</td>");
    }

    @Test
    void whatCantBeStartedIsSaidAndLeavesNothing() throws Exception {
        assertThatThrownBy(() -> Worker.start(config("dfs.backend = \"s3\""), MACHINE))
                .hasMessageContaining("dfs.s3-bucket");
        WorkerConfig sameAddress =
                config("addr = \"127.0.0.1:" + worker.address().getPort() + "\"");
        assertThatThrownBy(() -> Worker.start(sameAddress, MACHINE)).hasMessageContaining("can't listen");
        WorkerConfig nowhere = config("dfs.local-dir = \"" + folder.resolve("nowhere") + "\"");
        assertThatThrownBy(() -> Worker.start(nowhere, MACHINE)).hasMessageContaining("no directory");
        Path pem = Files.writeString(folder.resolve("x.pem"), "x");
        WorkerConfig tls = config("security.ca-path = \"" + pem + "\"\nsecurity.cert-path = \"" + pem
                + "\"\nsecurity.key-path = \"" + pem + "\"");
        assertThatThrownBy(() -> Worker.start(tls, MACHINE)).hasMessageContaining("holds no certificate");
    }

    private WorkerConfig config(String toml) throws IOException {
        String defaults = "";
        if (!toml.contains("addr =")) {
            defaults += "addr = \"127.0.0.1:0\"\n";
        }
        if (!toml.contains("cop-addr =")) {
            defaults += "cop-addr = \"\"\n";
        }
        if (!toml.contains("dfs.backend")) {
            defaults += "dfs.backend = \"local\"\n";
        }
        if (!toml.contains("dfs.local-dir")) {
            defaults += "dfs.local-dir = \"" + folder + "\"\n";
        }
        Path file = Files.writeString(folder.resolve("worker.toml"), defaults + toml);
        return ConfigLoader.load(Optional.of(file), Map.of(), Map.of());
    }

    private static Request request(int tp, int keyspaceId) {
        return Request.newBuilder()
                .setTp(tp)
                .setStartTs(5)
                .setContext(Context.newBuilder().setKeyspaceId(keyspaceId))
                .build();
    }

    /** A ChangeSet whose snapshot has no files. */
    private static byte[] emptyShard() {
        return ChangeSet.newBuilder()
                .setShardID(1)
                .setShardVer(1)
                .setSnapshot(Snapshot.newBuilder().setOuterEnd(ByteString.copyFrom(new byte[] {-1})))
                .build()
                .toByteArray();
    }

    private HttpResponse<byte[]> post(byte[] body, String accept) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(uri("/coprocessor"))
                .header("accept", accept)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofByteArray());
    }

    private String get(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(uri(path)).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + worker.address().getPort() + path);
    }

    private static String text(HttpResponse<byte[]> answer) {
        return new String(answer.body(), StandardCharsets.UTF_8);
    }
}
