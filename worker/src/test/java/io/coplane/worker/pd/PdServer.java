package io.coplane.worker.pd;

import com.google.protobuf.ByteString;
import io.coplane.proto.keyspacepb.GetAllKeyspacesRequest;
import io.coplane.proto.keyspacepb.GetAllKeyspacesResponse;
import io.coplane.proto.keyspacepb.KeyspaceGrpc;
import io.coplane.proto.keyspacepb.KeyspaceMeta;
import io.coplane.proto.metapb.Peer;
import io.coplane.proto.metapb.Region;
import io.coplane.proto.metapb.Store;
import io.coplane.proto.pdpb.Error;
import io.coplane.proto.pdpb.ErrorType;
import io.coplane.proto.pdpb.GetAllStoresRequest;
import io.coplane.proto.pdpb.GetAllStoresResponse;
import io.coplane.proto.pdpb.GetClusterInfoRequest;
import io.coplane.proto.pdpb.GetClusterInfoResponse;
import io.coplane.proto.pdpb.GetMembersRequest;
import io.coplane.proto.pdpb.GetMembersResponse;
import io.coplane.proto.pdpb.GetRegionRequest;
import io.coplane.proto.pdpb.GetRegionResponse;
import io.coplane.proto.pdpb.GetStoreRequest;
import io.coplane.proto.pdpb.GetStoreResponse;
import io.coplane.proto.pdpb.Member;
import io.coplane.proto.pdpb.PDGrpc;
import io.coplane.proto.pdpb.ResponseHeader;
import io.coplane.proto.pdpb.Timestamp;
import io.coplane.proto.pdpb.TsoRequest;
import io.coplane.proto.pdpb.TsoResponse;
import io.coplane.proto.tsopb.FindGroupByKeyspaceIDRequest;
import io.coplane.proto.tsopb.FindGroupByKeyspaceIDResponse;
import io.coplane.proto.tsopb.KeyspaceGroup;
import io.coplane.proto.tsopb.KeyspaceGroupMember;
import io.coplane.proto.tsopb.TSOGrpc;
import io.grpc.BindableService;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** One PD member of a small cluster, over real gRPC. All members of a cluster share {@link Cluster}. */
public final class PdServer implements AutoCloseable {
    /** What the members agree on. */
    public static final class Cluster {
        final long id;
        final Map<Long, Store> stores = new ConcurrentHashMap<>();
        final List<Long> keyspaces;
        final Map<Long, String> encryption = new ConcurrentHashMap<>();
        volatile Region region = Region.getDefaultInstance();
        volatile long regionLeader;
        final AtomicLong lastTimestamp = new AtomicLong(100L << 18);
        final List<PdServer> members = new java.util.concurrent.CopyOnWriteArrayList<>();
        final List<String> urlsThatAreNone = new java.util.concurrent.CopyOnWriteArrayList<>();
        volatile String tsoPrimary = ""; // of the separate timestamp service; empty = there is none
        volatile PdServer leader;

        public Cluster(long id, List<Long> keyspaces) {
            this.id = id;
            this.keyspaces = keyspaces;
        }

        /** Sets the encryption setting of a keyspace, a JSON text. */
        public void encrypt(long keyspaceId, String setting) {
            encryption.put(keyspaceId, setting);
        }

        /** Sets what every key's region is, and the store of its leader. */
        public void region(Region value, long leaderStore) {
            region = value;
            regionLeader = leaderStore;
        }

        /** Sets the timestamp before the next one. */
        public void lastTimestamp(long value) {
            lastTimestamp.set(value);
        }

        /** Puts or replaces a store. */
        public void put(Store store) {
            stores.put(store.getId(), store);
        }
    }

    final AtomicInteger membersAsked = new AtomicInteger();
    final AtomicInteger failuresToCome = new AtomicInteger();
    final ConcurrentLinkedQueue<Integer> tsoCounts = new ConcurrentLinkedQueue<>();
    final ConcurrentLinkedQueue<String> forwardedHosts = new ConcurrentLinkedQueue<>();
    final ConcurrentLinkedQueue<ByteString> regionKeys = new ConcurrentLinkedQueue<>();
    volatile boolean isTsoSilent;
    private final BlockingQueue<Long> storesAsked = new LinkedBlockingQueue<>();
    private volatile CompletableFuture<Void> storesHeld = CompletableFuture.completedFuture(null);

