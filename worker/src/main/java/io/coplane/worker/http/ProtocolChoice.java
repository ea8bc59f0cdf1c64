package io.coplane.worker.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.timeout.ReadTimeoutHandler;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Goes on with the protocol that client and server agreed on in the handshake; HTTP/1.1 where they did not. */
@SuppressWarnings("FutureReturnValueIgnored") // of close: a failed one ends in channelInactive
final class ProtocolChoice extends ApplicationProtocolNegotiationHandler {
    private static final Logger LOG = LoggerFactory.getLogger(ProtocolChoice.class);
    private static final int MOST_STREAMS = 1024;
    private static final int WINDOW_BYTES = 2 << 20;

    private final HttpServer server;

    ProtocolChoice(HttpServer server) {
        super(ApplicationProtocolNames.HTTP_1_1);
        this.server = server;
    }

    @Override
    protected void configurePipeline(ChannelHandlerContext ctx, String protocol) {
        Channel channel = ctx.channel();
        if (!protocol.equals(ApplicationProtocolNames.HTTP_2)) {
            channel.config().setAutoRead(false);
            server.http1(channel);
            return;
        }
        server.multiplexed(channel);
        Http2Settings settings = Http2Settings.defaultSettings()
                .maxConcurrentStreams(MOST_STREAMS)
                .initialWindowSize(WINDOW_BYTES)
                .maxHeaderListSize(server.limits().maxHeaderBytes());
        Http2FrameCodec codec = Http2FrameCodecBuilder.forServer()
                .initialSettings(settings)
                .gracefulShutdownTimeoutMillis(server.shutdownTimeout().toMillis())
                .build();
        channel.pipeline()
                .addLast(
                        new IdleConnection(codec, server.limits().headTimeout()),
                        codec,
                        new Http2MultiplexHandler(new ChannelInitializer<>() {
                            @Override
                            protected void initChannel(Channel stream) {
                                stream.config().setAutoRead(false);
                                if (server.isFull()) {
                                    stream.pipeline().addLast(new Refusal());
                                    return;
                                }
                                stream.pipeline()
                                        .addLast(
                                                new Http2StreamFrameToHttpObjectCodec(true),
                                                new Connection(server, stream));
                            }
                        }),
                        new Failures());
    }

    /** Closes a connection that had no stream, and brought nothing, for a whole timeout. One whose request is in work says nothing, perhaps for long. */
    private static final class IdleConnection extends ReadTimeoutHandler {
        private final Http2FrameCodec codec;
        private boolean hadStreams;

        private IdleConnection(Http2FrameCodec codec, Duration timeout) {
            super(timeout.toMillis(), TimeUnit.MILLISECONDS);
            this.codec = codec;
        }

        @Override
        protected void readTimedOut(ChannelHandlerContext ctx) throws Exception {
            boolean hasStreams = codec.connection().numActiveStreams() > 0;
            if (!hasStreams && !hadStreams) {
                super.readTimedOut(ctx);
            }
            hadStreams = hasStreams;
        }
    }

    /** A stream too many: the client may send its request again, since nobody looked at it. */
    private static final class Refusal extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.REFUSED_STREAM))
                    .addListener(ChannelFutureListener.CLOSE);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
        }
    }

    /** The end of a connection's pipeline: what a client does wrong ends its connection and is no matter for the log. */
    private static final class Failures extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            LOG.debug("connection failed: peer={} cause={}", ctx.channel().remoteAddress(), cause.getMessage());
            ctx.close();
        }
    }

    @Override
    protected void handshakeFailure(ChannelHandlerContext ctx, Throwable cause) {
        LOG.debug("handshake failed: peer={} cause={}", ctx.channel().remoteAddress(), cause.getMessage());
        ctx.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        LOG.debug("connection failed: peer={} cause={}", ctx.channel().remoteAddress(), cause.getMessage());
        ctx.close();
    }
}
