package io.coplane.worker.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.engine.DelegatedRequest;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.coprocessor.DelegateRequest;
import io.coplane.proto.coprocessor.DelegateResponse;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.kvrpcpb.Context;
import io.coplane.proto.metapb.Peer;
import io.coplane.proto.metapb.Store;
import io.coplane.proto.tikvpb.TikvGrpc;
import io.coplane.testing.NoLeaks;
import io.coplane.worker.config.PdConfig;
import io.coplane.worker.pd.PdClient;
import io.coplane.worker.pd.PdServer;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** worker.md 9.2: what requests for one store share, between a PD and a node over real gRPC. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class DelegateClientTest {
    private static final long STORE = 5;
    private static final Duration LONG = Duration.ofSeconds(30);

    private final PdServer.Cluster cluster = new PdServer.Cluster(9, List.of());
    private final GrpcChannels channels = new GrpcChannels(Optional.empty(), 64 << 20);
    private final MemoryLimiter memory = new MemoryLimiter(1 << 20);
    private final Node node = new Node();
    private PdServer pd;
    private PdClient pdClient;
    private Server nodeServer;
    private DelegateClient client;

    @BeforeEach
    void start() throws Exception {
        pd = new PdServer(cluster);
        nodeServer = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(node)
                .build()
                .start();
        pdClient = PdClient.connect(
                new PdConfig(List.of(pd.url()), Duration.ofMillis(50), 10, 1, Duration.ofMinutes(10), false, false),
                channels,
                Clock.system());
        client = new DelegateClient(channels, memory, id -> pdClient.store(id).thenApply(Store::getAddress));
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        pdClient.close();
        channels.close();
        nodeServer.shutdownNow();
        pd.close();
        assertThat(memory.usedBytes()).isZero();
    }

    @Test
    void aLookUpOutlivesTheRequestThatBeganIt() throws Exception {
        putStore();
        var gate = new CompletableFuture<Void>();
        pd.holdStores(gate);
        var first = io.grpc.Context.current().withCancellation();
        CompletableFuture<DelegatedRequest.Data> given = in(first);
        assertThat(pd.storesAsked().poll(20, TimeUnit.SECONDS)).isEqualTo(STORE);
        CompletableFuture<DelegatedRequest.Data> wanted = client.fetch(request(), LONG);

        first.cancel(null);
        gate.complete(null);

        take(wanted);
        assertThatThrownBy(given::join).cause().isInstanceOf(CoplaneException.class);
        assertThat(pd.storesAsked()).isEmpty();
    }

    @Test
    void aFetchOutlivesTheRequestWhoseLookUpItWaitedFor() throws Exception {
        putStore();
        var gate = new CompletableFuture<Void>();
        pd.holdStores(gate);
        node.held = new CompletableFuture<>();
        var first = io.grpc.Context.current().withCancellation();
        CompletableFuture<DelegatedRequest.Data> given = in(first);
        CompletableFuture<DelegatedRequest.Data> wanted = client.fetch(request(), LONG);
        gate.complete(null);
        assertThat(node.asked.poll(20, TimeUnit.SECONDS)).isNotNull();
        assertThat(node.asked.poll(20, TimeUnit.SECONDS)).isNotNull();

        first.cancel(null); // as the server does when a call ends
        assertThatThrownBy(given::join).cause().isInstanceOf(CoplaneException.class);
        node.held.complete(null);

        take(wanted);
    }

    @Test
    void aFailedLookUpIsNotServedAgain() throws Exception {
        assertThatThrownBy(() -> client.fetch(request(), LONG).join())
                .cause()
                .hasMessageContaining("invalid store ID 5, not found");
        putStore();

        take(client.fetch(request(), LONG));
        take(client.fetch(request(), LONG));

        assertThat(pd.storesAsked()).hasSize(2);
    }

    @Test
    void aLookUpThatIsLateEndsWithTheRequestsTime() {
        pd.holdStores(new CompletableFuture<>());

        for (Duration within : List.of(Duration.ZERO, Duration.ofMillis(20))) {
            assertThatThrownBy(() -> client.fetch(request(), within).join())
                    .cause()
                    .isInstanceOfSatisfying(
                            CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE));
        }
    }

    private CompletableFuture<DelegatedRequest.Data> in(io.grpc.Context context) throws Exception {
        return context.call(() -> client.fetch(request(), LONG));
    }

    private static void take(CompletableFuture<DelegatedRequest.Data> data) {
        DelegatedRequest.Data taken = data.orTimeout(20, TimeUnit.SECONDS).join();
        assertThat(taken.message().getOtherError()).isEqualTo("no such region");
        taken.release().run();
    }

    private void putStore() {
        cluster.put(Store.newBuilder()
                .setId(STORE)
                .setAddress("127.0.0.1:" + nodeServer.getPort())
                .build());
    }

    private static Request request() {
        return Request.newBuilder()
                .setContext(Context.newBuilder().setPeer(Peer.newBuilder().setStoreId(STORE)))
                .build();
    }

    /** A storage node. */
    private static final class Node extends TikvGrpc.TikvImplBase {
        private final BlockingQueue<DelegateRequest> asked = new LinkedBlockingQueue<>();
        private volatile CompletableFuture<Void> held = CompletableFuture.completedFuture(null);

        @Override
        public void delegateCoprocessor(DelegateRequest request, StreamObserver<DelegateResponse> out) {
            asked.add(request);
            var _ = held.thenRun(() -> {
                out.onNext(DelegateResponse.newBuilder()
                        .setOtherError("no such region")
                        .build());
                out.onCompleted();
            });
        }
    }
}
