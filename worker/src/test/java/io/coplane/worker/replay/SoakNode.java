package io.coplane.worker.replay;

import io.coplane.proto.coprocessor.DelegateRequest;
import io.coplane.proto.coprocessor.DelegateResponse;
import io.coplane.proto.metapb.Store;
import io.coplane.proto.tikvpb.TikvGrpc;
import io.coplane.worker.pd.PdServer;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A storage node and a PD of two members over real gRPC. The node gives what was put under the {@code request_source} of a request. Owns both.
 */
final class SoakNode implements AutoCloseable {
    static final long STORE_ID = 5;

    /** It has so many ids, from {@link #STORE_ID} on: each is asked for at PD once. */
    static final int STORES = 10_000;

    private final ConcurrentHashMap<String, DelegateResponse> data = new ConcurrentHashMap<>();
    private final PdServer.Cluster cluster = new PdServer.Cluster(9, List.of());
    private final CompletableFuture<Void> heldAsked = new CompletableFuture<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private final PdServer pd;
    private final PdServer other;
    private final Server node;

    SoakNode() throws IOException {
        pd = new PdServer(cluster);
        node = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new Node())
                // as storage nodes do: the worker pings while an answer is held
                .permitKeepAliveTime(1, TimeUnit.SECONDS)
                .build()
                .start();
        other = new PdServer(cluster);
        for (long id = STORE_ID; id < STORE_ID + STORES; id++) {
            cluster.put(Store.newBuilder()
                    .setId(id)
                    .setAddress("127.0.0.1:" + node.getPort())
                    .build());
        }
    }

    /** Source of requests that are answered only after {@link #release}. */
    static String held(String source) {
        return "held " + source;
    }

    void put(String source, DelegateResponse answer) {
        data.put(source, answer);
    }

    PdServer pd() {
        return pd;
    }

    /** The second member of the cluster; the first one leads. */
    PdServer otherPd() {
        return other;
    }

    /** Completes when a request with a held source was asked for. */
    CompletableFuture<Void> heldAsked() {
        return heldAsked;
    }

    /** Answers those that are held. */
    void release() {
        released.countDown();
    }

    private final class Node extends TikvGrpc.TikvImplBase {
        @Override
        public void delegateCoprocessor(DelegateRequest request, StreamObserver<DelegateResponse> out) {
            String source = request.getContext().getRequestSource();
            if (source.startsWith(held(""))) {
                heldAsked.complete(null);
                try {
                    released.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                source = source.substring(held("").length());
            }
            DelegateResponse answer = data.get(source);
            if (answer == null) {
                out.onError(Status.NOT_FOUND.withDescription("no such data").asRuntimeException());
                return;
            }
            out.onNext(answer);
            out.onCompleted();
        }
    }

    @Override
    public void close() {
        release();
        node.shutdownNow();
        try {
            node.awaitTermination(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        pd.close();
        other.close();
    }
}
