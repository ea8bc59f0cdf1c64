package io.coplane.worker.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.engine.DataPlane;
import io.coplane.engine.DataPlaneConfig;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.proto.coprocessor.Response;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.Seeds;
import io.coplane.testing.TestData;
import io.coplane.worker.WorkerProcess;
import io.coplane.worker.grpc.GrpcChannels;
import io.coplane.worker.http.RawClient;
import io.coplane.worker.replay.Corpus.Recorded;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The corpus through HTTP and gRPC, 64 connections at one time, against a worker process that has a quarter of the memory they ask for together: right answers
 * or busy ones, nothing lost, nothing held afterwards, resident memory within the cap and 256 MiB for the JVM. Then a signal while they go on.
 *
 * <p>{@code -Plong} goes on for half an hour, with other data sets each minute.
 */
@ExtendWith(NoLeaks.class)
@Timeout(value = 2, unit = TimeUnit.HOURS)
final class SoakTest {
    private static final boolean LONG = Boolean.getBoolean("coplane.long");
    private static final long SECONDS = Long.getLong("coplane.soakSeconds", LONG ? 1800 : 60);
    private static final long ROUND_SECONDS = 60;
    private static final int CONNECTIONS = 64;
    private static final int OVER_GRPC = 24;
    private static final int PART = 4;
    private static final int BODY_PART = 3;
    private static final long MIB = 1 << 20;
    private static final int HTTP_BUSY = 503;
    private static final long BESIDE_CAP_BYTES = 256 * MIB;
    private static final int OTHERS = 6;
    private static final long IDS_EACH = 10_000;
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** Without an accessor to other regions their answers are others (docs/status.md); {@code nondet} can't be compared in full. */
    private static final Set<String> LEFT_OUT = Set.of("lookup_push", "lookup_merge", "paging", "nondet", "analytic");

    /**
     * The JVM of a process whose memory is nearly all native. What executors may hold on the heap is a quarter of it; the optimising compiler's own memory, tens of
     * megabytes that come and go, is no part of what is measured.
     */
    private static final String[] FLAGS = {
        "-Xmx96m",
        "-Xss512k",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:ReservedCodeCacheSize=48m",
        "-XX:MaxMetaspaceSize=96m"
    };

    private static final DataPlaneConfig UNLIMITED =
            DataPlaneConfig.defaults(2, 8L << 30).withMasterKey(CorpusLayout.MASTER_KEY);

    @TempDir
    private Path folder;

    private final SplittableRandom random = new SplittableRandom(Seeds.fresh());
    private long nextFileId = 1_000;

    @Test
    void onlyRightAnswersOrBusyWithAQuarterOfTheMemoryAskedFor() throws Exception {
        Path files = Files.createDirectory(folder.resolve("files"));
        try (DirectoryStore store = new DirectoryStore(files, "", 2);
                DataPlane plane =
                        DataPlane.open(UNLIMITED, store, ReplayCommand.recordedClock(), new PrometheusRegistry());
                SoakNode node = new SoakNode()) {
            List<SoakLoad> loads = loads(store, plane, node);
            long capBytes = capBytes(loads, store);
            String toml = toml(files, capBytes, node.pd().url());
            try (WorkerProcess worker = WorkerProcess.start(folder, toml, flags(capBytes))) {
                soak(worker, loads, store, plane, node);
                checkIdle(worker);
                long residentBytes = worker.statusBytes("VmHWM");
                print("capMib=%d peakResidentMib=%d", capBytes / MIB, residentBytes / MIB);
                assertThat(residentBytes).as("resident memory").isLessThanOrEqualTo(capBytes + BESIDE_CAP_BYTES);
                endUnderLoad(worker, loads, node);
            }
        }
    }

