package io.coplane.worker.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.engine.CopAnswer;
import io.coplane.engine.CopRequest;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.testing.ManualClock;
import io.coplane.testing.Waits;
import io.coplane.worker.http.RawClient.Response;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Routes, bodies, limits and endings over real sockets (worker.md 5, 6). The data plane is a fake that echoes. */
@Timeout(60)
final class HttpServerTest {
    private static final long MIB = 1 << 20;
    private static final Duration LONG = Duration.ofSeconds(30);

    private static LeakWatch leaks;

    private final MemoryLimiter memory = new MemoryLimiter(8 * MIB); // account of bodies
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final List<CopRequest> calls = new ArrayList<>();
    private CopService service = this::echo;
    private HttpLimits limits = new HttpLimits(16 * MIB, 4096, 100, LONG, LONG, LONG);
    private HttpServer server;

    @BeforeAll
    static void watch() {
        leaks = new LeakWatch();
    }

    @AfterAll
    static void noBufferIsLost() {
        leaks.close();
    }

    @AfterEach
    void nothingIsLeft() {
        if (server != null) {
            server.close();
        }
        assertThat(memory.usedBytes()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /healthz, 200, ok",
        "POST, /healthz, 200, ok",
        "PUT, /healthz?x=/coprocessor, 200, ok",
        "GET, http://host:1/healthz, 200, ok",
        "GET, /, 404, Not Found",
        "GET, /healthz/, 404, Not Found",
        "GET, /HEALTHZ, 404, Not Found",
        "POST, /coprocessor/, 404, Not Found",
        "POST, /compact, 404, Not Found",
        "OPTIONS, *, 404, Not Found",
        "GET, /coplane, 404, Not Found",
        "GET, http://host, 404, Not Found"
    })
    void pathsAreExactAndMethodsFree(String method, String target, int status, String text) throws IOException {
        try (RawClient client = start()) {
            Response answer = client.send(method + " " + target + " HTTP/1.1\r\nHost: x\r\n\r\n")
                    .read();

            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.text()).isEqualTo(text);
            assertThat(answer.headers()).containsOnlyKeys("content-length");
        }
    }

    @Test
    void headHasNoBody() throws IOException {
        try (RawClient client = start()) {
            Response answer =
                    client.send("HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n").read(false);
            assertThat(answer.headers()).containsEntry("content-length", "2");

            assertThat(client.send("GET /healthz HTTP/1.1\r\n\r\n").read().text())
                    .isEqualTo("ok");
        }
    }

    @Test
    void aBodyNobodyWantsIsSkipped() throws IOException {
        try (RawClient client = start()) {
            assertThat(client.post("/healthz", new byte[60_000]).read().text()).isEqualTo("ok");
            assertThat(client.post("/none", new byte[60_000]).read().status()).isEqualTo(404);
            Response last = client.post("/healthz", new byte[100_000]).read();

            assertThat(last.text()).isEqualTo("ok");
            assertThat(last.headers()).containsEntry("connection", "close");
            assertThat(client.ends()).isTrue();
        }
    }

    @Test
    void theStatusPageIsHtml() throws IOException {
        try (RawClient client = start()) {
            Response answer = client.send("GET /coplane/ HTTP/1.1\r\n\r\n").read();

            assertThat(answer.text()).isEqualTo("<p>fine</p>");
            assertThat(answer.headers()).containsEntry("content-type", "text/html; charset=utf-8");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 4096, 65_536, 262_143, 262_144, 262_145, 1_048_577, 5_000_000})
    void bodiesArriveAsTheyWereSent(int bytes) throws IOException {
        byte[] body = random(bytes);
        try (RawClient client = start()) {
            Response answer = client.post("/coprocessor", body).read();

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.headers()).containsOnlyKeys("content-length");
            assertThat(answer.body()).isEqualTo(body);
            assertThat(client.post("/coprocessor", body).read().body()).isEqualTo(body);
        }
        Waits.until(() -> memory.usedBytes() == 0);
    }

    @Test
    void chunkedBodiesArriveAsTheyWereSent() throws IOException {
        byte[] body = random(700_000);
        ByteArrayOutputStream chunks = new ByteArrayOutputStream();
        SplittableRandom sizes = new SplittableRandom(5);
        for (int at = 0; at < body.length; ) {
            int size = Math.min(
                    body.length - at, sizes.nextInt(10) == 0 ? sizes.nextInt(100_000) + 1 : sizes.nextInt(20) + 1);
            chunks.writeBytes((Integer.toHexString(size) + "\r\n").getBytes(UTF_8));
            chunks.write(body, at, size);
            chunks.writeBytes("\r\n".getBytes(UTF_8));
            at += size;
        }
        chunks.writeBytes("0\r\n\r\n".getBytes(UTF_8));
        try (RawClient client = start()) {
            client.send("POST /coprocessor HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");

            assertThat(client.send(chunks.toByteArray()).read().body()).isEqualTo(body);
        }
    }

    @Test
    void theMethodOfCoprocessorIsFree() throws IOException {
        try (RawClient client = start()) {
            assertThat(client.send("GET /coprocessor HTTP/1.1\r\n\r\n").read().body())
                    .isEmpty();
            client.send("DELETE /coprocessor?a=b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
            assertThat(client.read().text()).isEqualTo("abc");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "none",
            value = {
                "application/protobuf | 500 | application/protobuf | proto",
                "application/protobuf, text/plain | 500 | none | text",
                "application/protobuf;q=1 | 500 | none | text",
                "Application/Protobuf | 500 | none | text",
                "*/* | 500 | none | text"
            })
    void errorsAreProtobufOnlyForTheExactAccept(String accept, int status, String type, String text)
            throws IOException {
        service = call -> done(new CopAnswer(500, "proto".getBytes(UTF_8), "text", ""));
        try (RawClient client = start()) {
            Response answer = client.post("/coprocessor", new byte[1], "Accept: text/x", "Accept: " + accept)
                    .read();

            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.headers().get("content-type")).isEqualTo(type);
            assertThat(answer.text()).isEqualTo(text);
        }
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {"503, none", "500, none", "403, text/plain"})
    void errorsWithoutResponseAreText(int status, String type) throws IOException {
        service = call -> done(new CopAnswer(status, null, "why", ""));
        try (RawClient client = start()) {
            Response answer = client.post("/coprocessor", new byte[1], "Accept: application/protobuf")
                    .read();

            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.headers().get("content-type")).isEqualTo(type);
            assertThat(answer.text()).isEqualTo("why");
        }
    }

    @Test
    void aServiceThatFailsIsAnswered() throws IOException {
        service = call -> {
            throw new IllegalStateException("broken");
        };
        try (RawClient client = start()) {
            assertThat(client.post("/coprocessor", new byte[1]).read().status()).isEqualTo(500);
            assertThat(client.send("GET /healthz HTTP/1.1\r\n\r\n").read().text())
                    .isEqualTo("ok");
        }
    }

    @Test
    void theRemoteCacheAddressIsHandedOver() throws IOException {
        try (RawClient client = start()) {
            client.post("/coprocessor", new byte[0], "x-dfs-remote-cache-addr: host:20180")
                    .read();
            client.post("/coprocessor", new byte[0], "X-DFS-Remote-Cache-Addr: ")
                    .read();
            client.post("/coprocessor", new byte[0], "x-dfs-remote-cache-addr: h\u00f6st")
                    .read();
            client.post("/coprocessor", new byte[0]).read();
        }

        assertThat(calls)
                .extracting(CopRequest::remoteCacheAddress)
                .containsExactly(Optional.of("host:20180"), Optional.empty(), Optional.empty(), Optional.empty());
    }

    @Test
    void anAnnouncedBodyThatIsTooLongIsRefusedAtOnce() throws IOException {
        try (RawClient client = start()) {
            client.send("POST /coprocessor HTTP/1.1\r\nContent-Length: 16777217\r\n\r\n");
            Response answer = client.read();

            assertThat(answer.status()).isEqualTo(413);
            assertThat(answer.headers()).containsEntry("connection", "close");
            assertThat(client.ends()).isTrue();
        }
    }

    @Test
    void aChunkedBodyThatGetsTooLongIsRefused() throws IOException {
        limits = new HttpLimits(1000, 4096, 100, LONG, LONG, LONG);
        try (RawClient client = start()) {
            client.send("POST /coprocessor HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n");
            client.send(new byte[1000]).send("\r\n1\r\nx\r\n0\r\n\r\n");

            assertThat(client.read().status()).isEqualTo(413);
        }
        assertThat(calls).isEmpty();
    }

    @Test
    void aBodyOverTheMemoryLimitIsRefusedAndTheRestDropped() throws IOException {
        byte[] body = new byte[(int) (9 * MIB)];
        try (RawClient client = start()) {
            Response answer = client.post("/coprocessor", body, "Accept: application/protobuf")
                    .read();

            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.text()).isEqualTo("memory limit exceeded");
            assertThat(answer.headers()).doesNotContainKey("content-type");
            assertThat(client.ends()).isTrue();
        }
        assertThat(memory.usedBytes()).isZero();
        assertThat(calls).isEmpty();
    }

    @Test
    void whatIsAnnouncedIsNotChargedBeforeItComes() throws IOException {
        try (RawClient client = start()) {
            client.send("POST /coprocessor HTTP/1.1\r\nContent-Length: 7000000\r\n\r\n")
                    .send(new byte[1000]);
            Waits.until(() -> memory.usedBytes() > 0);

            assertThat(memory.usedBytes()).isEqualTo(256 << 10);
        }
        Waits.until(() -> memory.usedBytes() == 0);
    }

    @Test
    void aBodyIsChargedWhileTheDataPlaneWorks() throws Exception {
        BlockingQueue<CompletableFuture<CopAnswer>> waiting = slowService();
        try (RawClient client = start()) {
            client.post("/coprocessor", new byte[1000]);
            CompletableFuture<CopAnswer> answer = waiting.take();
            assertThat(memory.usedBytes()).isEqualTo(1000);
            answer.complete(new CopAnswer(200, new byte[] {1}, "", "tag"));

            assertThat(client.read().body()).containsExactly(1);
        }
    }

    @Test
    void aBodyThatWasReadIsFreedWhileTheDataPlaneWorks() throws Exception {
        BlockingQueue<CompletableFuture<CopAnswer>> waiting = slowService();
        try (RawClient client = start()) {
            client.post("/coprocessor", new byte[1000]);
            CompletableFuture<CopAnswer> answer = waiting.take();
            assertThat(memory.usedBytes()).isEqualTo(1000);
            calls.getFirst().bodyRead().run();
            assertThat(memory.usedBytes()).isZero();
            answer.complete(new CopAnswer(200, new byte[] {1}, "", "tag"));

            assertThat(client.read().body()).containsExactly(1);
        }
    }

    @Test
    void bodiesOfManyClientsShareOneCap() throws Exception {
        BlockingQueue<CompletableFuture<CopAnswer>> waiting = slowService();
        try (RawClient first = start();
                RawClient second = new RawClient(server.address())) {
            first.post("/coprocessor", new byte[(int) (5 * MIB)]);
            CompletableFuture<CopAnswer> answer = waiting.take();
            assertThat(memory.usedBytes()).isEqualTo(5 * MIB);

            Response refused =
                    second.post("/coprocessor", new byte[(int) (4 * MIB)]).read();
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.text()).isEqualTo("memory limit exceeded");
            assertThat(memory.usedBytes()).isEqualTo(5 * MIB);

            calls.getFirst().bodyRead().run();
            try (RawClient third = new RawClient(server.address())) {
                third.post("/coprocessor", new byte[(int) (4 * MIB)]);
                CompletableFuture<CopAnswer> taken = waiting.take();
                assertThat(memory.usedBytes()).isEqualTo(4 * MIB);
                taken.complete(new CopAnswer(200, new byte[] {3}, "", "tag"));
                assertThat(third.read().body()).containsExactly(3);
            }
            answer.complete(new CopAnswer(200, new byte[] {1}, "", "tag"));
            assertThat(first.read().body()).containsExactly(1);
        }
    }

    @Test
    void pipelinedBodiesAreChargedOneByOne() throws Exception {
        BlockingQueue<CompletableFuture<CopAnswer>> waiting = slowService();
        try (RawClient client = start()) {
            for (int i = 0; i < 20; i++) {
                client.post("/coprocessor", new byte[1000 + i]);
            }
            for (int i = 0; i < 20; i++) {
                CompletableFuture<CopAnswer> answer = waiting.take();
                assertThat(memory.usedBytes()).isEqualTo(1000 + i);
                answer.complete(new CopAnswer(200, new byte[0], "", ""));
                assertThat(client.read().status()).isEqualTo(200);
            }
        }
    }

    @Test
    void halfABodyIsForgotten() throws IOException {
        try (RawClient client = start()) {
            client.send("POST /coprocessor HTTP/1.1\r\nContent-Length: 100\r\n\r\n")
                    .send(new byte[99]);
            Waits.until(() -> memory.usedBytes() == 100);
        }
        Waits.until(() -> memory.usedBytes() == 0 && server.connectionCount() == 0);

        assertThat(calls).isEmpty();
    }

    @Test
    void aBodyThatStandsStillIsGivenUp() throws IOException {
        limits = new HttpLimits(MIB, 4096, 100, LONG, Duration.ofMillis(100), LONG);
        try (RawClient client = start()) {
            client.send("POST /coprocessor HTTP/1.1\r\nContent-Length: 100\r\n\r\n")
                    .send(new byte[99]);

            assertThat(client.read().status()).isEqualTo(408);
            assertThat(client.ends()).isTrue();
        }
        assertThat(memory.usedBytes()).isZero();
    }

    @Test
    void aBodyThatDripsIsGivenUp() throws Exception {
        limits = new HttpLimits(MIB, 4096, 100, LONG, Duration.ofMillis(100), LONG);
        try (RawClient client = start()) {
            client.send("POST /coprocessor HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
            AtomicBoolean answered = new AtomicBoolean();
            Thread drip = Thread.ofVirtual().start(() -> {
                try {
                    while (!answered.get()) {
                        client.send(new byte[1]);
                        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
                    }
                } catch (IOException e) {
                    answered.set(true); // the connection is over
                }
            });

            assertThat(client.read().status()).isEqualTo(408);
            answered.set(true);
            drip.join();
        }
        assertThat(memory.usedBytes()).isZero();
    }

    @Test
    void aHeadThatStandsStillEndsTheConnection() throws IOException {
        limits = new HttpLimits(MIB, 4096, 100, Duration.ofMillis(100), LONG, LONG);
        try (RawClient client = start()) {
            assertThat(client.send("POST /coprocessor HTTP/1.1\r\nContent-").ends())
                    .isTrue();
        } catch (SocketException e) {
            // reset: the end came before what was sent
        }
        try (RawClient client = new RawClient(server.address())) {
            assertThat(client.ends()).isTrue();
        }
    }

    @Test
    void theHeadTimeoutStartsAnewAfterAnAnswer() throws Exception {
        Duration idle = Duration.ofMillis(100);
        limits = new HttpLimits(MIB, 4096, 100, idle, idle, Duration.ofHours(1));
        BlockingQueue<CompletableFuture<CopAnswer>> waiting = slowService();
        ManualClock clock = ManualClock.recorded();
        server = builder().clock(clock).start(loopback());
        try (RawClient client = new RawClient(server.address())) {
            client.post("/coprocessor", new byte[1]);
            CompletableFuture<CopAnswer> answer = waiting.take();
            clock.advance(Duration.ofMillis(600)); // work longer than the timeout
            assertThatThrownBy(() -> answer.get(300, TimeUnit.MILLISECONDS))
                    .isInstanceOf(TimeoutException.class); // the timer rings meanwhile, and looks at the clock
            answer.complete(new CopAnswer(200, new byte[0], "", ""));

            assertThat(client.read().status()).isEqualTo(200);
            assertThat(client.send("GET /healthz HTTP/1.1\r\n\r\n").read().text())
                    .isEqualTo("ok");
            Waits.until(() -> {
                clock.advance(
                        Duration.ofMillis(1)); // bit by bit: the timeout may begin after the client has its answer
                return server.connectionCount() == 0;
            });
            assertThat(client.ends()).isTrue();
        }
    }

    @Test
    void slowBodiesArrive() throws IOException {
        byte[] body = random(300);
        try (RawClient client = start()) {
            client.send("POST /coprocessor HTTP/1.1\r\nContent-Length: 300\r\n\r\n");
            for (byte b : body) {
                client.send(new byte[] {b});
            }

            assertThat(client.read().body()).isEqualTo(body);
        }
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrder() throws Exception {
        BlockingQueue<CompletableFuture<CopAnswer>> waiting = slowService();
        try (RawClient client = start()) {
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < 50; i++) {
                all.append("POST /coprocessor HTTP/1.1\r\nContent-Length: 1\r\n\r\nx");
                all.append("GET /none HTTP/1.1\r\n\r\n");
            }
            client.send(all.toString());
            for (int i = 0; i < 50; i++) {
                CompletableFuture<CopAnswer> answer = waiting.take();
                assertThat(waiting).isEmpty(); // one in work at a time
                answer.complete(new CopAnswer(200, new byte[] {(byte) i}, "", ""));
            }

            for (int i = 0; i < 50; i++) {
                assertThat(client.read().body()).containsExactly(i);
                assertThat(client.read().status()).isEqualTo(404);
            }
        }
    }

    @Test
    void thousandsOfPipelinedRequestsAreNoDeepStack() throws Exception {
        String requests = "GET /healthz HTTP/1.1\r\n\r\n".repeat(20_000);
        try (RawClient client = start()) {
            Thread sender = Thread.ofPlatform().name("sender").start(() -> {
                try {
                    client.send(requests);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            for (int i = 0; i < 20_000; i++) {
                assertThat(client.read().status()).isEqualTo(200);
            }
            sender.join();
        }
    }

    @Test
    void aClientThatAsksFirstIsToldToContinue() throws IOException {
        try (RawClient client = start()) {
            client.send("POST /coprocessor HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
            assertThat(client.read().status()).isEqualTo(100);
            assertThat(client.send("abc").read().text()).isEqualTo("abc");

            client.send("POST /coprocessor HTTP/1.1\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n");
            assertThat(client.read().status()).isEqualTo(413);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "garbage | 400",
                "GET / HTTP/1.1~Content-Length: x~ | 400",
                "GET / HTTP/1.1~bad header~ | 400",
                "POST / HTTP/1.1~Transfer-Encoding: chunked~~zz~ | 400"
            })
    void whatIsNoHttpIsABadRequest(String text, int status) throws IOException {
        try (RawClient client = start()) {
            client.send(text.replace("~", "\r\n") + "\r\n\r\n");

            assertThat(client.read().status()).isEqualTo(status);
            assertThat(client.ends()).isTrue();
        }
    }

    @Test
    void headsThatAreTooLongAreRefused() throws IOException {
        try (RawClient client = start()) {
            client.send("GET /" + "a".repeat(20_000) + " HTTP/1.1\r\n\r\n");
            assertThat(client.read().status()).isEqualTo(414);
        }
        try (RawClient client = new RawClient(server.address())) {
            client.send("GET / HTTP/1.1\r\nX: " + "a".repeat(5_000) + "\r\n\r\n");
            assertThat(client.read().status()).isEqualTo(431);
        }
    }

    @Test
    void oldClientsKeepTheConnectionOnlyIfTheySay() throws IOException {
        try (RawClient client = start()) {
            Response kept = client.send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                    .read();
            assertThat(kept.headers()).containsEntry("connection", "keep-alive");

            Response last = client.send("GET /healthz HTTP/1.0\r\n\r\n").read();
            assertThat(last.headers()).containsEntry("connection", "close");
            assertThat(client.ends()).isTrue();
        }
    }

    @Test
    void aClientThatLeavesDoesNotFreeTheBodyUnderTheDataPlane() throws Exception {
        BlockingQueue<CompletableFuture<CopAnswer>> waiting = slowService();
        RawClient client = start();
        client.post("/coprocessor", random(5000));
        CompletableFuture<CopAnswer> answer = waiting.take();

        assertThat(calls.getFirst().isAbandoned().getAsBoolean()).isFalse();
        client.close();
        Waits.until(() -> calls.getFirst().isAbandoned().getAsBoolean());
        assertThat(memory.usedBytes()).isEqualTo(5000);
        assertThat(calls.getFirst().body().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(random(5000));
        answer.complete(new CopAnswer(200, new byte[10], "", ""));

        assertThat(memory.usedBytes()).isZero();
    }

    @Test
    void closingLetsWorkFinish() throws Exception {
        BlockingQueue<CompletableFuture<CopAnswer>> waiting = slowService();
        try (RawClient client = start();
                RawClient idle = new RawClient(server.address())) {
            client.post("/coprocessor", new byte[10]);
            CompletableFuture<CopAnswer> answer = waiting.take();
            Waits.until(() -> server.connectionCount() == 2); // or the idle one would be reset
            InetSocketAddress address = server.address();
            Thread closer = Thread.ofPlatform().name("closer").start(server::close);

            Waits.until(server::isClosing);
            assertThat(idle.ends()).isTrue();
            Waits.until(() -> refuses(address)); // the selector gives the port up a moment later
            answer.complete(new CopAnswer(200, new byte[] {5}, "", ""));
            Response last = client.read();

            assertThat(last.body()).containsExactly(5);
            assertThat(last.headers()).containsEntry("connection", "close");
            closer.join();
        }
    }

    @Test
    void closingGivesUpWorkThatTakesTooLong() throws Exception {
        BlockingQueue<CompletableFuture<CopAnswer>> waiting = slowService();
        server = builder().shutdownTimeout(Duration.ofMillis(100)).start(loopback());
        try (RawClient client = new RawClient(server.address())) {
            client.post("/coprocessor", new byte[10]);
            CompletableFuture<CopAnswer> answer = waiting.take();

            server.close();
            assertThat(client.ends()).isTrue();
            assertThat(memory.usedBytes()).isEqualTo(10);
            answer.complete(new CopAnswer(200, new byte[0], "", ""));
        }
        assertThat(memory.usedBytes()).isZero();
    }

    @Test
    void longAnswersArriveAndAClientThatDoesNotReadIsGivenUp() throws Exception {
        byte[] long5 = random((int) (5 * MIB) + 1);
        service = call -> done(new CopAnswer(200, long5, "", ""));
        try (RawClient client = start()) {
            assertThat(client.post("/coprocessor", new byte[1]).read().body()).isEqualTo(long5);
            assertThat(client.post("/coprocessor", new byte[1]).read().body()).isEqualTo(long5);
        }
        server.close();
        byte[] long60 = new byte[(int) (60 * MIB)];
        service = call -> done(new CopAnswer(200, long60, "", ""));
        limits = new HttpLimits(MIB, 4096, 100, LONG, LONG, Duration.ofMillis(500));
        try (RawClient client = start()) {
            client.post("/coprocessor", new byte[1]);
            Waits.until(() -> server.requestCount() == 1 && server.connectionCount() == 0);
        }
    }

    @Test
    void answersThatNobodyReadsAreLimited() throws Exception {
        byte[] long40 = new byte[(int) (40 * MIB)]; // more than the sockets of a machine buffer
        service = call -> done(new CopAnswer(200, long40, "", ""));
        server = builder().mostAnswerBytes(60 * MIB).start(loopback());
        try (RawClient reader = new RawClient(server.address())) {
            try (RawClient sleeper = new RawClient(server.address())) {
                sleeper.post("/coprocessor", new byte[1]);
                Waits.until(() -> sleeper.isAnswered());
                Response refused = reader.post("/coprocessor", new byte[1]).read();

                assertThat(refused.status()).isEqualTo(503);
                assertThat(refused.text()).isEqualTo("too many answers wait to be read");
                assertThat(sleeper.read().body()).hasSize(long40.length);
            }
            Waits.until(() -> server.connectionCount() == 1);
            assertThat(reader.post("/coprocessor", new byte[1]).read().body()).hasSize(long40.length);
        }
    }

    @Test
    void connectionsBeyondTheMostAreClosed() throws IOException {
        limits = new HttpLimits(MIB, 4096, 1, LONG, LONG, LONG);
        try (RawClient first = start()) {
            assertThat(first.send("GET /healthz HTTP/1.1\r\n\r\n").read().text())
                    .isEqualTo("ok");
            try (RawClient second = new RawClient(server.address())) {
                assertThat(second.ends()).isTrue();
            }
            assertThat(first.send("GET /healthz HTTP/1.1\r\n\r\n").read().text())
                    .isEqualTo("ok");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gzip | true",
                "deflate , gzip;q=0.5 | true",
                "gzipped | false",
                "x-gzip, br | false",
                "identity | false"
            })
    void metricsAreZippedForThoseWhoTakeIt(String encoding, boolean zipped) throws IOException {
        Counter.builder().name("seen_counter").help("Seen.").register(registry).inc();
        try (RawClient client = start()) {
            Response answer = client.send("GET /metrics HTTP/1.1\r\nAccept-Encoding: " + encoding + "\r\n\r\n")
                    .read();

            assertThat(answer.headers()).containsEntry("content-type", "text/plain; version=0.0.4");
            assertThat(answer.headers().get("content-encoding")).isEqualTo(zipped ? "gzip" : null);
            byte[] text = zipped
                    ? new GZIPInputStream(new ByteArrayInputStream(answer.body())).readAllBytes()
                    : answer.body();
            assertThat(new String(text, UTF_8))
                    .isEqualTo("# HELP seen_counter Seen.\n# TYPE seen_counter counter\nseen_counter 1\n");
        }
    }

    @Test
    void anAddressInUseIsNamed() throws IOException {
        try (RawClient client = start()) {
            InetSocketAddress address = server.address();

            assertThatThrownBy(() -> builder().start(address)).hasMessageContaining("can't listen");
            assertThat(client.send("GET /healthz HTTP/1.1\r\n\r\n").read().text())
                    .isEqualTo("ok");
        }
    }

    private RawClient start() throws IOException {
        server = builder().start(loopback());
        return new RawClient(server.address());
    }

    private HttpServer.Builder builder() {
        return HttpServer.builder(call -> service.coprocessor(call), memory, limits)
                .metrics(registry)
                .statusPage(() -> "<p>fine</p>");
    }

    private static InetSocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private CompletableFuture<CopAnswer> echo(CopRequest call) {
        calls.add(call);
        return done(new CopAnswer(200, call.body().toArray(ValueLayout.JAVA_BYTE), "", "tag"));
    }

    /** A service whose answers the test completes. */
    private BlockingQueue<CompletableFuture<CopAnswer>> slowService() {
        BlockingQueue<CompletableFuture<CopAnswer>> waiting = new LinkedBlockingQueue<>();
        service = call -> {
            calls.add(call);
            CompletableFuture<CopAnswer> answer = new CompletableFuture<>();
            waiting.add(answer);
            return answer;
        };
        return waiting;
    }

    private static CompletableFuture<CopAnswer> done(CopAnswer answer) {
        return CompletableFuture.completedFuture(answer);
    }

    private static byte[] random(int bytes) {
        byte[] body = new byte[bytes];
        new SplittableRandom(bytes).nextBytes(body);
        return body;
    }

    private static boolean refuses(InetSocketAddress address) {
        try {
            new RawClient(address).close();
            return false;
        } catch (IOException e) {
            return true;
        }
    }
}
