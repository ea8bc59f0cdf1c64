package io.coplane.worker.grpc;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Channels by address, each made once and kept until {@link #close()} (worker.md 9.2). Owns them and their I/O threads. Thread-safe.
 */
public final class GrpcChannels implements AutoCloseable {
    private static final int WINDOW_BYTES = 2 << 20;
    private static final int KEEP_ALIVE_SECONDS = 10;
    private static final int KEEP_ALIVE_TIMEOUT_SECONDS = 3;
    private static final int CLOSE_SECONDS = 5;
    private static final List<String> SCHEMES = List.of("http://", "https://", "grpc://");

    private final ConcurrentHashMap<String, ManagedChannel> byAddress = new ConcurrentHashMap<>();
    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(
            new DefaultThreadFactory("coplane-grpc-client", true), NioIoHandler.newFactory());
    private final Optional<Supplier<SslContext>> tls;
    private final int maxMessageBytes;

    /**
     * @param tls gives the client's context for each new channel; empty = plain text
     * @param maxMessageBytes a larger message of a peer fails its call; at least 1
     */
    public GrpcChannels(Optional<Supplier<SslContext>> tls, int maxMessageBytes) {
        this.tls = tls;
        this.maxMessageBytes = maxMessageBytes;
    }

    /**
     * The channel to an address; it connects when it is first used.
     *
     * @param address {@code host:port}, or a URL, whose scheme does not matter: the configuration decides on TLS
     * @throws CoplaneException BAD_ARGUMENT if it is neither
     */
    public ManagedChannel to(String address) {
        return byAddress.computeIfAbsent(hostAndPort(address), this::open);
    }

    private ManagedChannel open(String target) {
        NettyChannelBuilder builder = NettyChannelBuilder.forTarget("dns:///" + target)
                .eventLoopGroup(group)
                .channelFactory(FrameBuffers::client)
                .maxInboundMessageSize(maxMessageBytes)
                .flowControlWindow(WINDOW_BYTES)
                .keepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS)
                .keepAliveTimeout(KEEP_ALIVE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
                .directExecutor();
        return tls.map(context -> builder.sslContext(context.get()))
                .orElseGet(builder::usePlaintext)
                .build();
    }

    /** {@code host:port} of a plain address or a URL without a path. */
    static String hostAndPort(String address) {
        String rest = address.strip();
        for (String scheme : SCHEMES) {
            if (rest.toLowerCase(Locale.ROOT).startsWith(scheme)) {
                rest = rest.substring(scheme.length());
                break;
            }
        }
        if (rest.endsWith("/")) {
            rest = rest.substring(0, rest.length() - 1);
        }
        int colon = rest.lastIndexOf(':');
        boolean isPort = colon > 0
                && colon < rest.length() - 1
                && rest.substring(colon + 1).chars().allMatch(c -> c >= '0' && c <= '9');
        if (!isPort || rest.indexOf('/') >= 0) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "no host:port: address=" + address);
        }
        return rest;
    }

    /** Ends all channels; calls in work fail. Idempotent. */
    @Override
    public void close() {
        byAddress.values().forEach(ManagedChannel::shutdownNow);
        for (ManagedChannel channel : byAddress.values()) {
            try {
                channel.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            }
        }
        byAddress.clear();
        group.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
    }
}
