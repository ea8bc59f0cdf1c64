package io.coplane.worker;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.Clock;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.Seeds;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.coplane.worker.config.WorkerConfig;
import io.coplane.worker.http.LeakWatch;
import io.coplane.worker.http.Mutations;
import io.coplane.worker.tls.TestAuthority;
import io.coplane.worker.tls.Tls;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.math.BigInteger;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** TLS in bad company: certificates that change under load, and frames of HTTP/2 that no client of good faith would send. */
@ExtendWith(NoLeaks.class)
@Timeout(value = 1, unit = TimeUnit.HOURS)
final class SecureChaosTest {
    private static final long SECONDS = Boolean.getBoolean("coplane.long") ? 300 : 4;

    private static final String ANSWER = "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 37\r\n\r\n"
            + "Other(\"failed to decode cop request\")";

    private static final int FRAMES = Boolean.getBoolean("coplane.long") ? 4_000 : 40;
    private static final int CLIENTS = 8;
    private static final int PATIENCE_MILLIS = 120_000;

    @TempDir
    private static Path folder;

    private static TestAuthority authority;

    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final Set<BigInteger> served = ConcurrentHashMap.newKeySet();
    private final List<Thread> threads = new ArrayList<>();
    private long changes; // of the thread that changes files, and before it
    private volatile boolean stopped;
    private Worker worker;

    private interface Task {
        void run(SplittableRandom random) throws Exception;
    }

    @BeforeAll
    static void issue() throws Exception {
        authority = new TestAuthority(folder);
        authority.issue("a", "one", "EC");
        authority.issue("b", "two", "EC");
    }

    /**
     * The certificate changes again and again while clients connect, ask and go: key and certificate one after the other, now and then a broken file. Every
     * handshake succeeds with one of the identities, every request is answered.
     */
    @Test
    void everyHandshakeSucceedsWhileTheCertificateChanges() throws Exception {
        copy("a", ".key");
        copy("a", ".crt");
        SplittableRandom random = new SplittableRandom(Seeds.fresh());
        WorkerConfig config = config(authority.toml("changing"));
        SSLContext client =
                new Tls(config(authority.toml("a")).security(), Clock.system(), new PrometheusRegistry()).httpClient();
        LeakWatch leaks = new LeakWatch();

        worker = Worker.start(config, new Machine(64L << 30, 2));
        try {
            run(own -> askOverHttp1(client, own), random);
            run(own -> askOverHttp1(client, own), random);
            run(own -> askOverHttp2(client), random);
            run(this::change, random);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (wrong.isEmpty() && (System.nanoTime() < end || served.size() < 2)) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            }
        } finally {
            stopped = true;
            for (Thread thread : threads) {
                thread.join();
            }
            worker.close();
        }