    private void soak(WorkerProcess worker, List<SoakLoad> first, DirectoryStore store, DataPlane plane, SoakNode node)
            throws IOException, InterruptedException {
        List<SoakLoad> loads = first;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (true) {
            SoakClients clients = new SoakClients(worker.http(), worker.grpc(), loads)
                    .start(CONNECTIONS - OVER_GRPC, OVER_GRPC, random.nextLong());
            long roundEnd = Math.min(end, System.nanoTime() + TimeUnit.SECONDS.toNanos(ROUND_SECONDS));
            double mostCharged = 0;
            double mostBuffers = 0;
            while (System.nanoTime() < roundEnd && clients.wrong().isEmpty()) {
                Map<String, Double> metrics = worker.metrics();
                double charged =
                        metrics.get("tikv_worker_memory_limiter_current_used") + metrics.get("coplane_http_body_bytes");
                mostCharged = Math.max(mostCharged, charged);
                mostBuffers = Math.max(mostBuffers, metrics.get("coplane_network_buffer_bytes"));
                LockSupport.parkNanos(POLL_NANOS);
            }
            clients.stop();
            print(
                    "%s: right=%d busy=%d mostChargedMib=%.0f mostBuffersMib=%.0f",
                    loads, clients.right(), clients.busy(), mostCharged / MIB, mostBuffers / MIB);
            assertThat(clients.wrong()).isEmpty();
            assertThat(clients.right()).as("right answers").isPositive();
            assertThat(clients.busy()).as("answers that the limit was reached").isPositive();
            if (System.nanoTime() >= end) {
                return;
            }
            loads = loads(store, plane, node);
        }
    }

