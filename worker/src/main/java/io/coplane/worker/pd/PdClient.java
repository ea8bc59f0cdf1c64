package io.coplane.worker.pd;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.proto.keyspacepb.GetAllKeyspacesRequest;
import io.coplane.proto.keyspacepb.KeyspaceGrpc;
import io.coplane.proto.keyspacepb.KeyspaceMeta;
import io.coplane.proto.keyspacepb.LoadKeyspaceRequest;
import io.coplane.proto.metapb.Store;
import io.coplane.proto.pdpb.ErrorType;
import io.coplane.proto.pdpb.GCSafePointV2;
import io.coplane.proto.pdpb.GetAllGCSafePointV2Request;
import io.coplane.proto.pdpb.GetAllGCSafePointV2Response;
import io.coplane.proto.pdpb.GetAllStoresRequest;
import io.coplane.proto.pdpb.GetAllStoresResponse;
import io.coplane.proto.pdpb.GetGCSafePointRequest;
import io.coplane.proto.pdpb.GetGCSafePointResponse;
import io.coplane.proto.pdpb.GetMinTSRequest;
import io.coplane.proto.pdpb.GetMinTSResponse;
import io.coplane.proto.pdpb.GetRegionByIDRequest;
import io.coplane.proto.pdpb.GetRegionRequest;
import io.coplane.proto.pdpb.GetRegionResponse;
import io.coplane.proto.pdpb.GetStoreRequest;
import io.coplane.proto.pdpb.GetStoreResponse;
import io.coplane.proto.pdpb.GlobalConfigItem;
import io.coplane.proto.pdpb.LoadGlobalConfigRequest;
import io.coplane.proto.pdpb.LoadGlobalConfigResponse;
import io.coplane.proto.pdpb.PDGrpc;
import io.coplane.proto.pdpb.RequestHeader;
import io.coplane.proto.pdpb.ResponseHeader;
import io.coplane.worker.config.PdConfig;
import io.coplane.worker.grpc.Calls;
import io.coplane.worker.grpc.GrpcChannels;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Client of PD (worker.md 18).
 *
 * <p>Every call is sent at most three times on one connection and ten times in all; between, the leader is looked up again, at most once a second.
 * Calls fail with {@link PdException}. Futures complete on threads of the channels: don't block in their stages.
 *
 * <p>Owns a thread; borrows the channels. Thread-safe.
 */
