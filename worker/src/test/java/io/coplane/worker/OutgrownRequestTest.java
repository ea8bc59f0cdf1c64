package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.testing.NoLeaks;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests whose snapshot is admitted and whose execution wants more than the limiter has left, over HTTP: 503, never a response. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class OutgrownRequestTest {
    private static final Machine MACHINE = new Machine(64L << 30, 2);
    private static final byte[] INTEGERS = HungryRequests.integers();
    private static final byte[] STRINGS = HungryRequests.strings();

    @TempDir
    private Path folder;

    private final HttpClient client = HttpClient.newHttpClient();
    private Worker worker;

    @AfterEach
    void nothingIsHeld() {
        client.close();
        worker.close();
        assertThat(worker.memory().usedBytes()).isZero();
        assertThat(worker.bodies().usedBytes()).isZero();
    }

    static Stream<Arguments> hungry() {
        return Stream.of(
                Arguments.of("hash table", INTEGERS, HungryRequests.hashTable(), "20MiB", HungryRequests.ROWS),
                Arguments.of("top n", INTEGERS, HungryRequests.topN(), "20MiB", HungryRequests.ROWS),
                Arguments.of("sort keys", STRINGS, HungryRequests.sortKeys(), "32MiB", 1),
                Arguments.of("response", INTEGERS, HungryRequests.response(), "20MiB", HungryRequests.ROWS));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("hungry")
    void isRefusedAsRetryableAndNothingIsHeld(String what, byte[] memData, Request request, String cap, int rows)
            throws Exception {
        start(cap);
        HttpResponse<byte[]> modest = post(HungryRequests.modest(), memData);
        HttpResponse<byte[]> refused = post(request, memData);

        assertThat(modest.statusCode()).as("its snapshot fits").isEqualTo(200);
        assertThat(refused.statusCode()).as(text(refused)).isEqualTo(503);
        assertThat(text(refused)).isEqualTo("memory limit exceeded");
        assertThat(refused.headers().firstValue("content-type")).isEmpty();
        assertThat(metrics()).contains("tikv_worker_remote_cop_failed_requests_counter{type=\"execute\"} 1\n");
        assertThat(worker.memory().usedBytes()).isEqualTo(worker.cachedBytes());
        assertThat(worker.bodies().usedBytes()).isZero();

        worker.close();
        start("1GiB");
        HttpResponse<byte[]> answered = post(request, memData);
        assertThat(answered.statusCode()).as(text(answered)).isEqualTo(200);
        SelectResponse select =
                SelectResponse.parseFrom(Response.parseFrom(answered.body()).getData());
        assertThat(select.getChunksList().stream()
                        .mapToLong(chunk -> chunk.getRowsData().size())
                        .sum())
                .as("bytes of rows: the request is sound")
                .isGreaterThan(rows);
    }

    private void start(String cap) throws IOException {
        Path file = Files.writeString(folder.resolve("worker.toml"), String.format(Locale.ROOT, """
                addr = "127.0.0.1:0"
                cop-addr = ""
                dfs.backend = "local"
                dfs.local-dir = "%s"
                cop-block-cache-size = 0
                cop-max-resp-size = "1GiB"
                memory-upper-threshold = "%s"
                """, folder, cap));
        worker = Worker.start(ConfigLoader.load(Optional.of(file), Map.of(), Map.of()), MACHINE);
    }

    private HttpResponse<byte[]> post(Request request, byte[] memData) throws IOException, InterruptedException {
        byte[] body = RemoteRequestBody.join(request.toByteArray(), memData, HungryRequests.emptyShard());
        return client.send(
                HttpRequest.newBuilder(uri("/coprocessor"))
                        .header("accept", "application/protobuf")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());
    }

    private String metrics() throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(uri("/metrics")).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + worker.address().getPort() + path);
    }

    private static String text(HttpResponse<byte[]> answer) {
        return new String(answer.body(), 0, Math.min(200, answer.body().length), StandardCharsets.UTF_8);
    }
}
