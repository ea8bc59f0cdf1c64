package io.coplane.worker.grpc;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
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
 * Bounds what the client of a server's connection may keep waiting, though the connection is alive: gRPC itself would wait for it for ever. Messages on their way in are charged as their frames
 * come; calls that stand still are given up. Their streams are reset then, and the calls end as if the client had cancelled them, so that what they hold is freed.
 *
 * <p>Belongs to the connection's event loop.
 */
final class StreamWatch {
    private static final int CHECKS_PER_IDLE_TIME = 4;
    private static final int IDLE_TIMES_PER_REQUEST = 10;

    /** What gRPC keeps on the heap for a frame that waits for the end of its message, generously. */
    static final int OBJECTS_OF_FRAME_BYTES = 1 << 10;

    private final MemoryLimiter arriving;
    private final long readIdleNanos;
    private final long periodNanos;
    private final long writeIdleNanos;
    private MemoryGuard charge;
    private Runnable freeRead;
    private Http2ConnectionHandler http2; // null until the connection has begun to speak it
    private Http2Connection.PropertyKey key;
    private Future<?> checks;

    /** When a stream was last seen to move. */
    private static final class Moves {
        private final long beganNanos = System.nanoTime();
        private long arrivedNanos = beganNanos;
        private long takenNanos = beganNanos;
    }

    /**
     * @param arriving what messages are charged to until they were read
     * @param readIdle a call whose request stands still for so long is given up, a fourth of it later at most; so is one whose request takes ten times that
     * @param writeIdle a call whose client takes nothing of its answer for between one and a half and two times so long is given up: who sends pages tells a client after the
     *     time itself, and that is to be read too
     */
    StreamWatch(MemoryLimiter arriving, Duration readIdle, Duration writeIdle) {
        this.arriving = arriving;
        readIdleNanos = readIdle.toNanos();
        periodNanos = Math.max(1, Math.min(readIdleNanos, writeIdle.toNanos()) / CHECKS_PER_IDLE_TIME);
        writeIdleNanos = writeIdle.toNanos() / 2 * 3;
    }

    /**
     * The connection begins.
     *
     * @param freeRead calls {@link #read} of what was read
     */
    void start(ChannelHandlerContext ctx, Runnable freeRead) {
        this.freeRead = freeRead;
        charge = arriving.acquire(0);
        checks = ctx.executor()
                .scheduleWithFixedDelay(
                        () -> {
                            freeRead.run();
                            check(ctx);
                        },
                        periodNanos,
                        periodNanos,
                        TimeUnit.NANOSECONDS);
    }

    /** The connection is over, and {@link #read} of everything that was charged. Idempotent. */
    void stop() {
        if (checks != null) {
            checks.cancel(false);
            checks = null;
            charge.close();
        }
    }

    /** The client takes more of a stream, or with 0 of the connection. */
    void windowGrows(ChannelHandlerContext ctx, int stream) {
        Http2Stream known = known(ctx, stream);
        if (known != null) {
            moves(known).takenNanos = System.nanoTime();
        }
    }

    /**
     * A frame of a message begins. Resets its stream if there is no room for it.
     *
     * @return bytes that were charged, for {@link #read}
     */
    long arrives(ChannelHandlerContext ctx, int stream, int bytes) {
        long charged = (long) bytes + OBJECTS_OF_FRAME_BYTES;
        Http2Stream known = known(ctx, stream);
        if (known != null) {
            moves(known).arrivedNanos = System.nanoTime();
        }
        if (isCharged(charged)) {
            return charged;
        }
        freeRead.run();
        if (isCharged(charged)) {
            return charged;
        }
        if (known != null) { // else it was reset before, and the frame is dropped
            reset(ctx, known, Http2Error.ENHANCE_YOUR_CALM, "no memory for a message: bytes=" + bytes);
        }
        return 0;
    }

    private boolean isCharged(long bytes) {
        try {
            charge.charge(bytes);
            return true;
        } catch (MemoryLimitException e) {
            return false;
        }
    }

    /** Frames were read, or given up. */
    void read(long chargedBytes) {
        charge.release(chargedBytes);
    }

    private Http2Stream known(ChannelHandlerContext ctx, int stream) {
        return isBegun(ctx) ? http2.connection().stream(stream) : null;
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
        List<Http2Stream> unsent = new ArrayList<>();
        List<Http2Stream> untaken = new ArrayList<>();
        try {
            http2.connection().forEachActiveStream(stream -> {
                if (isUnsent(stream, now)) {
                    unsent.add(stream);
                } else if (isUntaken(stream, now)) {
                    untaken.add(stream);
                }
                return true;
            });
        } catch (Http2Exception e) {
            ctx.fireExceptionCaught(e);
        }
        unsent.forEach(stream -> reset(ctx, stream, Http2Error.CANCEL, "client does not send its request"));
        untaken.forEach(stream -> reset(ctx, stream, Http2Error.CANCEL, "client does not take the answer"));
    }

    /** True if the client has not ended its request for too long. */
    private boolean isUnsent(Http2Stream stream, long now) {
        Moves moves = moves(stream);
        return stream.state().remoteSideOpen()
                && (now - moves.arrivedNanos >= readIdleNanos
                        || now - moves.beganNanos >= IDLE_TIMES_PER_REQUEST * readIdleNanos);
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
