package io.coplane.worker.http;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimiter;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import jdk.net.ExtendedSocketOptions;

/**
 * HTTP server of the routes of worker.md 5: HTTP/1.1, over TLS HTTP/2 as well. Owns its socket, connections and I/O threads until {@link #close}. Thread-safe.
 *
 * <p>Each connection has one request in work; pipelined ones wait in order. Bodies and their charge live until the data plane has read them, so
 * close the data plane after the server.
 */
@SuppressWarnings("FutureReturnValueIgnored") // of closes, whose end the connections tell
public final class HttpServer implements AutoCloseable {
    private static final int BACKLOG = 1024;
    private static final int HEAP_PART = 4;
    private static final int KEEP_ALIVE_SECONDS = 120;
    private static final int MOST_LINE_BYTES = 16 << 10;
    private static final int MOST_PIECE_BYTES = 64 << 10;
    /** More requests than one read can bring; nothing is read while any waits. */
    private static final int MOST_PIPELINED = 8192;

    private static final Duration GROUP_STOP = Duration.ofSeconds(5);

    private final HttpLimits limits;
    private final CopService service;
    private final CompactService compactor;
    private final TxnChunkService txnChunks;
    private final MemoryLimiter bodies;
    private final Pages pages;
    private final AnswerBudget answers;
    private final Clock clock;
    private final RequestLog log;
    private final Duration shutdownTimeout;
    private final Optional<SslContext> tls;
    private final ChannelGroup multiplexed = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final EventLoopGroup group;
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connectionCount = new AtomicInteger();
    private final LongAdder requests = new LongAdder();
    private final Object emptied = new Object();
    private volatile boolean closing;
    private Channel socket;

    private HttpServer(Builder builder) {
        limits = builder.limits;
        service = builder.service;
        compactor = builder.compactor;
        txnChunks = builder.txnChunks;
        bodies = builder.bodies;
        answers = new AnswerBudget(builder.mostAnswerBytes);
        pages = new Pages(builder.registry, builder.statusPage);
        clock = builder.clock;
        log = builder.log;
        shutdownTimeout = builder.shutdownTimeout;
        tls = builder.tls;
        group = new MultiThreadIoEventLoopGroup(
                builder.ioThreads, new DefaultThreadFactory("coplane-io", true), NioIoHandler.newFactory());
    }

    /**
     * A server to be.
     *
     * @param service answers {@code /coprocessor}
     * @param bodies account of request bodies, charged before they are held, until the data plane has read them
     */
    public static Builder builder(CopService service, MemoryLimiter bodies, HttpLimits limits) {
        return new Builder(service, bodies, limits);
    }

    /** What a server is started from. */
    public static final class Builder {
        private final CopService service;
        private final MemoryLimiter bodies;
        private final HttpLimits limits;
        private CompactService compactor;
        private TxnChunkService txnChunks;
        private PrometheusRegistry registry = new PrometheusRegistry();
        private Supplier<String> statusPage = () -> "";
        private Clock clock = Clock.system();
        private RequestLog log = new RequestLog(Duration.ZERO);
        private int ioThreads = 1;
        private long mostAnswerBytes = Runtime.getRuntime().maxMemory() / HEAP_PART;
        private Duration shutdownTimeout = Duration.ofSeconds(60);
        private Optional<SslContext> tls = Optional.empty();

        private Builder(CopService service, MemoryLimiter bodies, HttpLimits limits) {
            this.service = service;
            this.bodies = bodies;
            this.limits = limits;
        }

        /** What {@code /metrics} shows; default nothing. */
        public Builder metrics(PrometheusRegistry value) {
            registry = value;
            return this;
        }

        /** Answers {@code /compact}; without it the path is not there. */
        public Builder compactor(CompactService value) {
            compactor = value;
            return this;
        }

        /** Answers {@code /txn_chunk}; without it the path is not there. */
        public Builder txnChunks(TxnChunkService value) {
            txnChunks = value;
            return this;
        }

        /** HTML of {@code /coplane/}, made anew for each request. */
        public Builder statusPage(Supplier<String> value) {
            statusPage = value;
            return this;
        }

        /** What timeouts and log lines are measured by. */
        public Builder clock(Clock value) {
            clock = value;
            return this;
        }

        /** Bytes of answers that may wait for their clients; default a quarter of the heap. */
        public Builder mostAnswerBytes(long value) {
            mostAnswerBytes = value;
            return this;
        }

        /** Where requests are logged; default: none is slow. */
        public Builder log(RequestLog value) {
            log = value;
            return this;
        }

        /** Threads that read and write; default 1. */
        public Builder ioThreads(int value) {
            ioThreads = value;
            return this;
        }

        /** How long {@link HttpServer#close} waits for requests in work; default 60 s. */
        public Builder shutdownTimeout(Duration value) {
            shutdownTimeout = value;
            return this;
        }

