package io.coplane.worker.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.DirectoryStore;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.Seeds;
import io.coplane.testing.TestData;
import io.coplane.testing.Waits;
import io.coplane.worker.Worker;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.coplane.worker.config.WorkerConfig;
import io.coplane.worker.replay.AnswerComparer;
import io.coplane.worker.replay.Corpus;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.Corpus.Recorded;
import io.coplane.worker.replay.CorpusLayout;
import io.coplane.worker.replay.Shape;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Requests that no client of good faith would send, over real sockets, to a whole worker: a right status or an ended connection, nothing held, nothing lost. */
@ExtendWith(NoLeaks.class)
@Timeout(1200)
final class HttpFuzzTest {
    private static final int FACTOR = Boolean.getBoolean("coplane.long") ? 100 : 1;
    private static final int HTTP_CASES = 400 * FACTOR;
    private static final int BODY_CASES = 200 * FACTOR;
    private static final int CLIENTS = 48;
    private static final int PATIENCE_MILLIS = 120_000;
    private static final Machine MACHINE = new Machine(64L << 30, 2);
    private static final String GOOD = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

    /** Ends idle connections and bodies that stand still soon, so that every case ends by itself. */
    private static final String IMPATIENT = "[coplane]\nhead-timeout = \"200ms\"\nbody-idle-timeout = \"200ms\"\n";

    /** RFC 9112: sections 2.3, 5.1, 5.2, 6.1, 6.3, 7.1. {@code end}: the connection ends with the answer; {@code go}: it goes on. */
    private static final List<String> HEADS = List.of(
            "POST /coprocessor HTTP/1.1~Content-Length: -1~~ | 400 | end",
            "POST /coprocessor HTTP/1.1~Content-Length: +1~~x | 400 | end",
            "POST /coprocessor HTTP/1.1~Content-Length: 0x1~~x | 400 | end",
            "POST /coprocessor HTTP/1.1~Content-Length: 1~Content-Length: 2~~xx | 400 | end",
            "POST /coprocessor HTTP/1.1~Content-Length: 1, 2~~xx | 400 | end",
            "POST /coprocessor HTTP/1.1~Content-Length: 99999999999999999999~~xx | 400 | end",
            "POST /coprocessor HTTP/1.1~Content-Length: 4294967300~~xxxx | 413 | end",
            "POST /coprocessor HTTP/1.1~Content-Length: 3~Transfer-Encoding: chunked~~0~~ | 400 | end",
            "POST /coprocessor HTTP/1.1~Transfer-Encoding: gzip~~xx | 400 | end",
            "POST /coprocessor HTTP/1.1~Transfer-Encoding: chunked, gzip~~0~~ | 400 | end",
            "POST /coprocessor HTTP/1.1~Transfer-Encoding: xchunked~~0~~ | 400 | end",
            "POST /coprocessor HTTP/1.1~Transfer-Encoding: chunked~~-1~x~0~~ | 400 | end",
            "POST /coprocessor HTTP/1.1~Transfer-Encoding: chunked~~fffffffffffffffff~x | 400 | end",
            "POST /coprocessor HTTP/1.1~Transfer-Encoding: chunked~~0x1~x~0~~ | 400 | end",
            "POST /coprocessor HTTP/1.1~Transfer-Encoding: chunked~~1~xy~0~~ | 400 | end",
            "POST /coprocessor HTTP/1.1~Content-Length : 1~~x | 400 | end",
            "GET /healthz HTTP/1.1~A: b~ folded~~ | 200 | go",
            "GET /healthz HTTP/1.1~: b~~ | 400 | end",
            "GET /healthz HTTP/2.0~~ | 505 | end",
            "PRI * HTTP/2.0~~SM~~ | 505 | end",
            "GET /healthz HTTP/7.1~~ | 505 | end",
            "GET /healthz HTTP/1.x~~ | 400 | end",
            "GET /healthz~~ | 400 | end",
            "GET  HTTP/1.1~~ | 400 | end",
            "POST /coprocessor HTTP/1.1~Content-Length: 1~Content-Length: 1~~x | 400 | end",
            "POST /coprocessor HTTP/1.1~Transfer-Encoding: Chunked~~1;a=b~x~0~T: u~~ | 500 | go",
            "POST /healthz HTTP/1.1~Content-Length: 3~~abc | 200 | go",
            "GET http://x/healthz?y#z HTTP/1.1~~ | 200 | go",
            "GET /healthz HTTP/1.1~Connection: close~~ | 200 | end");

    private static LeakWatch leaks;

    @TempDir
    private Path folder;

    private Worker worker;

    @BeforeAll
    static void watch() {
        leaks = new LeakWatch();
    }

    @AfterAll
    static void noBufferIsLost() {
        leaks.close();
    }

