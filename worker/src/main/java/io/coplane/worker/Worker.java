package io.coplane.worker;

import io.coplane.compaction.CompactionJournals;
import io.coplane.engine.CompactionSettings;
import io.coplane.engine.DataPlane;
import io.coplane.engine.DataPlaneConfig;
import io.coplane.engine.DelegatedAnswer;
import io.coplane.engine.DelegatedRequest;
import io.coplane.engine.TxnChunkSettings;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.store.FilePeers;
import io.coplane.nativecache.store.RemoteCachedStore;
import io.coplane.proto.metapb.Store;
import io.coplane.worker.config.Machine;
import io.coplane.worker.config.OwnConfig;
import io.coplane.worker.config.WorkerConfig;
import io.coplane.worker.encryption.WriteKeys;
import io.coplane.worker.grpc.DataPlaneService;
import io.coplane.worker.grpc.DelegateClient;
import io.coplane.worker.grpc.GrpcChannels;
import io.coplane.worker.grpc.GrpcServer;
import io.coplane.worker.http.HttpLimits;
import io.coplane.worker.http.HttpServer;
import io.coplane.worker.http.RequestLog;
import io.coplane.worker.pd.PdClient;
import io.coplane.worker.pd.PdFileIds;
import io.coplane.worker.tls.Tls;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running worker: store, data plane, HTTP server. Owns all three until {@link #close()}. Thread-safe. */
public final class Worker implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

    private final Deque<AutoCloseable> owned = new ArrayDeque<>();
    private DataPlane plane;
    private MemoryLimiter bodies;
    private HttpServer server;
    private Clock clock;
    private GrpcServer grpc;
    private Duration shutdownTimeout = Duration.ZERO;
    private long closeEndNanos;

    private Worker() {}

    /**
     * Starts a worker.
     *
     * @throws CoplaneException BAD_CONFIG for what can't be: a backend that is not built, a directory that is not there, an address in use
     */
    public static Worker start(WorkerConfig config, Machine machine) {
        Worker worker = new Worker();
        try {
            worker.open(config, machine);
            return worker;
        } catch (RuntimeException e) {
            worker.close();
            throw e;
        }
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return server.address();
    }

    /** Where it listens for gRPC; null where it does not. */
    public InetSocketAddress grpcAddress() {
        return grpc == null ? null : grpc.address();
    }

    /** What all requests hold. */
    public MemoryLimiter memory() {
        return plane.memory();
    }

    /** What bodies of HTTP requests and messages of gRPC hold until they are decoded; beside {@link #memory}. */
    public MemoryLimiter bodies() {
        return bodies;
    }

    /** Bytes of {@link #memory} that the block cache holds. */
    public long cachedBytes() {
        return plane.cachedBytes();
    }

    /** Requests between their arrival and their answer. */
    public int requestsInWork() {
        return plane.requestsInWork();
    }

    /** As {@link DataPlane#heldPermits()}. */
    public long heldPermits() {
        return plane.heldPermits();
    }

    /**
     * Stops accepting on all ports, finishes what is in work, closes the data plane, then the store. All together wait for work no longer than the
     * shutdown timeout; what runs beyond is given up. Idempotent.
     */
    @Override
    public void close() {
        closeEndNanos = System.nanoTime() + shutdownTimeout.toNanos();
        if (server != null) {
            server.stopAccepting();
        }
        if (grpc != null) {
            grpc.stopAccepting();
        }
        while (!owned.isEmpty()) {
            AutoCloseable next = owned.pop();
            try {
                next.close();
            } catch (Exception e) {
                LOG.error("can't close: what={}", next, e);
            }
        }
        if (plane != null && (plane.memory().usedBytes() != 0 || bodies.usedBytes() != 0)) {
            LOG.error(
                    "memory is held after the last request: bytes={} bodyBytes={}",
                    plane.memory().usedBytes(),
                    bodies.usedBytes());
        }
    }

    /**
     * Whether a worker would start, as far as that can be told without PD, key service, object store and sockets.
     *
     * @throws CoplaneException BAD_CONFIG if it would not
     */
    static void requireServable(WorkerConfig config) {
        OpenStore.requireThere(config.dfs());
        config.security().masterKey().requireBuilt();
        MetricsPush.requireAddress(config.pushMetricsAddr());
        if (config.isRegistered() && config.pd().endpoints().isEmpty()) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "register needs pd.endpoints");
        }
    }

    private Duration left() {
        return Duration.ofNanos(Math.max(0, closeEndNanos - System.nanoTime()));
    }

    private void open(WorkerConfig config, Machine machine) {
        requireServable(config);
        OwnConfig own = config.own();
        shutdownTimeout = own.shutdownTimeout();
        PrometheusRegistry registry = new PrometheusRegistry();
        OpenStore open = OpenStore.of(config.dfs(), own.storeThreads(), registry);
        ObjectStore store = open.store();
        owned.push(store);
        bodies = new MemoryLimiter(own.maxInflightBodyBytes().resolve(machine.memoryBytes()));
        DataPlaneConfig planeConfig =
                besideOthers(config.dataPlane(machine), machine, open.nativeBytes() + bodies.capBytes());
        ProcessMetrics.register(registry, machine);
        ProcessMetrics.registerBodies(registry, bodies);
        clock = own.fixedClockMicros().isPresent()
                ? new FixedClock(own.fixedClockMicros().getAsLong())
                : Clock.system();
        Optional<Tls> tls =
                config.security().isTls() ? Optional.of(new Tls(config.security(), clock, registry)) : Optional.empty();
        GrpcChannels channels = new GrpcChannels(tls.map(context -> context::grpcClient), own.maxGrpcMessageBytes());
        owned.push(channels);
        Optional<PdClient> pd = pd(config, channels);
        CompactionSettings compaction =
                journaled(config.compaction(planeConfig, machine), own.compactJournalDir(), clock);
        FilePeers peers = new FilePeers(tls.map(Tls::httpClient), clock);
        owned.push(peers);
        long ttlMillis = config.copRemoteDfsCacheTtl().toMillis();
        plane = DataPlane.open(
                planeConfig,
                pd.map(client -> compaction.withIds(new PdFileIds(client, clock)))
                        .orElse(compaction),
                chunks(config, planeConfig, tls, pd),
                store,
                clock,
                registry,
                (plain, address) -> new RemoteCachedStore(plain, peers, address, ttlMillis, clock));
        owned.push(() -> plane.close(left()));
        pd.ifPresent(owned::push); // closed before the data plane too: a compaction that waits for ids ends by that
        RequestLog log = new RequestLog(own.slowLogThreshold());
        HttpLimits limits = new HttpLimits(
                own.maxBodyBytes(),
                own.maxHeaderBytes(),
                own.maxConnections(),
                own.headTimeout(),
                own.bodyIdleTimeout(),
                own.writeIdleTimeout());
        server = HttpServer.builder(plane::coprocessor, bodies, limits)
                .compactor(plane::compact)
                .txnChunks(plane::txnChunk)
                .metrics(registry)
                .statusPage(() -> StatusPage.html(plane, bodies, server))
                .clock(clock)
                .log(log)
                .tls(tls.map(Tls::httpServer))
                .ioThreads(own.ioThreads() > 0 ? own.ioThreads() : (int) Math.ceil(machine.cpuQuota()))
                .shutdownTimeout(own.shutdownTimeout())
                .start(config.addr());
        owned.push(() -> server.close(left()));
        openGrpc(config, tls, channels, pd, log);
        openPush(config, registry);
        LOG.info(
                "listening: addr={} threads={} memoryCapBytes={} store={}",
                server.address(),
                planeConfig.workerThreads(),
                planeConfig.memoryCapBytes(),
                open.name());
    }

    /** With journals where a folder is configured. */
    private CompactionSettings journaled(CompactionSettings compaction, String folder, Clock clock) {
        if (folder.isEmpty()) {
            return compaction;
        }
        var journals = CompactionJournals.open(Path.of(folder), clock, CompactionJournals.Limits.DEFAULT);
        owned.push(journals);
        return compaction.withJournals(journals);
    }

    /** How txn chunks are written; without PD none are. */
    private TxnChunkSettings chunks(
            WorkerConfig config, DataPlaneConfig plane, Optional<Tls> tls, Optional<PdClient> pd) {
        if (pd.isEmpty()) {
            return TxnChunkSettings.none();
        }
        PdClient client = pd.get();
        WriteKeys keys = new WriteKeys(client, plane.masterKey(), tls.map(Tls::httpClient));
        owned.push(keys);
        return new TxnChunkSettings(config.txnChunkTargetBlockBytes(), keys, () -> client.timestamps(1));
    }

    /** PD, or nothing for a worker that stands alone. */
    private Optional<PdClient> pd(WorkerConfig config, GrpcChannels channels) {
        if (config.pd().endpoints().isEmpty()) {
            return Optional.empty();
        }
        PdClient client = connect(config, channels);
        owned.push(client);
        return Optional.of(client);
    }

    /** The server of {@code cop-addr}, and the registration; each where the configuration asks for it. */
    private void openGrpc(
            WorkerConfig config, Optional<Tls> tls, GrpcChannels channels, Optional<PdClient> pd, RequestLog log) {
        config.copAddr().ifPresent(address -> {
            DelegateClient delegate =
                    new DelegateClient(channels, plane.memory(), storeId -> storeAddress(pd, storeId));
            owned.push(delegate);
            DataPlaneService own = new DataPlaneService(
                    plane,
                    new DataPlaneService.Options(
                            Version.text(),
                            config.own().isGrpcPermitted(),
                            config.own().maxGrpcMessageBytes(),
                            config.own().writeIdleTimeout()));
            owned.push(own);
            grpc = GrpcServer.start(
                    address,
                    call -> logged(call, log),
                    delegate,
                    Optional.of(own),
                    new GrpcServer.Options(
                            tls.map(Tls::grpcServer),
                            Set.copyOf(config.security().certAllowedCn()),
                            config.own().isGrpcPermitted(),
                            new GrpcServer.Limits(
                                    config.own().maxGrpcMessageBytes(),
                                    config.own().maxConnections(),
                                    plane.memory(),
                                    bodies,
                                    config.own().bodyIdleTimeout(),
                                    config.own().writeIdleTimeout()),
                            config.own().shutdownTimeout()));
            owned.push(() -> grpc.close(left()));
            LOG.info(
                    "listening for gRPC: addr={} pd={}",
                    grpc.address(),
                    config.pd().endpoints());
        });
        if (config.isRegistered()) {
            owned.push(new Registration(
                    pd.orElseThrow(), config.addrText(), tls.map(Tls::httpClient), config.updateInterval()));
        }
    }

    private CompletableFuture<DelegatedAnswer> logged(DelegatedRequest call, RequestLog log) {
        long start = clock.nanoTime();
        return plane.coprocessor(call).whenComplete((answer, bug) -> {
            if (bug == null) {
                log.write(new RequestLog.Line(
                        "grpc coprocessor",
                        answer.tag(),
                        answer.grpcStatus(),
                        call.request().getSerializedSize(),
                        answer.response() == null ? 0 : answer.response().length,
                        0,
                        clock.nanoTime() - start,
                        answer.work(),
                        "store="
                                + Long.toUnsignedString(
                                        call.request().getContext().getPeer().getStoreId()),
                        call.isAbandoned().getAsBoolean()));
            }
        });
    }

    private void openPush(WorkerConfig config, PrometheusRegistry registry) {
        MetricsPush.of(
                        config.pushMetricsAddr(),
                        config.pushMetricsInterval(),
                        System.getenv(),
                        registry,
                        config.own().isEveryMetricPushed())
                .ifPresent(owned::push);
    }

    private PdClient connect(WorkerConfig config, GrpcChannels channels) {
        try {
            return PdClient.connect(config.pd(), channels, clock);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CoplaneException(ErrorCode.SHUTTING_DOWN, "interrupted while connecting to PD", e);
        }
    }

    private static CompletableFuture<String> storeAddress(Optional<PdClient> pd, long storeId) {
        return pd.map(client -> client.store(storeId).thenApply(Store::getAddress))
                .orElseGet(() -> CompletableFuture.failedFuture(new CoplaneException(
                        ErrorCode.BAD_CONFIG,
                        "no pd.endpoints are configured, so the address of store " + Long.toUnsignedString(storeId)
                                + " is not known")));
    }

    /** Heap, bodies and what the store holds of its own are not the limiter's: they are kept out of the cap, so that all together fit the machine. */
    private static DataPlaneConfig besideOthers(DataPlaneConfig config, Machine machine, long otherBytes) {
        long most = machine.memoryBytes() - Runtime.getRuntime().maxMemory() - otherBytes;
        if (most <= 0) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG,
                    "heap, bodies and the object store's client leave no memory for requests: machineBytes="
                            + machine.memoryBytes() + " heapBytes="
                            + Runtime.getRuntime().maxMemory() + " otherBytes=" + otherBytes);
        }
        if (config.memoryCapBytes() <= most) {
            return config;
        }
        LOG.info(
                "memory cap is lowered to leave room for heap and bodies: configuredBytes={} capBytes={}",
                config.memoryCapBytes(),
                most);
        return config.withMemoryCapBytes(most);
    }
}