@SuppressWarnings({"FutureReturnValueIgnored", "ReferenceEquality"
}) // of schedules: they end with the loop; a link is another one, not an equal one
public final class PdClient implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PdClient.class);
    private static final int MOST_SENDS = 10;
    private static final int MOST_SENDS_ON_A_LINK = 3;
    private static final long RECONNECT_APART_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long RESEND_PAUSE_MILLIS = 100;

    private final PdConfig config;
    private final PdConnector connector;
    private final Clock clock;
    private final ScheduledExecutorService loop = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("coplane-pd").daemon().factory());
    private final TsoBatcher timestamps;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile PdLink link;

    // Only on the loop's thread.
    private CompletableFuture<PdLink> reconnecting;
    private long lastConnectNanos;

    private PdClient(PdConfig config, GrpcChannels channels, Clock clock) {
        this.config = config;
        this.clock = clock;
        connector = new PdConnector(channels, config.isForwardingEnabled(), config.isLegacyTsoForced());
        timestamps = new TsoBatcher(this, channels, loop);
    }

    /**
     * Connects, with the attempts of the configuration. Blocks until then.
     *
     * @param channels borrowed; must stay open until {@link #close()}
     * @throws PdException PD_UNAVAILABLE after the last attempt
     */
    public static PdClient connect(PdConfig config, GrpcChannels channels, Clock clock) throws InterruptedException {
        PdClient client = new PdClient(config, channels, clock);
        try {
            client.start();
            return client;
        } catch (InterruptedException | RuntimeException e) {
            client.close();
            throw e;
        }
    }

    private void start() throws InterruptedException {
        for (long failures = 0; ; failures++) {
            try {
                link = connector.connect(config.endpoints()).join();
                break;
            } catch (CompletionException e) {
                if (failures % config.retryLogEvery() == 0) {
                    LOG.warn(
                            "can't connect to PD: endpoints={} cause={}",
                            config.endpoints(),
                            e.getCause().getMessage());
                }
                if (config.retryMaxCount() >= 0 && failures >= config.retryMaxCount()) {
                    throw PdException.unavailable("GetMembers", e.getCause());
                }
            }
            TimeUnit.NANOSECONDS.sleep(config.retryInterval().toNanos());
        }
        LOG.info("connected to PD: clusterId={} leader={}", link.clusterId(), link.leaderUrl());
        lastConnectNanos = clock.nanoTime();
        long period = Math.max(RECONNECT_APART_NANOS, config.updateInterval().toNanos());
        loop.scheduleWithFixedDelay(() -> reconnect(link), period, period, TimeUnit.NANOSECONDS);
    }

    /** Id of the cluster. */
    public long clusterId() {
        return link.clusterId();
    }

    /** URL of the leader as last seen. */
    public String leaderUrl() {
        return link.leaderUrl();
    }

    /** A store; PD_REFUSED if there is none. */
    public CompletableFuture<Store> store(long storeId) {
        return call(
                        PDGrpc.getGetStoreMethod(),
                        header -> GetStoreRequest.newBuilder()
                                .setHeader(header)
                                .setStoreId(storeId)
                                .build(),
                        GetStoreResponse::getHeader)
                .thenApply(GetStoreResponse::getStore);
    }

    /** All stores but tombstones. */
    public CompletableFuture<List<Store>> stores() {
        return call(
                        PDGrpc.getGetAllStoresMethod(),
                        header -> GetAllStoresRequest.newBuilder()
                                .setHeader(header)
                                .setExcludeTombstoneStores(true)
                                .build(),
                        GetAllStoresResponse::getHeader)
                .thenApply(GetAllStoresResponse::getStoresList);
    }

    /**
     * The region of a key, and its leader.
     *
     * @param encodedKey memcomparable
     */
    public CompletableFuture<GetRegionResponse> region(byte[] encodedKey) {
        return call(
                PDGrpc.getGetRegionMethod(),
                header -> GetRegionRequest.newBuilder()
                        .setHeader(header)
                        .setRegionKey(ByteString.copyFrom(encodedKey))
                        .build(),
                GetRegionResponse::getHeader);
    }

    /** A region by its id, and its leader. */
    public CompletableFuture<GetRegionResponse> region(long regionId) {
        return call(
                PDGrpc.getGetRegionByIDMethod(),
                header -> GetRegionByIDRequest.newBuilder()
                        .setHeader(header)
                        .setRegionId(regionId)
                        .build(),
                GetRegionResponse::getHeader);
    }

    /** A keyspace by its name; PD_REFUSED if there is none. */
    public CompletableFuture<KeyspaceMeta> keyspace(String name) {
        return call(
                        KeyspaceGrpc.getLoadKeyspaceMethod(),
                        header -> LoadKeyspaceRequest.newBuilder()
                                .setHeader(header)
                                .setName(name)
                                .build(),
                        response -> response.getHeader())
                .thenApply(response -> response.getKeyspace());
    }

    /** A keyspace by its id; empty if there is none. PD answers with the next one that there is, so the id is compared (worker.md 14.3). */
    public CompletableFuture<Optional<KeyspaceMeta>> keyspace(int keyspaceId) {
        return call(
                        KeyspaceGrpc.getGetAllKeyspacesMethod(),
                        header -> GetAllKeyspacesRequest.newBuilder()
                                .setHeader(header)
                                .setStartId(keyspaceId)
                                .setLimit(1)
                                .build(),
                        response -> response.getHeader())
                .thenApply(response -> response.getKeyspacesList().stream()
                        .filter(found -> found.getId() == keyspaceId)
                        .findFirst());
    }

    /** The global safe point: versions that no read older than it sees may be dropped. */
    public CompletableFuture<Long> gcSafePoint() {
        return call(
                        PDGrpc.getGetGCSafePointMethod(),
                        header -> GetGCSafePointRequest.newBuilder()
                                .setHeader(header)
                                .build(),
                        GetGCSafePointResponse::getHeader)
                .thenApply(GetGCSafePointResponse::getSafePoint);
    }

    /** Safe points of keyspaces that have one of their own. */
    public CompletableFuture<List<GCSafePointV2>> keyspaceGcSafePoints() {
        return call(
                        PDGrpc.getGetAllGCSafePointV2Method(),
                        header -> GetAllGCSafePointV2Request.newBuilder()
                                .setHeader(header)
                                .build(),
                        GetAllGCSafePointV2Response::getHeader)
                .thenApply(GetAllGCSafePointV2Response::getGcSafePointsList);
    }

    /** The least of all current timestamps. */
    public CompletableFuture<Long> minTimestamp() {
        return call(
                        PDGrpc.getGetMinTSMethod(),
                        header -> GetMinTSRequest.newBuilder().setHeader(header).build(),
                        GetMinTSResponse::getHeader)
                .thenApply(response -> TsoBatcher.compose(
                        response.getTimestamp().getPhysical(),
                        response.getTimestamp().getLogical()));
    }

    /** Items of the global configuration below a path. */
    public CompletableFuture<List<GlobalConfigItem>> globalConfig(String path) {
        return call(
                        PDGrpc.getLoadGlobalConfigMethod(),
                        header -> LoadGlobalConfigRequest.newBuilder()
                                .setConfigPath(path)
                                .build(),
                        response -> ResponseHeader.getDefaultInstance())
                .thenApply(LoadGlobalConfigResponse::getItemsList);
    }

    /**
     * A timestamp: {@code (physicalMillis << 18) + logical}. Waiting requests share one message (worker.md 18.3).
     *
     * @return fails also with PD_UNAVAILABLE if 65,536 are waiting already
     */
    public CompletableFuture<Long> timestamp() {
        return timestamps.take(1);
    }

    /**
     * Consecutive timestamps, which no one else gets.
     *
     * @param count 1 .. 65,536
     * @return the last of them
     */
    public CompletableFuture<Long> timestamps(int count) {
        return timestamps.take(count);
    }

    PdLink link() {
        return link;
    }

    private <Q, R> CompletableFuture<R> call(
            MethodDescriptor<Q, R> method, Function<RequestHeader, Q> request, Function<R, ResponseHeader> header) {
        return send(new Call<>(method, request, header), link, 1, 1);
    }

    private record Call<Q, R>(
            MethodDescriptor<Q, R> method, Function<RequestHeader, Q> request, Function<R, ResponseHeader> header) {}

    private <Q, R> CompletableFuture<R> send(Call<Q, R> call, PdLink on, int sends, int sendsOnLink) {
        return Calls.unary(on.channel(), call.method(), call.request().apply(on.header()), PdConnector.TIMEOUT)
                .thenApply(answer -> {
                    PdConnector.check(name(call), call.header().apply(answer));
                    return answer;
                })
                .exceptionallyCompose(thrown -> {
                    Throwable failure = Failures.unwrap(thrown);
                    if (!isRetryable(failure)) {
                        return CompletableFuture.failedFuture(asPdException(name(call), failure));
                    }
                    if (sends >= MOST_SENDS) {
                        return CompletableFuture.failedFuture(PdException.unavailable(name(call), failure));
                    }
                    if (sendsOnLink < MOST_SENDS_ON_A_LINK && !isLeaderChange(failure)) {
                        return later(RESEND_PAUSE_MILLIS)
                                .thenCompose(nothing -> send(call, on, sends + 1, sendsOnLink + 1));
                    }
                    return reconnected(on).thenCompose(next -> send(call, next, sends + 1, 1));
                });
    }

    private static String name(Call<?, ?> call) {
        return call.method().getBareMethodName();
    }

    /** The link after {@code old}; {@code old} again if no leader is found now, since the next send counts as well. */
    CompletableFuture<PdLink> reconnected(PdLink old) {
        try {
            return CompletableFuture.supplyAsync(() -> reconnect(old), loop)
                    .thenCompose(Function.identity())
                    .exceptionally(failure -> old);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.failedFuture(closed(e));
        }
    }

    /** On the loop's thread: one look-up at a time, a second apart. */
    private CompletableFuture<PdLink> reconnect(PdLink old) {
        if (link != old) {
            return CompletableFuture.completedFuture(link);
        }
        if (reconnecting != null) {
            return reconnecting;
        }
        long waitNanos = Math.max(0, lastConnectNanos + RECONNECT_APART_NANOS - clock.nanoTime());
        CompletableFuture<PdLink> found = new CompletableFuture<>();
        reconnecting = found;
        loop.schedule(
                () -> {
                    lastConnectNanos = clock.nanoTime();
                    CompletableFuture.completedFuture(knownUrls())
                            .thenCompose(connector::connect)
                            .whenCompleteAsync((next, failure) -> connected(found, next, failure), loop)
                            .exceptionally(
                                    failure -> { // perhaps the loop has ended, and nobody was told
                                        found.completeExceptionally(closed(failure));
                                        return null;
                                    });
                },
                waitNanos,
                TimeUnit.NANOSECONDS);
        return found;
    }

    private void connected(CompletableFuture<PdLink> found, PdLink next, Throwable thrown) {
        reconnecting = null;
        Throwable failure = thrown == null ? null : Failures.unwrap(thrown);
        if (failure == null && next.clusterId() != link.clusterId()) {
            failure = new PdException(
                    ErrorCode.PD_UNAVAILABLE,
                    ErrorType.UNKNOWN,
                    "another cluster answers: clusterId=" + link.clusterId() + " answered=" + next.clusterId(),
                    null);
        }
        if (failure != null) {
            LOG.warn("can't find PD's leader: cause={}", failure.getMessage());
            found.completeExceptionally(failure);
            return;
        }
        if (!next.leaderUrl().equals(link.leaderUrl())) {
            LOG.info("PD has a new leader: old={} new={}", link.leaderUrl(), next.leaderUrl());
        }
        link = next;
        found.complete(next);
    }

    private List<String> knownUrls() {
        List<String> urls = new ArrayList<>(link.memberUrls());
        config.endpoints().stream().filter(url -> !urls.contains(url)).forEach(urls::add);
        return urls;
    }

    private CompletableFuture<Void> later(long millis) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        try {
            loop.schedule(() -> done.complete(null), millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            done.completeExceptionally(closed(e));
        }
        return done;
    }

    static CoplaneException closed(Throwable cause) {
        return new CoplaneException(ErrorCode.SHUTTING_DOWN, "PD client is closed", cause);
    }

    static boolean isRetryable(Throwable failure) {
        if (failure instanceof PdException) {
            return isLeaderChange(failure);
        }
        if (failure instanceof CoplaneException) {
            return false;
        }
        return switch (Status.fromThrowable(failure).getCode()) {
            case UNAVAILABLE,
                    DEADLINE_EXCEEDED,
                    CANCELLED,
                    UNKNOWN,
                    INTERNAL,
                    ABORTED,
                    FAILED_PRECONDITION,
                    RESOURCE_EXHAUSTED -> true;
            case OK,
                    INVALID_ARGUMENT,
                    NOT_FOUND,
                    ALREADY_EXISTS,
                    PERMISSION_DENIED,
                    OUT_OF_RANGE,
                    UNIMPLEMENTED,
                    DATA_LOSS,
                    UNAUTHENTICATED -> false;
        };
    }

    /** PD tells of a lost leadership in words only. */
    static boolean isLeaderChange(Throwable failure) {
        String message = failure.getMessage();
        return message != null && message.contains("not leader");
    }

    private static PdException asPdException(String method, Throwable failure) {
        return failure instanceof PdException e ? e : PdException.unavailable(method, failure);
    }

    /** Ends the thread; calls in work fail. Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            loop.execute(timestamps::close);
            loop.shutdown();
        }
    }
}