    @AfterEach
    void nothingIsHeld() {
        Waits.until(() -> worker.memory().usedBytes() == worker.cachedBytes() && worker.requestsInWork() == 0);
        assertThat(worker.heldPermits()).isZero();
        worker.close();
        assertThat(worker.memory().usedBytes() + worker.bodies().usedBytes()).isZero();
    }

    @Test
    void aRequestMayComeInTwoPiecesCutAnywhere() throws IOException {
        start("");
        byte[] plain = GOOD.getBytes(ISO_8859_1);
        byte[] chunked = ("POST /coprocessor HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "4\r\n\1\0\0\0\r\n10\r\n\4\0\0\0\020\147\070\005\0\0\0\0\0\0\0\0\r\n0\r\n\r\n")
                .getBytes(ISO_8859_1);
        try (RawClient client = new RawClient(worker.address())) {
            for (int cut = 1; cut < plain.length; cut++) {
                client.send(Arrays.copyOf(plain, cut)).send(Arrays.copyOfRange(plain, cut, plain.length));
                assertThat(client.read().text()).as("cut at %d", cut).isEqualTo("ok");
            }
            for (int cut = 1; cut < chunked.length; cut++) {
                client.send(Arrays.copyOf(chunked, cut)).send(Arrays.copyOfRange(chunked, cut, chunked.length));
                RawClient.Response answer = client.read();
                assertThat(answer.status()).as("cut at %d", cut).isEqualTo(500);
                assertThat(answer.text()).as("cut at %d", cut).contains("no snapshot in change set");
            }
        }
    }

    @Test
    void whatAHeadSaysIsTakenByTheLetter() throws IOException {
        start("");
        for (String line : HEADS) {
            String[] fields = line.split(" \\| ", -1);
            try (RawClient client = new RawClient(worker.address())) {
                client.send(fields[0].replace("~", "\r\n") + GOOD);

                assertThat(client.read().status()).as(line).isEqualTo(Integer.parseInt(fields[1]));
                if (fields[2].equals("go")) {
                    assertThat(client.read().text()).as(line).isEqualTo("ok");
                } else {
                    assertThat(client.ends()).as(line).isTrue();
                }
            }
        }
    }

    @Test
    void mutatedRequestsGetAWellFormedAnswerOrNone() throws Exception {
        start(IMPATIENT);
        long seed = Seeds.fresh();
        String minimal = "\1\0\0\0\4\0\0\0\020\147\070\005\0\0\0\0\0\0\0\0";
        List<String> good = List.of(
                GOOD,
                "POST /coprocessor HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\nAccept: application/protobuf\r\n\r\n"
                        + minimal,
                "POST /coprocessor HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n" + minimal + "\r\n0\r\n\r\n",
                "POST /compact HTTP/1.1\r\nContent-Length: 22\r\n\r\n{\"compactor-version\":9}",
                "POST /none HTTP/1.1\r\nContent-Length: 2\r\n\r\nab" + GOOD,
                "GET /metrics HTTP/1.0\r\nConnection: keep-alive\r\nAccept-Encoding: gzip\r\n\r\n");

        inParallel(HTTP_CASES, number -> {
            SplittableRandom random = new SplittableRandom(seed + number);
            byte[] bytes = good.get(random.nextInt(good.size())).getBytes(ISO_8859_1);
            int mutations = random.nextInt(1, 4);
            for (int i = 0; i < mutations; i++) {
                bytes = Mutations.http(bytes, random);
            }
            String problem = exchange(worker.address(), bytes, random);
            return problem.isEmpty() ? "" : problem + ": " + HexFormat.of().formatHex(bytes);
        });

        assertStillServes();
    }

    @Test
    void mutatedBodiesOfRecordedRequestsAreAnsweredByTypedErrors() throws Exception {
        start("");
        long seed = Seeds.fresh();
        DataSet dataSet = Corpus.open(TestData.root()).load("smoke");
        CorpusLayout layout;
        try (DirectoryStore store = new DirectoryStore(folder, "", 2)) {
            layout = CorpusLayout.build(dataSet.versions(), Shape.MIXED, store, 1_000, OptionalInt.empty(), seed);
        }
        List<Recorded> exact = dataSet.requests().stream()
                .filter(recorded -> recorded.shape().equals("TableScan,Selection"))
                .toList();
        assertThat(exact).isNotEmpty();

        inParallel(BODY_CASES, number -> {
            SplittableRandom random = new SplittableRandom(seed + number);
            Recorded recorded =
                    dataSet.requests().get(random.nextInt(dataSet.requests().size()));
            Request.Builder bounded = recorded.request().toBuilder();
            bounded.getContextBuilder().setMaxExecutionDurationMs(5_000);
            byte[] body = layout.body(bounded.build());
            int mutations = random.nextInt(1, 6);
            for (int i = 0; i < mutations; i++) {
                body = Mutations.protobuf(body, random);
            }
            try (RawClient client = new RawClient(worker.address())) {
                RawClient.Response answer = client.post("/coprocessor", body, "Accept: application/protobuf")
                        .read();
                if (!List.of(200, 403, 500, 503).contains(answer.status())
                        || answer.text().contains("internal error")) {
                    return "seed " + (seed + number) + ", " + recorded.id() + ": " + answer.status() + " "
                            + answer.text();
                }
                Recorded next = exact.get(random.nextInt(exact.size()));
                RawClient.Response sound;
                long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
                do { // while the worker is busy with what came before it
                    sound = client.post("/coprocessor", layout.body(next.request()))
                            .read();
                } while (sound.status() == 503 && System.nanoTime() - end < 0);
                var differences = new AnswerComparer().compare(next, Response.parseFrom(sound.body()));
                return sound.status() == 200 && differences.isEmpty()
                        ? ""
                        : "the next request: " + sound.status() + " " + differences;
            }
        });
    }

    /** Sends bytes and a good request, and reads to the end; returns what is wrong. */
    private static String exchange(InetSocketAddress address, byte[] bytes, SplittableRandom random) {
        byte[] answer;
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            socket.setTcpNoDelay(true);
            int cut = random.nextInt(bytes.length + 1);
            socket.getOutputStream().write(bytes, 0, cut);
            socket.getOutputStream().write(bytes, cut, bytes.length - cut);
            socket.getOutputStream().write(GOOD.getBytes(ISO_8859_1));
            if (random.nextInt(8) == 0) {
                return ""; // gone without a look at the answer
            }
            answer = socket.getInputStream().readAllBytes();
        } catch (SocketTimeoutException e) {
            return "hangs";
        } catch (IOException e) {
            return ""; // reset: the connection ended with something unread
        }
        return wellFormed(answer);
    }

