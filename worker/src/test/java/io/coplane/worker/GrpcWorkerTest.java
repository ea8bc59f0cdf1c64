package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.sun.net.httpserver.HttpServer;
import io.coplane.proto.coprocessor.DelegateRequest;
import io.coplane.proto.coprocessor.DelegateResponse;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.Snapshot;
import io.coplane.proto.errorpb.EpochNotMatch;
import io.coplane.proto.errorpb.Error;
import io.coplane.proto.kvrpcpb.Context;
import io.coplane.proto.kvrpcpb.LockInfo;
import io.coplane.proto.metapb.Peer;
import io.coplane.proto.metapb.Store;
import io.coplane.proto.metapb.StoreLabel;
import io.coplane.proto.tikvpb.TikvGrpc;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.Waits;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.coplane.worker.grpc.Calls;
import io.coplane.worker.grpc.GrpcChannels;
import io.coplane.worker.pd.PdServer;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** worker.md 9, 13: a worker between a PD and a storage node, all over real gRPC. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class GrpcWorkerTest {
    private static final Machine MACHINE = new Machine(64L << 30, 2);
    private static final int NODE = 5;
    private static final int DAG = 103;
    private static final int CHECKSUM = 105;

    @TempDir
    private Path folder;

    private final PdServer.Cluster cluster = new PdServer.Cluster(9, List.of());
    private final Node node = new Node();
    private final GrpcChannels channels = new GrpcChannels(Optional.empty(), 64 << 20);
    private PdServer pd;
    private Server nodeServer;
    private Worker worker;

    @BeforeEach
    void start() throws IOException {
        pd = new PdServer(cluster);
        nodeServer = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(node)
                .build()
                .start();
        cluster.put(Store.newBuilder()
                .setId(NODE)
                .setAddress("127.0.0.1:" + nodeServer.getPort())
                .build());
    }

    @AfterEach
    void stop() {
        channels.close();
        if (worker != null) {
            assertThat(worker.memory().usedBytes()).isZero();
            worker.close();
        }
        nodeServer.shutdownNow();
        pd.close();
    }

    @Test
    void fetchesTheDataFromTheStoreOfThePeerAndAnswers() throws IOException {
        worker("");
        node.answer = emptyShard();

        Response first = ask(CHECKSUM, 0);
        Response second = ask(CHECKSUM, 0);

        assertThat(first.getOtherError()).isEmpty();
        assertThat(first.getData()).isEqualTo(second.getData());
        assertThat(node.asked).hasSize(2).allSatisfy(question -> {
            assertThat(question.getStartTs()).isEqualTo(7);
            assertThat(question.getContext().getPeer().getStoreId()).isEqualTo(NODE);
            assertThat(question.getRangesCount()).isEqualTo(1);
        });
    }

    @Test
    void handsTheErrorsOfTheStoreOn() throws IOException {
        worker("");
        Error error = Error.newBuilder()
                .setMessage("epoch not match")
                .setEpochNotMatch(EpochNotMatch.getDefaultInstance())
                .build();
        node.answer = DelegateResponse.newBuilder().setRegionError(error).build();
        assertThat(ask(DAG, 0))
                .isEqualTo(Response.newBuilder().setRegionError(error).build());

        LockInfo lock = LockInfo.newBuilder().setLockVersion(3).build();
        node.answer = DelegateResponse.newBuilder().setLocked(lock).build();
        assertThat(ask(DAG, 0)).isEqualTo(Response.newBuilder().setLocked(lock).build());

        node.answer =
                DelegateResponse.newBuilder().setOtherError("no such region").build();
        assertThat(ask(DAG, 0))
                .isEqualTo(Response.newBuilder().setOtherError("no such region").build());
    }

    @Test
    void failsWithInternalAndTheText() throws IOException {
        worker("");

        node.answer = DelegateResponse.getDefaultInstance();
        assertThat(failure(DAG, 0).getDescription()).contains("no snapshot");
        node.answer = emptyShard();
        Status unsupported = failure(99, 0);
        assertThat(unsupported.getCode()).isEqualTo(Status.Code.INTERNAL);
        assertThat(unsupported.getDescription()).isEqualTo("unsupported tp 99");
        cluster.put(Store.newBuilder().setId(6).setAddress("127.0.0.1:1").build());
        Status dead = failure(DAG, 0, 6);
        assertThat(dead.getCode()).isEqualTo(Status.Code.INTERNAL);
        assertThat(dead.getDescription()).contains("the store does not answer");
        assertThat(failure(DAG, 0, 404).getDescription()).contains("invalid store ID 404, not found");
    }

    @Test
    void refusesListedKeyspacesBeforeItAsksAStore() throws IOException {
        worker("[black-list.remote-cop]\nkeyspace-ids = [8]\n");

        assertThat(failure(DAG, 8).getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(failure(10_001, 8).getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(node.asked).isEmpty();
    }

    @Test
    void dataBeyondTheMemoryCapAreAnsweredAsBusySoThatTheClientRetries() throws IOException {
        worker("memory-upper-threshold = \"1MiB\"\n");
        node.answer = DelegateResponse.newBuilder()
                .setMemTableData(ByteString.copyFrom(new byte[2 << 20]))
                .build();

        Response busy = ask(DAG, 0);

        assertThat(busy.getRegionError().getServerIsBusy().getReason())
                .isEqualTo("Coprocessor task canceled due to exceeding memory quota");
    }

    @Test
    void anExecutionThatOutgrowsTheMemoryCapIsBusyToo() throws IOException {
        worker("memory-upper-threshold = \"20MiB\"\ncop-block-cache-size = 0\ncop-max-resp-size = \"1GiB\"\n");
        node.answer = hungry();

        Response modest = ask(HungryRequests.modest());
        assertThat(modest.hasRegionError()).isFalse();
        assertThat(modest.getData()).isNotEmpty();
        for (Request hungry : List.of(HungryRequests.hashTable(), HungryRequests.topN(), HungryRequests.response())) {
            Response busy = ask(hungry);

            assertThat(busy.getRegionError().getServerIsBusy().getReason())
                    .isEqualTo("Coprocessor task canceled due to exceeding memory quota");
            assertThat(busy.getData()).isEmpty();
            assertThat(worker.memory().usedBytes()).isZero();
        }
    }

    /** Who gives a permit back starts the next request; that one must not end with him. */
    @Test
    void aRequestThatGotAnothersPermitOutlivesIt() throws Exception {
        worker("coplane.grpc-permits = true\nworker-limiter.keyspace-concurrency-factor = 0.1\n");
        node.answer =
                DelegateResponse.newBuilder().setOtherError("no such region").build();
        List<CompletableFuture<Void>> held =
                Stream.generate(CompletableFuture<Void>::new).limit(3).toList();
        held.forEach(node.toHold::add);
        List<CompletableFuture<Response>> answers = new ArrayList<>();
        for (int i = 0; i < 3; i++) { // two have permits, and the third waits
            answers.add(Calls.unary(
                    channels.to(address()),
                    TikvGrpc.getCoprocessorMethod(),
                    request(DAG, 0, NODE),
                    Duration.ofSeconds(30)));
        }
        assertThat(node.asked.poll(20, TimeUnit.SECONDS)).isNotNull();
        assertThat(node.asked.poll(20, TimeUnit.SECONDS)).isNotNull();

        held.get(0).complete(null);
        assertThat(node.asked.poll(20, TimeUnit.SECONDS)).isNotNull();
        held.get(1).complete(null);
        while (answers.stream().filter(CompletableFuture::isDone).count() < 2) {
            Thread.onSpinWait();
        }
        held.get(2).complete(null);

        for (CompletableFuture<Response> answer : answers) {
            assertThat(answer.join().getOtherError()).isEqualTo("no such region");
        }
    }

    /** A client that takes no message, over a connection that is alive: others are served, and nothing is left when it goes. */
    @Test
    void answersThatAClientDoesNotReadAreChargedAndBounded() throws Exception {
        worker("memory-upper-threshold = \"40MiB\"\ncop-block-cache-size = 0\ncoplane.grpc-permits = true\n");
        long mostBytes = (40L << 20) / 4;
        node.answer = hungry();
        int answerBytes = ask(HungryRequests.rows()).getSerializedSize();
        assertThat(answerBytes).isBetween((int) mostBytes / 3 + 10_000, (int) mostBytes / 2);
        ManagedChannel deaf = deafChannel();
        List<DeafCall> calls = new ArrayList<>();
        try {
            for (int i = 0; i < 2; i++) {
                calls.add(new DeafCall(deaf, true));
                int asked = i + 1;
                Waits.until(() ->
                        worker.memory().usedBytes() > asked * (answerBytes - 1_000L) && worker.requestsInWork() == 0);
            }
            assertThat(worker.memory().usedBytes()).isLessThanOrEqualTo(mostBytes);
            assertThat(worker.heldPermits()).isZero();

            Response busy = ask(HungryRequests.rows());

            assertThat(busy.getRegionError().getServerIsBusy().getReason())
                    .isEqualTo("Coprocessor task canceled due to exceeding memory quota");
            assertThat(busy.getData()).isEmpty();
            assertThat(ask(HungryRequests.modest()).hasRegionError()).isFalse();
            assertThat(calls).noneMatch(call -> call.end.isDone());
            deaf.shutdownNow();
            Waits.until(() -> worker.memory().usedBytes() == 0);
            assertThat(ask(HungryRequests.rows()).getSerializedSize()).isGreaterThan((int) mostBytes / 3);
            Waits.until(() -> worker.memory().usedBytes() == 0);
        } finally {
            end(deaf);
        }
    }

    @Test
    void anAnswerThatAClientDoesNotReadIsGivenUpInTime() throws Exception {
        worker("memory-upper-threshold = \"40MiB\"\ncop-block-cache-size = 0\ncoplane.write-idle-timeout = \"2s\"\n");
        node.answer = hungry();
        int answerBytes = ask(HungryRequests.rows()).getSerializedSize();
        Waits.until(() -> worker.memory().usedBytes() == 0);
        ManagedChannel deaf = deafChannel();
        try {
            DeafCall call = new DeafCall(deaf, true);
            Waits.until(() -> worker.memory().usedBytes() > answerBytes - 1_000);

            Waits.until(() -> worker.memory().usedBytes() == 0);

            assertThat(deaf.getState(false)).isEqualTo(ConnectivityState.READY);
            call.call.request(1);
            assertThat(call.end.get(30, TimeUnit.SECONDS).getCode()).isEqualTo(Status.Code.CANCELLED);
        } finally {
            end(deaf);
        }
    }

    private ManagedChannel deafChannel() {
        return NettyChannelBuilder.forTarget(address())
                .usePlaintext()
                .flowControlWindow(64 << 10)
                .build();
    }

    /** Waits for the end too: what a channel holds counts among what the process does. */
    private static void end(ManagedChannel channel) throws InterruptedException {
        assertThat(channel.shutdownNow().awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void messagesAreChargedBeforeTheyAreDecodedCompressedOrNot() throws Exception {
        worker("memory-upper-threshold = \"8MiB\"\ncop-block-cache-size = 0\n");
        node.answer =
                DelegateResponse.newBuilder().setOtherError("no such region").build();
        Request large = request(DAG, 0, NODE).toBuilder()
                .setData(ByteString.copyFrom(new byte[32 << 20]))
                .build();

        for (String compressor : List.of("identity", "gzip")) {
            TikvGrpc.TikvBlockingStub stub =
                    TikvGrpc.newBlockingStub(channels.to(address())).withCompression(compressor);
            assertThat(stub.coprocessor(large)
                            .getRegionError()
                            .getServerIsBusy()
                            .getReason())
                    .isEqualTo("Coprocessor task canceled due to exceeding memory quota");
            assertThat(node.asked).isEmpty();
            assertThat(stub.coprocessor(request(DAG, 0, NODE)).getOtherError()).isEqualTo("no such region");
            node.asked.clear();
        }
        Waits.until(() -> worker.memory().usedBytes() == 0 && worker.bodies().usedBytes() == 0);
    }

    @Test
    void aRequestThatStandsStillIsGivenUp() throws Exception {
        worker("coplane.body-idle-timeout = \"400ms\"\n");
        ManagedChannel channel =
                NettyChannelBuilder.forTarget(address()).usePlaintext().build();
        try {
            DeafCall call = new DeafCall(channel, false);
            call.call.request(1);

            assertThat(call.end.get(30, TimeUnit.SECONDS).getCode()).isEqualTo(Status.Code.CANCELLED);
            Waits.until(
                    () -> worker.memory().usedBytes() == 0 && worker.bodies().usedBytes() == 0);
        } finally {
            end(channel);
        }
    }

    @Test
    void connectionsAndCallsAreBounded() throws Exception {
        worker("coplane.max-connections = 2\n");
        node.answer =
                DelegateResponse.newBuilder().setOtherError("no such region").build();
        ManagedChannel channel =
                NettyChannelBuilder.forTarget(address()).usePlaintext().build();
        try {
            // calls that wait for a connection to open need not go out in their order
            assertThat(TikvGrpc.newBlockingStub(channel)
                            .coprocessor(request(DAG, 0, NODE))
                            .getOtherError())
                    .isEqualTo("no such region");
            DeafCall first = new DeafCall(channel, false);
            DeafCall second = new DeafCall(channel, false);
            DeafCall third = new DeafCall(channel, false);
            third.call.request(1);
            assertThat(third.end.get(30, TimeUnit.SECONDS).getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);

            first.call.cancel("enough", null);
            second.call.cancel("enough", null);

            assertThat(TikvGrpc.newBlockingStub(channel)
                            .coprocessor(request(DAG, 0, NODE))
                            .getOtherError())
                    .isEqualTo("no such region");
            assertThat(ask(DAG, 0).getOtherError()).isEqualTo("no such region"); // the second connection
            try (Socket tooMany = new Socket(
                    InetAddress.getLoopbackAddress(), worker.grpcAddress().getPort())) {
                tooMany.setSoTimeout(30_000);
                assertThat(isClosed(tooMany)).isTrue();
            }
        } finally {
            end(channel);
        }
    }

    private static boolean isClosed(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketException e) { // reset
            return true;
        }
    }

    private static DelegateResponse hungry() {
        return DelegateResponse.newBuilder()
                .setMemTableData(ByteString.copyFrom(HungryRequests.integers()))
                .setSnapshot(ByteString.copyFrom(HungryRequests.emptyShard()))
                .build();
    }

    @Test
    void otherMethodsAreUnimplementedAndHealthIsServing() throws IOException {
        worker("");

        TikvGrpc.TikvBlockingStub stub = TikvGrpc.newBlockingStub(channels.to(address()));
        assertThatThrownBy(() -> stub.delegateCoprocessor(DelegateRequest.getDefaultInstance()))
                .asInstanceOf(InstanceOfAssertFactories.type(StatusRuntimeException.class))
                .matches(e -> e.getStatus().getCode() == Status.Code.UNIMPLEMENTED);
        assertThat(HealthGrpc.newBlockingStub(channels.to(address()))
                        .check(HealthCheckRequest.getDefaultInstance())
                        .getStatus())
                .isEqualTo(HealthCheckResponse.ServingStatus.SERVING);
    }

    /** Within the shutdown timeout's 60 s nobody would wait for the end of this test. */
    @Test
    @Timeout(50)
    void callsThatNeverEndDoNotHoldTheShutdown() throws Exception {
        worker("");
        Events<HealthCheckResponse> health = new Events<>();
        HealthGrpc.newStub(channels.to(address())).watch(HealthCheckRequest.getDefaultInstance(), health);
        assertThat(health.next()).isEqualTo("SERVING");
        Events<ServerReflectionResponse> reflection = new Events<>();
        ServerReflectionGrpc.newStub(channels.to(address()))
                .serverReflectionInfo(reflection)
                .onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
        assertThat(reflection.next()).isNotEmpty();

        worker.close();

        assertThat(health.next()).isEqualTo("NOT_SERVING");
        assertThat(health.next()).isEqualTo("UNAVAILABLE: worker is shutting down");
        assertThat(reflection.next()).isEqualTo("UNAVAILABLE: worker is shutting down");
    }

    @Test
    void registersAtEveryStoreButTiFlashAgainAndAgain() throws Exception {
        BlockingQueue<String> bodies = new LinkedBlockingQueue<>();
        HttpServer status = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        status.createContext("/kvengine/compactor", exchange -> {
            bodies.add(exchange.getRequestMethod() + " "
                    + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        status.start();
        String statusAddress = "127.0.0.1:" + status.getAddress().getPort();
        cluster.put(
                Store.newBuilder().setId(NODE).setStatusAddress(statusAddress).build());
        cluster.put(Store.newBuilder()
                .setId(6)
                .setStatusAddress(statusAddress)
                .addLabels(StoreLabel.newBuilder().setKey("Engine").setValue("tiflash_compute"))
                .build());
        cluster.put(Store.newBuilder().setId(7).setStatusAddress("127.0.0.1:1").build());
        try {
            worker("register = true\nupdate-interval = \"100ms\"\n");

            for (int i = 0; i < 3; i++) {
                assertThat(bodies.poll(20, TimeUnit.SECONDS)).isEqualTo("POST http://127.0.0.1:0/compact");
            }
        } finally {
            status.stop(0);
        }
    }

    @Test
    void standaloneSaysWhatIsMissing() throws IOException {
        worker = Worker.start(ConfigLoader.load(Optional.of(file("", "")), Map.of(), Map.of()), MACHINE);

        assertThat(failure(DAG, 0).getDescription()).contains("no pd.endpoints are configured");
        assertThatThrownBy(() -> Worker.start(
                        ConfigLoader.load(Optional.of(file("register = true\n", "")), Map.of(), Map.of()), MACHINE))
                .hasMessageContaining("register needs pd.endpoints");
    }

    private void worker(String toml) throws IOException {
        worker = Worker.start(
                ConfigLoader.load(
                        Optional.of(file(toml, "pd.endpoints = [\"" + pd.url() + "\"]\n")), Map.of(), Map.of()),
                MACHINE);
    }

    private Path file(String toml, String pdEndpoints) throws IOException {
        return Files.writeString(
                folder.resolve("worker.toml"),
                "addr = \"127.0.0.1:0\"\ncop-addr = \"127.0.0.1:0\"\ndfs.backend = \"local\"\ndfs.local-dir = \""
                        + folder + "\"\n" + pdEndpoints + toml);
    }

    private String address() {
        return "127.0.0.1:" + worker.grpcAddress().getPort();
    }

    private Response ask(int tp, int keyspaceId) {
        return ask(tp, keyspaceId, NODE);
    }

    private Response ask(int tp, int keyspaceId, int storeId) {
        return ask(request(tp, keyspaceId, storeId));
    }

    private static Request request(int tp, int keyspaceId, int storeId) {
        return Request.newBuilder()
                .setTp(tp)
                .setStartTs(7)
                .addRanges(KeyRange.newBuilder()
                        .setStart(ByteString.copyFromUtf8("t"))
                        .setEnd(ByteString.copyFromUtf8("u")))
                .setContext(Context.newBuilder()
                        .setKeyspaceId(keyspaceId)
                        .setPeer(Peer.newBuilder().setStoreId(storeId)))
                .build();
    }

    private Response ask(Request request) {
        return TikvGrpc.newBlockingStub(channels.to(address()))
                .withDeadlineAfter(30, TimeUnit.SECONDS)
                .coprocessor(request);
    }

    private Status failure(int tp, int keyspaceId) {
        return failure(tp, keyspaceId, NODE);
    }

    private Status failure(int tp, int keyspaceId, int storeId) {
        return assertThatThrownBy(() -> ask(tp, keyspaceId, storeId))
                .asInstanceOf(InstanceOfAssertFactories.type(StatusRuntimeException.class))
                .actual()
                .getStatus();
    }

    private static DelegateResponse emptyShard() {
        return DelegateResponse.newBuilder()
                .setSnapshot(ChangeSet.newBuilder()
                        .setShardID(1)
                        .setShardVer(1)
                        .setSnapshot(Snapshot.newBuilder().setOuterEnd(ByteString.copyFrom(new byte[] {-1})))
                        .build()
                        .toByteString())
                .build();
    }

    /** What a call brings, in order. */
    private static final class Events<R> implements StreamObserver<R> {
        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

        String next() throws InterruptedException {
            return events.poll(30, TimeUnit.SECONDS);
        }

        @Override
        public void onNext(R message) {
            events.add(
                    message instanceof HealthCheckResponse health
                            ? health.getStatus().name()
                            : message.toString());
        }

        @Override
        public void onError(Throwable failure) {
            events.add(failure.getMessage());
        }

        @Override
        public void onCompleted() {
            events.add("completed");
        }
    }

    /** A call that takes no message; how it ends is seen only when it does. */
    private static final class DeafCall extends ClientCall.Listener<Response> {
        private final CompletableFuture<Status> end = new CompletableFuture<>();
        private final ClientCall<Request, Response> call;

        private DeafCall(ManagedChannel channel, boolean isWhole) {
            call = channel.newCall(TikvGrpc.getCoprocessorMethod(), CallOptions.DEFAULT);
            call.start(this, new Metadata());
            call.sendMessage(HungryRequests.rows());
            if (isWhole) {
                call.halfClose();
            }
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            end.complete(status);
        }
    }

    /** A storage node. */
    private static final class Node extends TikvGrpc.TikvImplBase {
        private final BlockingQueue<DelegateRequest> asked = new LinkedBlockingQueue<>();
        private final Queue<CompletableFuture<Void>> toHold = new ConcurrentLinkedQueue<>(); // answers, in order
        private volatile DelegateResponse answer = DelegateResponse.getDefaultInstance();

        @Override
        public void delegateCoprocessor(DelegateRequest request, StreamObserver<DelegateResponse> out) {
            CompletableFuture<Void> held = toHold.poll();
            asked.add(request);
            CompletableFuture<Void> due = held == null ? CompletableFuture.completedFuture(null) : held;
            var _ = due.thenRun(() -> {
                out.onNext(answer);
                out.onCompleted();
            });
        }
    }
}