    private final Cluster cluster;
    private final Server server;
    private final String url;

    public PdServer(Cluster cluster) throws IOException {
        this.cluster = cluster;
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService((BindableService) new Pd())
                .addService((BindableService) new Keyspaces())
                .addService((BindableService) new Timestamps())
                .intercept(new Forwarded())
                .build()
                .start();
        url = "http://127.0.0.1:" + server.getPort();
        cluster.members.add(this);
        if (cluster.leader == null) {
            cluster.leader = this;
        }
    }

    /** Makes this member the leader. */
    public void lead() {
        cluster.leader = this;
    }

    /** The next calls fail. */
    public void failNext(int calls) {
        failuresToCome.set(calls);
    }

    public String url() {
        return url;
    }

    /** Answers to GetStore wait for this from now on. */
    public void holdStores(CompletableFuture<Void> gate) {
        storesHeld = gate;
    }

    /** Ids that GetStore was asked for, in order; whoever reads them takes them. */
    public BlockingQueue<Long> storesAsked() {
        return storesAsked;
    }

    /** Keys whose region was asked for, in order. */
    public List<ByteString> regionKeys() {
        return List.copyOf(regionKeys);
    }

    @Override
    public void close() {
        server.shutdownNow();
        try {
            server.awaitTermination(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private ResponseHeader header() {
        return ResponseHeader.newBuilder().setClusterId(cluster.id).build();
    }

    private static <R> void answer(StreamObserver<R> out, R answer) {
        out.onNext(answer);
        out.onCompleted();
    }

    /** True if the call was answered with a failure, because the member does not lead or failures are due. */
    private boolean isRefused(StreamObserver<?> out) {
        if (failuresToCome.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            out.onError(Status.UNAVAILABLE.withDescription("due to fail").asRuntimeException());
            return true;
        }
        if (cluster.leader != this) {
            out.onError(Status.UNAVAILABLE.withDescription("not leader").asRuntimeException());
            return true;
        }
        return false;
    }

    private final class Forwarded implements ServerInterceptor {
        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
            String host = headers.get(Metadata.Key.of("pd-forwarded-host", Metadata.ASCII_STRING_MARSHALLER));
            if (host != null) {
                forwardedHosts.add(host);
            }
            return next.startCall(call, headers);
        }
    }

    private final class Pd extends PDGrpc.PDImplBase {
        @Override
        public void getMembers(GetMembersRequest request, StreamObserver<GetMembersResponse> out) {
            membersAsked.incrementAndGet();
            GetMembersResponse.Builder members = GetMembersResponse.newBuilder().setHeader(header());
            members.addMembers(Member.newBuilder().addAllClientUrls(cluster.urlsThatAreNone));
            for (PdServer member : cluster.members) {
                members.addMembers(Member.newBuilder().addClientUrls(member.url()));
            }
            if (cluster.leader != null) {
                members.setLeader(Member.newBuilder().addClientUrls(cluster.leader.url()));
            }
            answer(out, members.build());
        }

        @Override
        public void getClusterInfo(GetClusterInfoRequest request, StreamObserver<GetClusterInfoResponse> out) {
            if (cluster.tsoPrimary.isEmpty()) {
                super.getClusterInfo(request, out); // too old to be asked
                return;
            }
            answer(
                    out,
                    GetClusterInfoResponse.newBuilder()
                            .setHeader(header())
                            .addServiceModes(2)
                            .addTsoUrls("nowhere")
                            .addTsoUrls(url)
                            .build());
        }

        @Override
        public void getStore(GetStoreRequest request, StreamObserver<GetStoreResponse> out) {
            storesAsked.add(request.getStoreId());
            var _ = storesHeld.thenRun(() -> answerStore(request, out));
        }

        private void answerStore(GetStoreRequest request, StreamObserver<GetStoreResponse> out) {
            if (isRefused(out)) {
                return;
            }
            Store store = cluster.stores.get(request.getStoreId());
            GetStoreResponse.Builder found = GetStoreResponse.newBuilder();
            if (request.getHeader().getClusterId() != cluster.id) {
                found.setHeader(header().toBuilder()
                        .setError(Error.newBuilder().setType(ErrorType.UNKNOWN).setMessage("mismatch cluster id")));
            } else if (store == null) {
                found.setHeader(header().toBuilder()
                        .setError(Error.newBuilder()
                                .setType(ErrorType.UNKNOWN)
                                .setMessage("invalid store ID " + request.getStoreId() + ", not found")));
            } else {
                found.setHeader(header()).setStore(store);
            }
            answer(out, found.build());
        }

        @Override
        public void getRegion(GetRegionRequest request, StreamObserver<GetRegionResponse> out) {
            if (!isRefused(out)) {
                regionKeys.add(request.getRegionKey());
                answer(
                        out,
                        GetRegionResponse.newBuilder()
                                .setHeader(header())
                                .setRegion(cluster.region)
                                .setLeader(Peer.newBuilder().setStoreId(cluster.regionLeader))
                                .build());
            }
        }

        @Override
        public void getAllStores(GetAllStoresRequest request, StreamObserver<GetAllStoresResponse> out) {
            if (!isRefused(out)) {
                answer(
                        out,
                        GetAllStoresResponse.newBuilder()
                                .setHeader(header())
                                .addAllStores(cluster.stores.values())
                                .build());
            }
        }

        @Override
        public StreamObserver<TsoRequest> tso(StreamObserver<TsoResponse> out) {
            return new StreamObserver<>() {
                @Override
                public void onNext(TsoRequest request) {
                    if (isTsoSilent || isRefused(out)) {
                        return;
                    }
                    tsoCounts.add(request.getCount());
                    long last = cluster.lastTimestamp.addAndGet(request.getCount());
                    out.onNext(TsoResponse.newBuilder()
                            .setHeader(header())
                            .setCount(request.getCount())
                            .setTimestamp(Timestamp.newBuilder()
                                    .setPhysical(last >> 18)
                                    .setLogical(last & ((1 << 18) - 1)))
                            .build());
                }

                @Override
                public void onError(Throwable failure) {
                    // the client is gone
                }

                @Override
                public void onCompleted() {
                    out.onCompleted();
                }
            };
        }
    }

    private final class Timestamps extends TSOGrpc.TSOImplBase {
        @Override
        public void findGroupByKeyspaceID(
                FindGroupByKeyspaceIDRequest request, StreamObserver<FindGroupByKeyspaceIDResponse> out) {
            answer(
                    out,
                    FindGroupByKeyspaceIDResponse.newBuilder()
                            .setKeyspaceGroup(KeyspaceGroup.newBuilder()
                                    .addMembers(KeyspaceGroupMember.newBuilder()
                                            .setIsPrimary(true)
                                            .setAddress(cluster.tsoPrimary)))
                            .build());
        }
    }

    private final class Keyspaces extends KeyspaceGrpc.KeyspaceImplBase {
        @Override
        public void getAllKeyspaces(GetAllKeyspacesRequest request, StreamObserver<GetAllKeyspacesResponse> out) {
            GetAllKeyspacesResponse.Builder found =
                    GetAllKeyspacesResponse.newBuilder().setHeader(header());
            cluster.keyspaces.stream()
                    .filter(id -> id >= request.getStartId())
                    .sorted()
                    .limit(request.getLimit())
                    .forEach(id -> {
                        KeyspaceMeta.Builder keyspace =
                                KeyspaceMeta.newBuilder().setId(id.intValue());
                        if (cluster.encryption.containsKey(id)) {
                            keyspace.putConfig("encryption", cluster.encryption.get(id));
                        }
                        found.addKeyspaces(keyspace);
                    });
            answer(out, found.build());
        }
    }
}