    /** Checks a stream of answers. */
    private static String wellFormed(byte[] stream) {
        String text = new String(stream, ISO_8859_1);
        int at = 0;
        while (at < text.length()) {
            int end = text.indexOf("\r\n\r\n", at);
            String head = end < 0 ? text.substring(at) : text.substring(at, end);
            if (end < 0 || !head.matches("(?s)HTTP/1\\.1 [1-5]\\d\\d .*")) {
                return "no head: " + head;
            }
            int status = Integer.parseInt(head.substring(9, 12));
            if (!List.of(100, 200, 400, 404, 408, 413, 414, 417, 431, 500, 501, 503, 505)
                    .contains(status)) {
                return "status " + status;
            }
            int length = 0;
            for (String line : head.split("\r\n", -1)) {
                if (line.startsWith("content-length: ")) {
                    length = Integer.parseInt(line.substring(16));
                }
            }
            at = end + 4 + length;
            if (at > text.length()) {
                return "answer ends early: " + head;
            }
            if (status == 500 && text.substring(end + 4, at).contains("internal error")) {
                return text.substring(end + 4, at);
            }
        }
        return "";
    }

    private interface Case {
        /** Returns what is wrong; empty = nothing. */
        String run(int number) throws IOException;
    }

    private static void inParallel(int cases, Case task) throws InterruptedException {
        Queue<String> problems = new ConcurrentLinkedQueue<>();
        AtomicInteger next = new AtomicInteger();
        try (ExecutorService pool = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("fuzz-", 0).factory())) {
            for (int i = 0; i < CLIENTS; i++) {
                pool.execute(() -> {
                    for (int number = next.getAndIncrement(); number < cases; number = next.getAndIncrement()) {
                        try {
                            String problem = task.run(number);
                            if (!problem.isEmpty()) {
                                problems.add("case " + number + ": " + problem);
                            }
                        } catch (IOException | RuntimeException e) {
                            problems.add("case " + number + ": " + e);
                        }
                    }
                });
            }
        }
        assertThat(List.copyOf(problems)).as("seed %d", Seeds.fresh()).isEmpty();
    }

    /** Its head timeout is short, and a machine may be slow: one of many tries. */
    private void assertStillServes() {
        for (int i = 0; ; i++) {
            try (RawClient client = new RawClient(worker.address())) {
                assertThat(client.send(GOOD).read().text()).isEqualTo("ok");
                return;
            } catch (IOException e) {
                assertThat(i).as("tries").isLessThan(100);
            }
        }
    }

    private void start(String toml) throws IOException {
        worker = Worker.start(config(toml), MACHINE);
    }

    private WorkerConfig config(String toml) throws IOException {
        Path file = Files.writeString(
                folder.resolve("worker.toml"),
                "addr = \"127.0.0.1:0\"\ncop-addr = \"\"\nmemory-upper-threshold = \"64MiB\"\n"
                        + "dfs.backend = \"local\"\ndfs.local-dir = \"" + folder + "\"\n"
                        + toml,
                UTF_8);
        return ConfigLoader.load(Optional.of(file), Map.of(), Map.of());
    }
}