    /** The account, as soon as the last answer is written: only the cache holds memory. */
    private static void checkIdle(WorkerProcess worker) throws IOException {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
        while (true) {
            Map<String, Double> metrics = worker.metrics();
            double used = metrics.get("tikv_worker_memory_limiter_current_used");
            double cached = metrics.get("coplane_block_cache_bytes");
            double working = metrics.get("tikv_worker_remote_cop_processing_requests_counter");
            if (used == cached && working == 0 && metrics.get("coplane_http_body_bytes") == 0) {
                return;
            }
            assertThat(System.nanoTime())
                    .as("held by nobody: used=%s cached=%s working=%s", used, cached, working)
                    .isLessThan(end);
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** SIGTERM: what has begun is answered, nothing new is taken, the process ends by itself and holds nothing. */
    private void endUnderLoad(WorkerProcess worker, List<SoakLoad> loads, SoakNode node) throws Exception {
        SoakLoad load = loads.getLast();
        Recorded recorded = load.draw(random);
        List<byte[]> body = load.body(SoakClients.patient(recorded.request()).build());
        SoakClients clients = new SoakClients(worker.http(), worker.grpc(), loads);
        try (RawClient begun = new RawClient(worker.http());
                GrpcChannels channels = new GrpcChannels(Optional.empty(), 64 << 20)) {
            long bodyBytes = (long) body.getFirst().length + body.getLast().length;
            begun.send("POST /coprocessor HTTP/1.1\r\nAccept: application/protobuf\r\nContent-Length: " + bodyBytes
                            + "\r\n\r\n")
                    .send(body.getFirst());
            while (worker.metrics().get("coplane_http_body_bytes") == 0) { // before others fill the account
                LockSupport.parkNanos(POLL_NANOS);
            }
            clients.start(6, 2, random.nextLong());
            CompletableFuture<Response> call = new CompletableFuture<>();
            Thread caller = Thread.ofPlatform().start(() -> {
                try {
                    Response answer;
                    do { // busy may be said before the node was asked
                        answer = clients.call(channels, recorded.request(), SoakNode.held(load.toString()));
                    } while (isBusy(answer) && !node.heldAsked().isDone());
                    call.complete(answer);
                } catch (RuntimeException e) {
                    call.completeExceptionally(e);
                }
            });
            CompletableFuture.anyOf(node.heldAsked(), call).get(2, TimeUnit.MINUTES);
            clients.workerEnds();

            worker.process().destroy(); // SIGTERM
            worker.awaitLine("stopping: ");
            awaitRefusal(worker.http());
            awaitRefusal(worker.grpc());
            node.release();
            RawClient.Response last = begun.send(body.getLast()).read();

            assertThat(last.headers()).containsEntry("connection", "close");
            if (last.status() == HTTP_BUSY) {
                assertThat(last.text()).doesNotContain("shutting down");
            } else {
                assertThat(load.compare(recorded, Response.parseFrom(Corpus.input(last.body()))))
                        .isEmpty();
            }
            if (!isBusy(call.get())) {
                assertThat(load.compare(recorded, call.get())).isEmpty();
            }
            caller.join();
        }
        clients.stop();
        assertThat(clients.wrong()).isEmpty();
        assertThat(worker.process().waitFor(2, TimeUnit.MINUTES)).isTrue();
        assertThat(worker.process().exitValue()).isZero();
        assertThat(worker.lines("stopped")).isNotEmpty();
        assertThat(worker.lines("ERROR")).isEmpty(); // nor a buffer or a charge that was lost
    }

    private static boolean isBusy(Response answer) {
        return answer.getRegionError().hasServerIsBusy();
    }

    private static void awaitRefusal(InetSocketAddress address) {
        while (true) {
            try {
                new RawClient(address).close();
                LockSupport.parkNanos(POLL_NANOS);
            } catch (IOException e) {
                return;
            }
        }
    }

    /** The large one twice, and others, in layouts that have a bit of everything. */
    private List<SoakLoad> loads(DirectoryStore store, DataPlane plane, SoakNode node) throws IOException {
        List<String> names = new ArrayList<>(Corpus.open(TestData.root()).names("*"));
        names.removeAll(LEFT_OUT);
        List<SoakLoad> loads = new ArrayList<>();
        loads.add(load("analytic", Shape.MEM, store, plane));
        loads.add(load("analytic", Shape.MIXED, store, plane));
        for (int i = 0; i < OTHERS; i++) {
            String name = names.remove(random.nextInt(names.size()));
            loads.add(load(name, Shape.values()[random.nextInt(Shape.values().length)], store, plane));
        }
        loads.forEach(load -> node.put(load.toString(), load.delegated()));
        return loads;
    }

    private SoakLoad load(String name, Shape shape, DirectoryStore store, DataPlane plane) throws IOException {
        nextFileId += IDS_EACH;
        return SoakLoad.build(name, shape, store, nextFileId, random.nextLong(), plane);
    }

    /** A quarter of what the connections ask for together. */
    private static long capBytes(List<SoakLoad> loads, DirectoryStore store) {
        long sum = 0;
        for (SoakLoad load : loads) {
            try (DataPlane fresh =
                    DataPlane.open(UNLIMITED, store, ReplayCommand.recordedClock(), new PrometheusRegistry())) {
                long askBytes = load.askBytes(fresh);
                print("%s asks for %d KiB", load, askBytes >> 10);
                sum += askBytes * (CONNECTIONS / loads.size());
            }
        }
        return sum / PART;
    }

    /** The cap is of both accounts together: bodies, and what becomes of them. */
    private static String toml(Path files, long capBytes, String pdUrl) {
        long bodyBytes = capBytes / BODY_PART;
        return String.format(
                Locale.ROOT,
                """
                addr = "127.0.0.1:0"
                cop-addr = "127.0.0.1:0"
                memory-upper-threshold = %d
                cop-block-cache-size = %d
                pd.endpoints = ["%s"]
                [dfs]
                backend = "local"
                local-dir = "%s"
                [txn-chunk-manager]
                gc-interval = "1s"
                gc-ttl = "1s"
                [coplane]
                max-inflight-body-bytes = %d
                fixed-clock-micros = %d
                """,
                capBytes - bodyBytes,
                capBytes / PART,
                pdUrl,
                files,
                bodyBytes,
                ReplayCommand.RECORDED_WALL_MICROS);
    }

    private static String[] flags(long capBytes) {
        List<String> flags = new ArrayList<>(List.of(FLAGS));
        flags.add("-XX:MaxDirectMemorySize=" + (capBytes + 64 * MIB));
        return flags.toArray(String[]::new);
    }

    private static void print(String format, Object... values) {
        System.out.println("soak: " + String.format(Locale.ROOT, format, values));
    }
}
