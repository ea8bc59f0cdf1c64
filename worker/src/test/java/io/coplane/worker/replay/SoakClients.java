package io.coplane.worker.replay;

import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.metapb.Peer;
import io.coplane.proto.tikvpb.TikvGrpc;
import io.coplane.worker.grpc.GrpcChannels;
import io.coplane.worker.http.RawClient;
import io.coplane.worker.replay.Corpus.Recorded;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Clients that ask one question after the other, each over a connection of its own, and judge every answer: right, busy, or wrong. Client {@code i} asks
 * {@code loads[i % loads]}. Threads: one a client.
 */
final class SoakClients {
    private static final int MOST_WRONG_KEPT = 20;
    private static final int MOST_BYTES = 512 << 20;

    /** Of a request, for its permits and once more for its execution: 64 clients on a slow machine need more than the default, and "too late" would be no wrong answer. */
    private static final int MOST_EXECUTION_MILLIS = 100_000;

    private static final long PATIENCE_SECONDS = 300;
    private static final long MOST_BACK_OFF_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final InetSocketAddress http;
    private final InetSocketAddress grpc;
    private final List<SoakLoad> loads;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong right = new AtomicLong();
    private final AtomicLong busy = new AtomicLong();
    private final AtomicLong cut = new AtomicLong();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private volatile boolean stopped;
    private volatile boolean ending;

    SoakClients(InetSocketAddress http, InetSocketAddress grpc, List<SoakLoad> loads) {
        this.http = http;
        this.grpc = grpc;
        this.loads = loads;
    }

    /** Starts clients; {@code seed} decides what they ask. */
    SoakClients start(int httpClients, int grpcClients, long seed) {
        SplittableRandom seeds = new SplittableRandom(seed);
        for (int i = 0; i < httpClients + grpcClients; i++) {
            SoakLoad load = loads.get(i % loads.size());
            SplittableRandom random = seeds.split();
            boolean isHttp = i < httpClients;
            threads.add(Thread.ofPlatform().name("soak-client-" + i).start(() -> ask(load, random, isHttp)));
        }
        return this;
    }

    /** From now on the worker may end connections between two requests. */
    void workerEnds() {
        ending = true;
    }

    /** Lets each client finish its request, and waits for them. */
    void stop() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Answers equal to the recorded ones. */
    long right() {
        return right.get();
    }

    /** Answers that ask the client to come again. */
    long busy() {
        return busy.get();
    }

    /** Requests without an answer because the worker ended. */
    long cut() {
        return cut.get();
    }

    /** Every other outcome; the first ones. */
    List<String> wrong() {
        return List.copyOf(wrong);
    }

    private void ask(SoakLoad load, SplittableRandom random, boolean isHttp) {
        try {
            if (isHttp) {
                askHttp(load, random);
            } else {
                askGrpc(load, random);
            }
        } catch (IOException | RuntimeException e) {
            if (ending) {
                cut.incrementAndGet();
            } else {
                wrong(load, "client " + Thread.currentThread().getName() + " ended: " + e);
            }
        }
    }

    private void askHttp(SoakLoad load, SplittableRandom random) throws IOException {
        while (!stopped) {
            try (RawClient client = new RawClient(http)) {
                boolean open = true;
                while (open && !stopped) {
                    Recorded recorded = load.draw(random);
                    RawClient.Response answer = client.post(
                                    "/coprocessor",
                                    load.body(patient(recorded.request()).build()),
                                    "Accept: application/protobuf")
                            .read();
                    open = !answer.headers().containsKey("connection");
                    judge(load, recorded, answered(answer), answer.status() == 503, random);
                }
            }
        }
    }

    private static Response answered(RawClient.Response answer) throws IOException {
        if (answer.status() == 200
                || "application/protobuf".equals(answer.headers().get("content-type"))) {
            return Response.parseFrom(Corpus.input(answer.body()));
        }
        return Response.newBuilder()
                .setOtherError(answer.status() + " " + answer.text())
                .build();
    }

    private void askGrpc(SoakLoad load, SplittableRandom random) {
        try (GrpcChannels channels = new GrpcChannels(Optional.empty(), MOST_BYTES)) {
            while (!stopped) {
                Recorded recorded = load.draw(random);
                try {
                    judge(load, recorded, call(channels, recorded.request(), load.toString()), false, random);
                } catch (StatusRuntimeException e) {
                    if (e.getStatus().getCode() != Status.Code.INTERNAL) {
                        throw e;
                    }
                    Response failed = Response.newBuilder()
                            .setOtherError(String.valueOf(e.getStatus().getDescription()))
                            .build();
                    judge(load, recorded, failed, false, random);
                }
            }
        }
    }

    /** One call over gRPC. */
    Response call(GrpcChannels channels, Request recorded, String source) {
        Request.Builder request = patient(recorded);
        request.getContextBuilder()
                .setRequestSource(source)
                .setPeer(Peer.newBuilder().setStoreId(SoakNode.STORE_ID));
        return TikvGrpc.newBlockingStub(channels.to("127.0.0.1:" + grpc.getPort()))
                .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
                .coprocessor(request.build());
    }

    /** A request that has time. */
    static Request.Builder patient(Request recorded) {
        Request.Builder request = recorded.toBuilder();
        request.getContextBuilder().setMaxExecutionDurationMs(MOST_EXECUTION_MILLIS);
        return request;
    }

    private void judge(SoakLoad load, Recorded recorded, Response answer, boolean isBusy, SplittableRandom random) {
        if (isBusy || answer.getRegionError().hasServerIsBusy()) {
            busy.incrementAndGet();
            LockSupport.parkNanos(random.nextLong(MOST_BACK_OFF_NANOS));
            return;
        }
        List<Difference> differences = load.compare(recorded, answer);
        if (differences.isEmpty()) {
            right.incrementAndGet();
        } else {
            wrong(load, recorded.id() + ": " + differences);
        }
    }

    private void wrong(SoakLoad load, String what) {
        if (wrong.size() < MOST_WRONG_KEPT) {
            wrong.add(load + ": " + what);
        }
    }
}
