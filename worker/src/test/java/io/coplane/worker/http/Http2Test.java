package io.coplane.worker.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.engine.CopAnswer;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.testing.NoLeaks;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.tls.TestAuthority;
import io.coplane.worker.tls.Tls;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What connections with streams may take: time while they answer, and a number. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class Http2Test {
    @TempDir
    private static Path pki;

    private static TestAuthority authority;

    private final MemoryLimiter bodies = new MemoryLimiter(1 << 20);
    private final CompletableFuture<CopAnswer> answer = new CompletableFuture<>();
    private CountDownLatch asked = new CountDownLatch(1);
    private HttpServer server;

    @BeforeAll
    static void issue() throws Exception {
        authority = new TestAuthority(pki);
        authority.issue("server", "tikv-worker", "EC");
    }

    @AfterEach
    void stop() {
        server.close();
        assertThat(bodies.usedBytes()).isZero();
    }

    @Test
    void aConnectionWhoseRequestIsInWorkIsNotIdle() throws Exception {
        start(10, Duration.ofSeconds(1));
        try (HttpClient client = client()) {
            CompletableFuture<HttpResponse<String>> response = ask(client);
            assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();

            assertThatThrownBy(() -> response.get(2_500, TimeUnit.MILLISECONDS)) // idle for more than twice the timeout
                    .isInstanceOf(TimeoutException.class);
            answer.complete(new CopAnswer(503, null, "later", ""));

            assertThat(response.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
            while (server.connectionCount() > 0) { // idle now
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void connectionsCountFromTheirHandshakeOnAndStreamsApart() throws Exception {
        asked = new CountDownLatch(2);
        start(2, Duration.ofSeconds(60));
        try (HttpClient client = client()) {
            assertThat(client.send(
                                    HttpRequest.newBuilder(uri("/healthz")).build(),
                                    HttpResponse.BodyHandlers.ofString())
                            .version())
                    .isEqualTo(HttpClient.Version.HTTP_2);
            try (Socket second = connect();
                    Socket third = connect()) {
                third.setSoTimeout(20_000);
                assertThat(third.getInputStream().read()).isNegative();
                assertThat(second.isConnected()).isTrue();
            }

            List<CompletableFuture<HttpResponse<String>>> inWork = List.of(ask(client), ask(client));
            assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
            assertThatThrownBy(() -> ask(client).get(20, TimeUnit.SECONDS)) // the third stream
                    .hasRootCauseInstanceOf(IOException.class);
            answer.complete(new CopAnswer(503, null, "later", ""));
            for (CompletableFuture<HttpResponse<String>> response : inWork) {
                assertThat(response.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
            }
        }
    }

    private Socket connect() throws IOException {
        return new Socket(server.address().getAddress(), server.address().getPort());
    }

    private CompletableFuture<HttpResponse<String>> ask(HttpClient client) {
        return client.sendAsync(
                HttpRequest.newBuilder(uri("/coprocessor"))
                        .POST(HttpRequest.BodyPublishers.ofString("body"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private URI uri(String path) {
        return URI.create("https://127.0.0.1:" + server.address().getPort() + path);
    }

    private void start(int maxConnections, Duration headTimeout) throws IOException {
        server = HttpServer.builder(
                        request -> {
                            asked.countDown();
                            return answer;
                        },
                        bodies,
                        new HttpLimits(
                                1 << 20,
                                64 << 10,
                                maxConnections,
                                headTimeout,
                                Duration.ofSeconds(60),
                                Duration.ofSeconds(60)))
                .tls(Optional.of(tls().httpServer()))
                .start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    private HttpClient client() throws IOException {
        return HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_2)
                .sslContext(tls().httpClient())
                .build();
    }

    private static Tls tls() throws IOException {
        Path written = Files.writeString(
                pki.resolve("worker.toml"),
                "dfs.local-dir = \"x\"\ndfs.backend = \"local\"\n" + authority.toml("server"));
        return new Tls(
                ConfigLoader.load(Optional.of(written), Map.of(), Map.of()).security(),
                Clock.system(),
                new PrometheusRegistry());
    }
}
