package io.coplane.worker.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.engine.DataPlane;
import io.coplane.engine.DataPlaneConfig;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.store.StoreUrl;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.metapb.Peer;
import io.coplane.proto.tikvpb.TikvGrpc;
import io.coplane.testing.FaultProxy;
import io.coplane.testing.FaultProxy.Fault;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.S3Server;
import io.coplane.testing.Seeds;
import io.coplane.worker.Worker;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.coplane.worker.grpc.GrpcChannels;
import io.coplane.worker.http.LeakWatch;
import io.coplane.worker.http.RawClient;
import io.coplane.worker.replay.Corpus.Recorded;
import io.grpc.StatusRuntimeException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * All that goes wrong at once, on a seed: a bucket that fails, stalls and cuts short, clients that go in the middle of a request, a millisecond of time, a PD whose
 * leader changes, two permits for twelve clients. No answer may be wrong; afterwards nothing is held, and no permit is stuck.
 */
@ExtendWith(NoLeaks.class)
@Timeout(value = 2, unit = TimeUnit.HOURS)
final class ChaosTest {
    private static final long SECONDS = Boolean.getBoolean("coplane.long") ? 600 : 6;
    private static final int ROUNDS = 10;
    private static final Map<String, String> KEYS =
            Map.of("DFS_S3_KEY_ID", S3Server.KEY_ID, "DFS_S3_SECRET_KEY", S3Server.SECRET_KEY);
    private static final int FAULT_PERCENT = 6;
    private static final int HELD_STORES = 300;

    private static LeakWatch leaks;

    @TempDir
    private Path folder;

    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final AtomicLong right = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;
    private volatile boolean ending;
    private Worker worker;
    private List<SoakLoad> loads;

    @BeforeAll
    static void watch() {
        leaks = new LeakWatch();
    }

    @AfterAll
    static void noBufferIsLost() {
        leaks.close();
    }

    private interface Client {
        void ask(SplittableRandom random) throws IOException, InterruptedException;
    }

    @Test
    void noAnswerIsWrongAndNothingIsHeld() throws Exception {
        SplittableRandom random = new SplittableRandom(Seeds.fresh());
        DataPlaneConfig config = DataPlaneConfig.defaults(2, 2L << 30).withMasterKey(CorpusLayout.MASTER_KEY);
        try (S3Server s3 = S3Server.start();
                FaultProxy faults = new FaultProxy(s3.port());
                ObjectStore sound = StoreUrl.parse("s3://" + S3Server.BUCKET + "/chaos?endpoint=" + s3.endpoint())
                        .open(KEYS, 1);
                DataPlane plane =
                        DataPlane.open(config, sound, ReplayCommand.recordedClock(), new PrometheusRegistry());
                SoakNode node = new SoakNode();
                GrpcChannels channels = new GrpcChannels(Optional.empty(), 64 << 20)) {
            loads = loads(sound, plane, node, random);
            worker = Worker.start(
                    ConfigLoader.load(Optional.of(config(faults, node)), Map.of(), Map.of()),
                    new Machine(64L << 30, 2));
            try {
                faults.plan(faults(random.nextLong()));
                for (int i = 0; i < 4; i++) {
                    run("http", this::http, random);
                    run("grpc", own -> grpc(channels, own), random);
                }
                run("vanishing", this::vanish, random);
                run("vanishing", this::vanish, random);
                run("cancelling", own -> cancel(channels, own), random);
                run("pd", own -> changeLeader(node, own), random);
                waitForTime();
                stop();
                faults.plan(request -> Fault.NONE);
                checkIdle();
                goOn();
            } finally {
                worker.close(); // under load
                stop();
            }
            assertThat(worker.memory().usedBytes() + worker.bodies().usedBytes())
                    .isZero();
        }
        System.out.printf(
                Locale.ROOT, "chaos: seed=%d right=%d refused=%d%n", Seeds.fresh(), right.get(), refused.get());
        assertThat(List.copyOf(wrong)).as("seed %d", Seeds.fresh()).isEmpty();
        assertThat(right.get()).isPositive();
        assertThat(refused.get()).isPositive();
    }

    private void run(String name, Client client, SplittableRandom seeds) {
        SplittableRandom random = seeds.split();
        threads.add(Thread.ofPlatform().name("chaos-" + name).start(() -> {
            while (!stopped) {
                try {
                    client.ask(random);
                } catch (IOException | RuntimeException e) {
                    if (!ending) {
                        wrong.add(name + ": " + e);
                        return;
                    }
                } catch (InterruptedException e) {
                    return;
                }
            }
        }));
    }

