package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.engine.DataPlane;
import io.coplane.nativecache.ObjectStore;
import io.coplane.proto.coprocessor.DelegateRequest;
import io.coplane.proto.coprocessor.DelegateResponse;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.metapb.Peer;
import io.coplane.proto.tikvpb.TikvGrpc;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.worker.grpc.DelegateClient;
import io.coplane.worker.grpc.GrpcChannels;
import io.coplane.worker.grpc.GrpcServer;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The gRPC path of a data plane in this process: a client, the server of {@code cop-addr}, and a storage node of our own that gives each request its
 * data (worker.md 9.2), all over loopback. Owns all three, not the plane nor its store.
 */
final class GrpcTarget implements ReplayTarget {
    private static final int MOST_BYTES = 1 << 30;
    private static final int PATIENCE_SECONDS = 120;

    private final ObjectStore store;
    private final ConcurrentHashMap<String, DelegateResponse> data = new ConcurrentHashMap<>();
    private final AtomicLong sent = new AtomicLong();
    private final GrpcChannels channels = new GrpcChannels(Optional.empty(), MOST_BYTES);
    private final Server node;
    private final GrpcServer server;

    GrpcTarget(DataPlane plane, ObjectStore store) {
        this.store = store;
        InetSocketAddress anywhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try {
            node = NettyServerBuilder.forAddress(anywhere)
                    .directExecutor()
                    .addService(new Node())
                    .build()
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String nodeAddress = "127.0.0.1:" + node.getPort();
        DelegateClient delegate =
                new DelegateClient(channels, plane.memory(), storeId -> CompletableFuture.completedFuture(nodeAddress));
        server = GrpcServer.start(
                anywhere,
                plane::coprocessor,
                delegate,
                Optional.empty(),
                new GrpcServer.Options(
                        Optional.empty(),
                        Set.of(),
                        false,
                        new GrpcServer.Limits(
                                MOST_BYTES,
                                Integer.MAX_VALUE,
                                plane.memory(),
                                plane.memory(),
                                Duration.ofMinutes(1),
                                Duration.ofMinutes(1)),
                        Duration.ofSeconds(10)));
    }

    /** Gives back what {@link #send} laid down for a request. */
    private final class Node extends TikvGrpc.TikvImplBase {
        @Override
        public void delegateCoprocessor(DelegateRequest request, StreamObserver<DelegateResponse> out) {
            DelegateResponse answer = data.get(request.getContext().getRequestSource());
            if (answer == null) {
                out.onError(Status.NOT_FOUND.withDescription("no such request").asRuntimeException());
                return;
            }
            out.onNext(answer);
            out.onCompleted();
        }
    }

    @Override
    public ObjectStore store() {
        return store;
    }

    @Override
    public Response send(byte[] body) throws IOException {
        RemoteRequestBody parts = RemoteRequestBody.split(MemorySegment.ofArray(body));
        String id = "replay-" + sent.incrementAndGet();
        Request recorded = Request.parseFrom(Corpus.input(bytes(parts.request())));
        Request.Builder request = recorded.toBuilder();
        request.getContextBuilder()
                .setRequestSource(id)
                .setPeer(Peer.newBuilder().setStoreId(1));
        data.put(
                id,
                DelegateResponse.newBuilder()
                        .setMemTableData(ByteString.copyFrom(bytes(parts.memData())))
                        .setSnapshot(ByteString.copyFrom(bytes(parts.snapData())))
                        .build());
        try {
            return TikvGrpc.newBlockingStub(
                            channels.to("127.0.0.1:" + server.address().getPort()))
                    .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .coprocessor(request.build());
        } catch (StatusRuntimeException e) {
            return Response.newBuilder()
                    .setOtherError(String.valueOf(e.getStatus().getDescription()))
                    .build();
        } finally {
            data.remove(id);
        }
    }

    private static byte[] bytes(MemorySegment segment) {
        return segment.toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public void close() {
        server.close();
        channels.close();
        node.shutdownNow();
    }
}
