package io.coplane.worker.replay;

import io.coplane.bench.LaunchedWorker;
import io.coplane.engine.DataPlane;
import io.coplane.engine.DataPlaneConfig;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.proto.coprocessor.Response;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.Corpus.Recorded;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Small recorded requests through a whole worker over loopback: as many clients as connections, each sends its next request when it has its answer. Prints requests a
 * second, the median and 99th percentile of what a client waits, and which part of that wait lies outside of the engine (sockets, HTTP or gRPC, clients).
 *
 * <p>Over HTTP the worker is a process of its own, started by {@code bin/coplane}; clients and worker share the machine. With {@code --grpc} client, server and storage
 * node are in this process, and each request costs a second call, to the node.
 */
public final class ServeSpeed {
    private static final String DATA_SET = "smoke";
    private static final String REQUEST_SECONDS = "tikv_worker_remote_cop_request_duration_seconds";
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int WARM_UP_PART = 2;

    /** One connection. */
    private interface Client extends AutoCloseable {
        byte[] ask(byte[] body) throws IOException, InterruptedException;

        @Override
        void close() throws IOException;
    }

    private interface Clients {
        Client open() throws IOException;
    }

    private interface EngineSeconds {
        double now() throws IOException;
    }

    private final int connections;
    private final long seconds;

    private ServeSpeed(int connections, long seconds) {
        this.connections = connections;
        this.seconds = seconds;
    }

    /** Arguments: {@code --grpc}, {@code --connections N} (8), {@code --seconds N} (20). */
    public static void main(String[] args) throws Exception {
        List<String> words = List.of(args);
        ServeSpeed speed = new ServeSpeed(number(words, "--connections", 8), number(words, "--seconds", 20));
        Path folder = Files.createTempDirectory("coplane-serve");
        try (DirectoryStore store = new DirectoryStore(folder, "", 2)) {
            DataSet dataSet =
                    Corpus.open(Path.of(System.getProperty("coplane.testdata"))).load(DATA_SET);
            CorpusLayout layout =
                    CorpusLayout.build(dataSet.versions(), Shape.MIXED, store, 1_000, OptionalInt.empty(), 1);
            if (words.contains("--grpc")) {
                speed.overGrpc(store, dataSet, layout);
            } else {
                speed.overHttp(folder, dataSet, layout);
            }
        } finally {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private static int number(List<String> words, String option, int fallback) {
        int at = words.indexOf(option);
        return at < 0 ? fallback : Integer.parseInt(words.get(at + 1));
    }

    private void overHttp(Path folder, DataSet dataSet, CorpusLayout layout) throws Exception {
        try (LaunchedWorker worker = LaunchedWorker.start(folder)) {
            Clients clients = () -> {
                Socket socket = worker.connect();
                return new Client() {
                    @Override
                    public byte[] ask(byte[] body) throws IOException {
                        return LaunchedWorker.exchange(socket, "/coprocessor", body);
                    }

                    @Override
                    public void close() throws IOException {
                        socket.close();
                    }
                };
            };
            EngineSeconds engine = () -> {
                try (Socket socket = worker.connect()) {
                    String metrics = new String(
                            LaunchedWorker.exchange(socket, "/metrics", new byte[0]), StandardCharsets.UTF_8);
                    return metrics.lines()
                            .filter(line -> line.startsWith(REQUEST_SECONDS + "_sum "))
                            .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(' ') + 1)))
                            .sum();
                }
            };
            run("HTTP", clients, engine, sound(clients, dataSet, layout));
        }
    }

    private void overGrpc(DirectoryStore store, DataSet dataSet, CorpusLayout layout) throws Exception {
        PrometheusRegistry registry = new PrometheusRegistry();
        DataPlaneConfig config = DataPlaneConfig.defaults(2, 4L << 30).withMasterKey(CorpusLayout.MASTER_KEY);
        try (DataPlane plane = DataPlane.open(config, store, ReplayCommand.recordedClock(), registry);
                GrpcTarget target = new GrpcTarget(plane, store)) {
            Clients clients = () -> new Client() {
                @Override
                public byte[] ask(byte[] body) throws IOException {
                    Response answer = target.send(body);
                    if (!answer.getOtherError().isEmpty()) {
                        throw new IOException(answer.getOtherError());
                    }
                    return answer.toByteArray();
                }

                @Override
                public void close() {
                    // all share a channel
                }
            };
            EngineSeconds engine = () -> registry.scrape().stream()
                    .filter(family -> family.getMetadata().getName().equals(REQUEST_SECONDS))
                    .flatMap(family -> ((HistogramSnapshot) family).getDataPoints().stream())
                    .mapToDouble(HistogramSnapshot.HistogramDataPointSnapshot::getSum)
                    .sum();
            run("gRPC", clients, engine, sound(clients, dataSet, layout));
        }
    }

    /** Bodies of the requests whose answers are right without another question. */
    private static List<byte[]> sound(Clients clients, DataSet dataSet, CorpusLayout layout) throws Exception {
        List<byte[]> bodies = new ArrayList<>();
        AnswerComparer comparer = new AnswerComparer();
        try (Client client = clients.open()) {
            for (Recorded recorded : dataSet.requests()) {
                if (recorded.otherError().isPresent()) {
                    continue;
                }
                byte[] body = layout.body(recorded.request());
                Response answer = Response.parseFrom(Corpus.input(client.ask(body)));
                if (comparer.compare(recorded, answer).isEmpty()) {
                    bodies.add(body);
                }
            }
        }
        int sent = dataSet.requests().size();
        if (bodies.size() < sent / 2) {
            throw new IllegalStateException("only " + bodies.size() + " answers of " + sent + " are right");
        }
        return bodies;
    }

    private void run(String protocol, Clients clients, EngineSeconds engine, List<byte[]> bodies) throws Exception {
        load(clients, bodies, seconds / WARM_UP_PART);
        double engineBefore = engine.now();
        long start = System.nanoTime();
        long[] waits = load(clients, bodies, seconds);
        double elapsed = (System.nanoTime() - start) / NANOS_PER_SECOND;
        double inEngine = engine.now() - engineBefore;
        double waited = Arrays.stream(waits).sum() / NANOS_PER_SECOND;
        System.out.printf(
                Locale.ROOT,
                "%s, %d connections, %d requests of data set %s, bodies of %d bytes on average:%n"
                        + "%.0f requests/s, median %.0f us, 99th percentile %.0f us, outside of the engine %.0f %%%n",
                protocol,
                connections,
                waits.length,
                DATA_SET,
                bodies.stream().mapToInt(body -> body.length).sum() / bodies.size(),
                waits.length / elapsed,
                waits[waits.length / 2] / NANOS_PER_MICRO,
                waits[(int) (waits.length * 0.99)] / NANOS_PER_MICRO,
                100 * (1 - inEngine / waited));
    }

    /** Returns what each request took, ascending. */
    private long[] load(Clients clients, List<byte[]> bodies, long forSeconds) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(forSeconds);
        List<List<Long>> waits = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            List<Long> own = new ArrayList<>();
            int first = i * bodies.size() / connections;
            waits.add(own);
            threads.add(Thread.ofPlatform().name("client-" + i).start(() -> {
                try (Client client = clients.open()) {
                    for (int next = first; System.nanoTime() < end; next++) {
                        long start = System.nanoTime();
                        client.ask(bodies.get(next % bodies.size()));
                        own.add(System.nanoTime() - start);
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return waits.stream()
                .flatMap(List::stream)
                .mapToLong(Long::longValue)
                .sorted()
                .toArray();
    }
}
