package io.coplane.worker.grpc;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Gives up the calls of a server's connection that stand still, though the connection is alive: gRPC itself would wait for them for ever. Their streams are reset, and their
 * calls end as if the client had cancelled them, so that what they hold is freed.
 *
 * <p>Belongs to the connection's event loop.
 */
final class StreamWatch {
    private static final int CHECKS_PER_IDLE_TIME = 4;

    private final long periodNanos;
    private final long writeIdleNanos;
    private Http2ConnectionHandler http2; // null until the connection has begun to speak it
    private Http2Connection.PropertyKey key;
    private Future<?> checks;

    /** When a stream was last seen to move. */
    private static final class Moves {
        private long takenNanos = System.nanoTime();
    }

    /**
     * @param writeIdle a call whose client takes nothing of its answer for between one and a half and two times so long is given up: who sends pages tells a client after the
     *     time itself, and that is to be read too
     */
    StreamWatch(Duration writeIdle) {
        periodNanos = Math.max(1, writeIdle.toNanos() / CHECKS_PER_IDLE_TIME);
        writeIdleNanos = writeIdle.toNanos() / 2 * 3;
    }

    /** The connection begins. */
    void start(ChannelHandlerContext ctx) {
        checks =
                ctx.executor().scheduleWithFixedDelay(() -> check(ctx), periodNanos, periodNanos, TimeUnit.NANOSECONDS);
    }

    /** The connection is over. Idempotent. */
    void stop() {
        if (checks != null) {
            checks.cancel(false);
            checks = null;
        }
    }

    /** The client takes more of a stream, or with 0 of the connection. */
    void windowGrows(int stream) {
        if (http2 != null) {
            Http2Stream known = http2.connection().stream(stream);
            if (known != null) {
                moves(known).takenNanos = System.nanoTime();
            }
        }
    }

    private boolean isBegun(ChannelHandlerContext ctx) {
        if (http2 == null) {
            http2 = ctx.pipeline().get(Http2ConnectionHandler.class);
            if (http2 != null) {
                key = http2.connection().newKey();
            }
        }
        return http2 != null;
    }

    private Moves moves(Http2Stream stream) {
        Moves moves = stream.getProperty(key);
        if (moves == null) {
            moves = new Moves();
            stream.setProperty(key, moves);
        }
        return moves;
    }

    private void check(ChannelHandlerContext ctx) {
        if (!isBegun(ctx)) {
            return;
        }
        long now = System.nanoTime();
        List<Http2Stream> untaken = new ArrayList<>();
        try {
            http2.connection().forEachActiveStream(stream -> {
                if (isUntaken(stream, now)) {
                    untaken.add(stream);
                }
                return true;
            });
        } catch (Http2Exception e) {
            ctx.fireExceptionCaught(e);
        }
        untaken.forEach(stream -> reset(ctx, stream, Http2Error.CANCEL, "client does not take the answer"));
    }

    /** True if frames of the stream wait for its window, or the connection's, and that one has not grown for too long. */
    private boolean isUntaken(Http2Stream stream, long now) {
        Http2RemoteFlowController flow = http2.connection().remote().flowController();
        Http2Stream all = http2.connection().connectionStream();
        Moves moves = moves(stream);
        boolean isConnectionFull = flow.windowSize(all) <= 0;
        if (!flow.hasFlowControlled(stream) || flow.windowSize(stream) > 0 && !isConnectionFull) {
            moves.takenNanos = now;
            return false;
        }
        return now - moves.takenNanos >= writeIdleNanos
                && (flow.windowSize(stream) <= 0 || now - moves(all).takenNanos >= writeIdleNanos);
    }

    private void reset(ChannelHandlerContext ctx, Http2Stream stream, Http2Error code, String why) {
        // through gRPC's own handling of errors, which ends the call too
        http2.onError(ctx.pipeline().context(http2), true, Http2Exception.streamError(stream.id(), code, "%s", why));
    }
}