        assertThat(List.copyOf(wrong)).as("seed %d", Seeds.fresh()).isEmpty();
        assertThat(worker.memory().usedBytes()).isZero();
        leaks.close();
    }

    @Test
    void garbageOfHttp2EndsItsConnectionOnly() throws Exception {
        SSLContext client =
                new Tls(config(authority.toml("a")).security(), Clock.system(), new PrometheusRegistry()).httpClient();
        byte[] good = HexFormat.of()
                .parseHex(HexFormat.of().formatHex("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII))
                        + "000000040000000000" // SETTINGS
                        + "00000c010500000001" + "8287" + "0408" + "2f6865616c74687a" // HEADERS: GET https /healthz
                        + "000000000100000001" // DATA, a second end of the stream
                        + "00000408000000000000000400"); // WINDOW_UPDATE
        SplittableRandom random = new SplittableRandom(Seeds.fresh());
        AtomicInteger left = new AtomicInteger(FRAMES);

        LeakWatch leaks = new LeakWatch();
        worker = Worker.start(
                config("[coplane]\nhead-timeout = \"200ms\"\n" + authority.toml("a")), new Machine(64L << 30, 2));
        try {
            for (int i = 0; i < CLIENTS; i++) {
                SplittableRandom own = random.split();
                threads.add(Thread.ofPlatform().name("frames").start(() -> {
                    while (left.getAndDecrement() > 0) {
                        sendFrames(client, Mutations.protobuf(good, own));
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            worker.close();
            worker = Worker.start(config(authority.toml("a")), new Machine(64L << 30, 2)); // the same process goes on
            askOverHttp2(client);
        } finally {
            worker.close();
        }

        assertThat(List.copyOf(wrong)).as("seed %d", Seeds.fresh()).isEmpty();
        leaks.close();
    }

    /** Sends frames and reads to the end, which must come. */
    private void sendFrames(SSLContext client, byte[] frames) {
        try (SSLSocket socket = (SSLSocket) client.getSocketFactory()
                .createSocket(worker.address().getAddress(), worker.address().getPort())) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2"});
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            socket.getOutputStream().write(frames);
            socket.getOutputStream().flush();
            socket.getInputStream().readAllBytes();
        } catch (SocketTimeoutException e) {
            wrong.add("hangs: " + HexFormat.of().formatHex(frames));
        } catch (IOException e) {
            // a reset is an end, too
        }
    }

    private void run(Task task, SplittableRandom seeds) {
        SplittableRandom random = seeds.split();
        threads.add(Thread.ofPlatform().name("tls-chaos").start(() -> {
            while (!stopped && wrong.isEmpty()) {
                try {
                    task.run(random);
                } catch (Exception e) {
                    wrong.add(e.toString());
                }
            }
        }));
    }

    /** A request or several over one connection; sometimes gone after the handshake, or in the middle of a request. */
    private void askOverHttp1(SSLContext client, SplittableRandom random) throws IOException {
        try (SSLSocket socket = (SSLSocket) client.getSocketFactory()
                .createSocket(worker.address().getAddress(), worker.address().getPort())) {
            socket.startHandshake();
            X509Certificate certificate = (X509Certificate) socket.getSession().getPeerCertificates()[0];
            served.add(certificate.getSerialNumber());
            for (int i = random.nextInt(4); i > 0; i--) {
                byte[] request = "POST /coprocessor HTTP/1.1\r\nContent-Length: 4\r\n\r\n\2\0\0\0".getBytes(US_ASCII);
                if (random.nextInt(4) == 0) {
                    socket.getOutputStream().write(request, 0, random.nextInt(request.length));
                    return;
                }
                socket.getOutputStream().write(request);
                String answer = new String(socket.getInputStream().readNBytes(ANSWER.length()), US_ASCII);
                if (!answer.equals(ANSWER)) {
                    wrong.add(answer);
                }
            }
        }
    }

    private void askOverHttp2(SSLContext context) throws Exception {
        URI uri = URI.create("https://127.0.0.1:" + worker.address().getPort() + "/healthz");
        try (HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_2)
                .sslContext(context)
                .build()) {
            HttpResponse<String> answer =
                    client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
            if (!answer.body().equals("ok") || answer.version() != HttpClient.Version.HTTP_2) {
                wrong.add(answer.version() + " " + answer.body());
            }
        }
    }

    /** Another identity, its two files in either order; or a file that is none for a while. */
    private void change(SplittableRandom random) throws IOException {
        String next = random.nextBoolean() ? "a" : "b";
        String first = random.nextBoolean() ? ".key" : ".crt";
        if (random.nextInt(5) == 0) {
            Files.writeString(folder.resolve("changing.crt"), "-----BEGIN CERTIFICATE-----\nbroken");
            pause(random);
        }
        copy(next, first);
        pause(random);
        copy(next, first.equals(".key") ? ".crt" : ".key");
        pause(random);
    }

    private static void pause(SplittableRandom random) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(60)));
    }

    private void copy(String from, String kind) throws IOException {
        Path next = Files.copy(
                folder.resolve(from + kind), folder.resolve("next" + kind), StandardCopyOption.REPLACE_EXISTING);
        Files.setLastModifiedTime(
                next,
                FileTime.fromMillis(
                        Clock.system().wallMillis() + changes++ * 1000L)); // a file system may count in seconds
        Files.move(next, folder.resolve("changing" + kind), StandardCopyOption.ATOMIC_MOVE);
    }

    private WorkerConfig config(String security) throws IOException {
        Path file = Files.writeString(
                folder.resolve("worker.toml"),
                "addr = \"127.0.0.1:0\"\ncop-addr = \"\"\ndfs.backend = \"local\"\ndfs.local-dir = \"" + folder + "\"\n"
                        + security + "cert-reload-interval = \"0s\"\n");
        return ConfigLoader.load(Optional.of(file), Map.of(), Map.of());
    }
}