    private void waitForTime() {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (wrong.isEmpty() && (System.nanoTime() < end || right.get() == 0)) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    /** Nothing in work, no permit taken, no memory but the cache's. */
    private void checkIdle() {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
        while (worker.requestsInWork() > 0
                || worker.heldPermits() > 0
                || worker.memory().usedBytes() != worker.cachedBytes()
                || worker.bodies().usedBytes() != 0) {
            assertThat(System.nanoTime())
                    .as(
                            "held by nobody: requests=%d permits=%d bytes=%d cached=%d seed=%d",
                            worker.requestsInWork(),
                            worker.heldPermits(),
                            worker.memory().usedBytes(),
                            worker.cachedBytes(),
                            Seeds.fresh())
                    .isLessThan(end);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    /** Clients ask again, and are answered; from now on they may find the worker gone. */
    private void goOn() {
        stopped = false;
        ending = true;
        long before = right.get();
        for (int i = 0; i < 4; i++) {
            run("http", this::http, new SplittableRandom(Seeds.fresh() + i));
        }
        while (right.get() < before + ROUNDS && wrong.isEmpty()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    private void stop() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join();
        }
        threads.clear();
    }

    private void http(SplittableRandom random) throws IOException {
        SoakLoad load = loads.get(random.nextInt(loads.size()));
        try (RawClient client = new RawClient(worker.address())) {
            for (int i = random.nextInt(5); i >= 0 && !stopped; i--) {
                Recorded recorded = load.draw(random);
                RawClient.Response answer = client.post(
                                "/coprocessor",
                                load.body(hurried(recorded.request(), random)),
                                "Accept: application/protobuf")
                        .read();
                boolean isMessage = answer.status() == 200
                        || "application/protobuf".equals(answer.headers().get("content-type"));
                judge(
                        load,
                        recorded,
                        isMessage ? Response.parseFrom(Corpus.input(answer.body())) : null,
                        answer.text());
                if (answer.headers().containsKey("connection")) {
                    return;
                }
            }
        }
    }

    private void grpc(GrpcChannels channels, SplittableRandom random) throws IOException {
        SoakLoad load = loads.get(random.nextInt(loads.size()));
        Recorded recorded = load.draw(random);
        try {
            judge(load, recorded, stub(channels).coprocessor(delegated(load, recorded, random)), "");
        } catch (StatusRuntimeException e) {
            judge(load, recorded, null, String.valueOf(e.getStatus().getDescription()));
        }
    }

    private TikvGrpc.TikvBlockingStub stub(GrpcChannels channels) {
        return TikvGrpc.newBlockingStub(
                channels.to("127.0.0.1:" + worker.grpcAddress().getPort()));
    }

    private static Request delegated(SoakLoad load, Recorded recorded, SplittableRandom random) {
        Request.Builder request = hurried(recorded.request(), random).toBuilder();
        request.getContextBuilder()
                .setRequestSource(load.toString())
                .setPeer(Peer.newBuilder().setStoreId(SoakNode.STORE_ID + random.nextInt(HELD_STORES)));
        return request.build();
    }

    /** One of four has a millisecond. */
    private static Request hurried(Request request, SplittableRandom random) {
        if (random.nextInt(4) > 0) {
            return request;
        }
        Request.Builder hurried = request.toBuilder();
        hurried.getContextBuilder().setMaxExecutionDurationMs(1);
        return hurried.build();
    }

    /** An error is fine if it says what is wrong; an answer must be the recorded one. */
    private void judge(SoakLoad load, Recorded recorded, Response answer, String text) {
        String error = answer == null
                ? text
                : answer.hasRegionError() ? answer.getRegionError().getMessage() : answer.getOtherError();
        if (answer == null || !error.isEmpty()) {
            if (error.isBlank() || error.contains("internal error") || error.contains("Exception")) {
                wrong.add(load + " " + recorded.id() + ": " + error);
            }
            refused.incrementAndGet();
            return;
        }
        List<Difference> differences = load.compare(recorded, answer);
        if (differences.isEmpty()) {
            right.incrementAndGet();
        } else {
            wrong.add(load + " " + recorded.id() + ": " + differences);
        }
    }

    /** Goes before the head is whole, in the middle of the body, without a look at the answer, or in the middle of it. */
    private void vanish(SplittableRandom random) throws IOException {
        SoakLoad load = loads.get(random.nextInt(loads.size()));
        List<byte[]> body = load.body(load.draw(random).request());
        int length = body.getFirst().length + body.getLast().length;
        byte[] head = ("POST /coprocessor HTTP/1.1\r\nContent-Length: " + length + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        try (Socket socket =
                new Socket(worker.address().getAddress(), worker.address().getPort())) {
            if (random.nextBoolean()) {
                socket.setSoLinger(true, 0); // a reset instead of an end
            }
            int when = random.nextInt(4);
            socket.getOutputStream().write(head, 0, when == 0 ? random.nextInt(head.length) : head.length);
            if (when > 0) {
                socket.getOutputStream().write(body.getFirst());
                int sent = when == 1 ? random.nextInt(body.getLast().length) : body.getLast().length;
                socket.getOutputStream().write(body.getLast(), 0, sent);
            }
            if (when == 3) {
                int first = socket.getInputStream().read();
                if (first < 0 && !ending) {
                    wrong.add("no answer");
                }
            }
        }
    }

    /** A client over gRPC that waits for some milliseconds only. */
    private void cancel(GrpcChannels channels, SplittableRandom random) {
        SoakLoad load = loads.get(random.nextInt(loads.size()));
        try {
            Response answer = stub(channels)
                    .withDeadlineAfter(random.nextInt(1, 30), TimeUnit.MILLISECONDS)
                    .coprocessor(delegated(load, load.draw(random), random));
            assertThat(answer).isNotNull();
        } catch (StatusRuntimeException e) {
            refused.incrementAndGet();
        }
    }

    private static void changeLeader(SoakNode node, SplittableRandom random) {
        (random.nextBoolean() ? node.pd() : node.otherPd()).lead();
        (random.nextBoolean() ? node.pd() : node.otherPd()).failNext(random.nextInt(3));
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(200)));
    }

    private static Function<FaultProxy.Seen, Fault> faults(long seed) {
        AtomicLong number = new AtomicLong();
        return request -> {
            SplittableRandom random = new SplittableRandom(seed + number.incrementAndGet());
            if (random.nextInt(100) >= FAULT_PERCENT) {
                return Fault.NONE;
            }
            Fault fault = Fault.values()[random.nextInt(Fault.values().length)];
            // stalls cost their time-out: fewer of them
            boolean isStall = fault == Fault.STALL_HEAD || fault == Fault.STALL_BODY;
            return isStall && random.nextInt(4) > 0 ? Fault.RESET_BODY : fault;
        };
    }

    private static List<SoakLoad> loads(ObjectStore store, DataPlane plane, SoakNode node, SplittableRandom random)
            throws IOException {
        List<SoakLoad> loads = new ArrayList<>();
        String[] names = {"smoke", "mvcc", "scan_types", "topn_limit"};
        for (int i = 0; i < names.length; i++) {
            Shape shape = Shape.values()[random.nextInt(1, Shape.values().length)]; // mem has no files
            loads.add(SoakLoad.build(names[i], shape, store, 1_000L + 10_000L * i, random.nextLong(), plane));
        }
        loads.forEach(load -> node.put(load.toString(), load.delegated()));
        return loads;
    }

    private Path config(FaultProxy faults, SoakNode node) throws IOException {
        return Files.writeString(
                folder.resolve("worker.toml"),
                String.format(
                        Locale.ROOT,
                        """
                addr = "127.0.0.1:0"
                cop-addr = "127.0.0.1:0"
                memory-upper-threshold = "48MiB"
                cop-block-cache-size = "256KiB"
                [pd]
                endpoints = ["%s", "%s"]
                [worker-limiter]
                global-concurrency-factor = 1.5
                keyspace-concurrency-factor = 1.0
                [txn-chunk-manager]
                gc-interval = "1s"
                gc-ttl = "0s"
                [dfs]
                prefix = "chaos"
                s3-bucket = "%s"
                s3-endpoint = "http://127.0.0.1:%d"
                s3-region = "us-east-1"
                s3-key-id = "%s"
                s3-secret-key = "%s"
                [dfs.conn-options]
                max-retry-count = 2
                retry-sleep-interval = "10ms"
                dispatch-timeout = "1s"
                read-body-timeout = "1s"
                [coplane]
                grpc-permits = true
                fixed-clock-micros = %d
                """,
                        node.pd().url(),
                        node.otherPd().url(),
                        S3Server.BUCKET,
                        faults.port(),
                        S3Server.KEY_ID,
                        S3Server.SECRET_KEY,
                        ReplayCommand.RECORDED_WALL_MICROS));
    }
}
