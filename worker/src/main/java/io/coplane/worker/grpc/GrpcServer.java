package io.coplane.worker.grpc;

import io.coplane.engine.DelegatedAnswer;
import io.coplane.engine.DelegatedRequest;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimiter;
import io.grpc.Server;
import io.grpc.ServerInterceptors;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The gRPC server of {@code cop-addr} (worker.md 9): {@code tikvpb.Tikv}, our own service, health and reflection. Handlers run on its I/O threads and never block. Owns
 * its sockets and I/O threads until {@link #close()}; borrows the data plane. Thread-safe.
 */
public final class GrpcServer implements AutoCloseable {
    private static final int WINDOW_BYTES = 2 << 20;
    private static final int STREAMS_PER_CONNECTION = 1024;
    private static final int KEEP_ALIVE_SECONDS = 10;
    private static final int KEEP_ALIVE_TIMEOUT_SECONDS = 3;

    private static final int GROUP_STOP_SECONDS = 5;

    private final Server server;
    private final EventLoopGroup group;
    private final HealthStatusManager health;
    private final EndlessCalls endless;
    private final Duration shutdownTimeout;

    private GrpcServer(
            Server server,
            EventLoopGroup group,
            HealthStatusManager health,
            EndlessCalls endless,
            Duration shutdownTimeout) {
        this.server = server;
        this.group = group;
        this.health = health;
        this.endless = endless;
        this.shutdownTimeout = shutdownTimeout;
    }

    /**
     * How a server is set up.
     *
     * @param tls server context that requires client certificates; empty = plain text
     * @param allowedNames common names that peers may have; empty = any
     * @param takesPermits requests take the permits of those over HTTP
     * @param limits what clients may ask of it
     * @param shutdownTimeout calls in work may take so long after {@link GrpcServer#close()}
     */
    public record Options(
            Optional<SslContext> tls,
            Set<String> allowedNames,
            boolean takesPermits,
            Limits limits,
            Duration shutdownTimeout) {
        public Options {
            allowedNames = Set.copyOf(allowedNames);
        }
    }

    /**
     * What clients may ask of a server.
     *
     * @param maxMessageBytes a larger request fails with RESOURCE_EXHAUSTED; at least 1
     * @param memory what requests are charged to before they are decoded, and answers until their clients took them
     * @param maxConnections more are closed at once, and more calls, of all connections, refused; at least 1
     * @param arriving what requests are charged to on their way in, until they were decoded
     * @param readIdleTimeout a call whose request stands still for so long is given up
     * @param writeIdleTimeout a call whose client takes nothing of its answer for so long is given up
     */
    public record Limits(
            int maxMessageBytes,
            int maxConnections,
            MemoryLimiter memory,
            MemoryLimiter arriving,
            Duration readIdleTimeout,
            Duration writeIdleTimeout) {
        private StreamWatch watch() {
            return new StreamWatch(arriving, readIdleTimeout, writeIdleTimeout);
        }
    }

    /**
     * Binds and serves.
     *
     * @param answer the data plane's {@code coprocessor}
     * @param store where the data of requests are fetched
     * @param own our own service; empty = not served
     * @throws CoplaneException BAD_CONFIG if the address can't be bound
     */
    public static GrpcServer start(
            InetSocketAddress address,
            Function<DelegatedRequest, CompletableFuture<DelegatedAnswer>> answer,
            DelegatedRequest.Store store,
            Optional<DataPlaneService> own,
            Options options) {
        Limits limits = options.limits();
        WaitingAnswers waiting = new WaitingAnswers(limits.memory());
        HealthStatusManager health = new HealthStatusManager();
        EndlessCalls endless = new EndlessCalls();
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(
                new DefaultThreadFactory("coplane-grpc", true), NioIoHandler.newFactory());
        NettyServerBuilder builder = NettyServerBuilder.forAddress(address)
                .bossEventLoopGroup(group)
                .workerEventLoopGroup(group)
                .channelFactory(() -> FrameBuffers.server(limits.maxConnections(), limits::watch))
                .intercept(new CallLimit(limits.maxConnections()))
                .directExecutor()
                .flowControlWindow(WINDOW_BYTES)
                .maxConcurrentCallsPerConnection(STREAMS_PER_CONNECTION)
                .maxInboundMessageSize(limits.maxMessageBytes())
                .keepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS)
                .keepAliveTimeout(KEEP_ALIVE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
                .permitKeepAliveTime(1, TimeUnit.MILLISECONDS)
                .permitKeepAliveWithoutCalls(true)
                .addService(CopServices.tikv(answer, store, options.takesPermits(), limits.memory(), waiting))
                .addService(ServerInterceptors.intercept(health.getHealthService(), endless))
                .addService(ServerInterceptors.intercept(ProtoReflectionServiceV1.newInstance(), endless));
        own.ifPresent(service -> builder.addService(service.definition(waiting)));
        options.tls().ifPresent(builder::sslContext);
        if (!options.allowedNames().isEmpty()) {
            builder.intercept(new CommonNameCheck(options.allowedNames()));
        }
        Server server = builder.build();
        try {
            server.start();
        } catch (IOException e) {
            stop(group);
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG, "can't listen: cop-addr=" + address + " cause=" + e.getMessage(), e);
        }
        return new GrpcServer(server, group, health, endless, options.shutdownTimeout());
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.getListenSockets().getFirst();
    }

    /** Tells health watchers, whose calls end, and takes no more calls; those in work go on. Idempotent. */
    public void stopAccepting() {
        if (!server.isShutdown()) { // it warns of the second time
            health.enterTerminalState();
        }
        server.shutdown();
        endless.end();
    }

    /** Takes no more calls and waits for those in work. Idempotent. */
    @Override
    public void close() {
        close(shutdownTimeout);
    }

    /** As the other one, with what is left of a timeout that others share. */
    public void close(Duration within) {
        stopAccepting();
        try {
            if (!server.awaitTermination(within.toMillis(), TimeUnit.MILLISECONDS)) {
                server.shutdownNow();
            }
        } catch (InterruptedException e) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        }
        stop(group);
    }

    private static void stop(EventLoopGroup group) {
        group.shutdownGracefully(0, GROUP_STOP_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly(GROUP_STOP_SECONDS, TimeUnit.SECONDS);
    }
}