        /** Default: plain text, HTTP/1.1. With TLS, HTTP/2 by ALPN as well. */
        public Builder tls(Optional<SslContext> value) {
            tls = value;
            return this;
        }

        /** Binds and starts; a port of 0 takes a free one. */
        public HttpServer start(InetSocketAddress address) {
            HttpServer server = new HttpServer(this);
            try {
                server.bind(address);
                return server;
            } catch (RuntimeException e) {
                server.stopGroup();
                throw e;
            }
        }
    }

    /** The address that it listens on. */
    public InetSocketAddress address() {
        return (InetSocketAddress) socket.localAddress();
    }

    /** Open connections, those in their handshake included; one of HTTP/2 counts once. */
    public int connectionCount() {
        return connectionCount.get();
    }

    /** Requests received since the start, of all routes. */
    public long requestCount() {
        return requests.sum();
    }

    /** Takes no more connections and ends those without a request in work; the others end after their answer. Idempotent. */
    public void stopAccepting() {
        closing = true;
        socket.close().awaitUninterruptibly();
        connections.forEach(Connection::finishUp);
        multiplexed.close();
    }

    /** Stops accepting, lets requests in work finish within the shutdown timeout, then closes what is left. Idempotent. */
    @Override
    public void close() {
        close(shutdownTimeout);
    }

    /** As the other one, with what is left of a timeout that others share. */
    public void close(Duration within) {
        stopAccepting();
        awaitNoConnections(within);
        connections.forEach(Connection::closeNow);
        awaitNoConnections(GROUP_STOP);
        stopGroup();
    }

    private void awaitNoConnections(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        boolean interrupted = false;
        synchronized (emptied) {
            while (!connections.isEmpty() && !interrupted) {
                long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                if (left <= 0) {
                    break;
                }
                try {
                    emptied.wait(left);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void stopGroup() {
        group.shutdownGracefully(0, GROUP_STOP.toMillis(), TimeUnit.MILLISECONDS)
                .awaitUninterruptibly(GROUP_STOP.toMillis());
    }

    private void bind(InetSocketAddress address) {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), KEEP_ALIVE_SECONDS)
                .childOption(ChannelOption.AUTO_READ, false)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        open(channel);
                    }
                });
        ChannelFuture bound = bootstrap.bind(address).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG,
                    "can't listen: addr=" + address + " cause=" + bound.cause().getMessage(),
                    bound.cause());
        }
        socket = bound.channel();
    }

    private void open(SocketChannel channel) {
        channel.closeFuture().addListener(end -> connectionCount.decrementAndGet());
        if (connectionCount.incrementAndGet() > limits.maxConnections() || closing) {
            channel.close();
            return;
        }
        if (tls.isEmpty()) {
            http1(channel);
            return;
        }
        channel.config().setAutoRead(true); // until the protocol is chosen
        channel.pipeline().addLast(tls.get().newHandler(channel.alloc()), new ProtocolChoice(this));
    }

    void http1(Channel channel) {
        HttpDecoderConfig decoder = new HttpDecoderConfig()
                .setMaxInitialLineLength(MOST_LINE_BYTES)
                .setMaxHeaderSize(limits.maxHeaderBytes())
                .setMaxChunkSize(MOST_PIECE_BYTES);
        channel.pipeline().addLast(new HttpServerCodec(decoder, MOST_PIPELINED), new Connection(this, channel));
    }

    /** A connection with streams; it is told to go away when the server closes, and ends with its last stream. */
    void multiplexed(Channel channel) {
        multiplexed.add(channel);
        if (closing) {
            multiplexed.close();
        }
    }

    /** True if there are as many requests, or connections without one, as there may be connections: streams of HTTP/2 are refused then. */
    boolean isFull() {
        return connections.size() >= limits.maxConnections();
    }

    Duration shutdownTimeout() {
        return shutdownTimeout;
    }

    HttpLimits limits() {
        return limits;
    }

    AnswerBudget answers() {
        return answers;
    }

    CopService service() {
        return service;
    }

    /** Null: none. */
    CompactService compactor() {
        return compactor;
    }

    /** Null: none. */
    TxnChunkService txnChunks() {
        return txnChunks;
    }

    MemoryLimiter bodies() {
        return bodies;
    }

    Pages pages() {
        return pages;
    }

    Clock clock() {
        return clock;
    }

    RequestLog log() {
        return log;
    }

    /** True once connections are to end after their request in work. */
    boolean isClosing() {
        return closing;
    }

    void countRequest() {
        requests.increment();
    }

    void opened(Connection connection) {
        connections.add(connection);
        if (closing) { // close() may have looked before it was added
            connection.finishUp();
        }
    }

    void closed(Connection connection) {
        if (connections.remove(connection)) {
            synchronized (emptied) {
                emptied.notifyAll();
            }
        }
    }
}
