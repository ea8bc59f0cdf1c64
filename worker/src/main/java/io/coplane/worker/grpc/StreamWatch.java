package io.coplane.worker.grpc;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds what the client of a server's connection may keep waiting, though the connection is alive: gRPC itself would wait for it for ever. Messages on their way in are charged as their frames
 * come: a call whose frame finds no room is told, and may answer ({@link #ifNoRoom}); what still comes of it is dropped. Calls that stand still are given up, as are those without room that did
 * not want to be told: their streams are reset, and the calls end as if the client had cancelled them, so that what they hold is freed.
 *
 * <p>Belongs to the connection's event loop.
 */
final class StreamWatch {
    private static final Logger LOG = LoggerFactory.getLogger(StreamWatch.class);
    private static final int CHECKS_PER_IDLE_TIME = 4;
    private static final int IDLE_TIMES_PER_REQUEST = 10;

    /** What gRPC keeps on the heap for a frame that waits for the end of its message, generously. */
    static final int OBJECTS_OF_FRAME_BYTES = 1 << 10;

    /**
     * The first frame of a call, if it is no longer, is taken without room: the call itself, whose number is bounded, holds more. So whoever asks whether we are alive, and what we are doing, is
     * answered when there is no memory left.
     */
    static final int SHORT_BYTES = 1 << 10;

    /** Of {@link #arrives}: the frame is dropped as soon as it is whole. */
    static final long DROPPED = -1;

    private final MemoryLimiter arriving;
    private final long readIdleNanos;
    private final long periodNanos;
    private final long writeIdleNanos;
    private MemoryGuard charge;
    private Runnable freeRead;
    private Http2ConnectionHandler http2; // null until the connection has begun to speak it
    private Http2Connection.PropertyKey key;
    private Future<?> checks;

    /** The stream whose call starts: gRPC starts it on this thread while it reads the HEADERS, since the server has a direct executor. */
    private static final ThreadLocal<Watched> STARTING = new ThreadLocal<>();

    /** What is known of a stream: when it was last seen to move, and whether there was room for it. */
    private static final class Watched {
        private final long beganNanos = System.nanoTime();
        private boolean hasArrived; // something of its message
        private long arrivedNanos = beganNanos;
        private long takenNanos = beganNanos;
        private Consumer<CoplaneException> ifNoRoom; // null: it is reset
        private boolean isRefused; // nothing of it is taken any more
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
     * Called where a call starts: ends the call if there is no room for its message. It runs once at most, on the connection's event loop and never within a callback of the call's listener; no
     * message, nor the end of one, comes to the listener after it. Without effect where calls do not start while their HEADERS are read.
     *
     * @param refusal takes why: MEMORY_LIMIT
     */
    static void ifNoRoom(Consumer<CoplaneException> refusal) {
        Watched starting = STARTING.get();
        if (starting != null) {
            starting.ifNoRoom = refusal;
        }
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

    /** A frame that is no part of a message begins. */
    void begins(ChannelHandlerContext ctx) {
        isBegun(ctx); // before the first call starts
    }

    /** The client takes more of a stream, or with 0 of the connection. */
    void windowGrows(ChannelHandlerContext ctx, int stream) {
        Http2Stream known = known(ctx, stream);
        if (known != null) {
            watched(known).takenNanos = System.nanoTime();
        }
    }

    /**
     * A frame of a message begins. Ends its call if there is no room for it; a stream's first frame may have none if it is {@linkplain #SHORT_BYTES short}.
     *
     * @return bytes that were charged, for {@link #read}, or {@link #DROPPED}
     */
    long arrives(ChannelHandlerContext ctx, int stream, int bytes) {
        Http2Stream known = known(ctx, stream);
        boolean isFirst = known != null && isFirst(watched(known));
        if (isDropped(known)) {
            return DROPPED;
        }
        long charged = (long) bytes + OBJECTS_OF_FRAME_BYTES;
        if (refusal(charged) == null) {
            return charged;
        }
        freeRead.run();
        MemoryLimitException refusal = refusal(charged);
        if (refusal == null) {
            return charged;
        }
        if (isFirst && bytes <= SHORT_BYTES) {
            return 0;
        }
        refuse(ctx, stream, refusal);
        return DROPPED;
    }

    private static boolean isFirst(Watched watched) {
        boolean isFirst = !watched.hasArrived;
        watched.hasArrived = true;
        watched.arrivedNanos = System.nanoTime();
        return isFirst;
    }

    /** True for what comes of a call that was refused, or is over. */
    private boolean isDropped(Http2Stream known) {
        return http2 != null && (known == null || watched(known).isRefused);
    }

    /** Charges bytes, or tells why not. */
    private MemoryLimitException refusal(long bytes) {
        try {
            charge.charge(bytes);
            return null;
        } catch (MemoryLimitException e) {
            return e;
        }
    }

    /** Ends the call of a stream for which there is no memory. */
    void refuse(ChannelHandlerContext ctx, int stream, CoplaneException why) {
        Http2Stream known = known(ctx, stream);
        if (isDropped(known) || known == null) {
            return;
        }
        Watched watched = watched(known);
        watched.isRefused = true;
        LOG.debug("message refused: peer={} cause={}", ctx.channel().remoteAddress(), why.getMessage());
        if (watched.ifNoRoom == null) {
            reset(ctx, known, Http2Error.ENHANCE_YOUR_CALM, why.getMessage());
        } else {
            watched.ifNoRoom.accept(why);
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
                http2.decoder().frameListener(new Frames(http2.decoder().frameListener()));
            }
        }
        return http2 != null;
    }

    private Watched watched(Http2Stream stream) {
        Watched watched = stream.getProperty(key);
        if (watched == null) {
            watched = new Watched();
            stream.setProperty(key, watched);
        }
        return watched;
    }

    /** Between HTTP/2 and gRPC. */
    private final class Frames extends Http2FrameListenerDecorator {
        private Frames(Http2FrameListener grpc) {
            super(grpc);
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext ctx,
                int stream,
                Http2Headers headers,
                int dependency,
                short weight,
                boolean exclusive,
                int padding,
                boolean isLast)
                throws Http2Exception {
            STARTING.set(watched(http2.connection().stream(stream)));
            try {
                super.onHeadersRead(ctx, stream, headers, dependency, weight, exclusive, padding, isLast);
            } finally {
                STARTING.remove();
            }
        }

        @Override
        public int onDataRead(ChannelHandlerContext ctx, int stream, ByteBuf data, int padding, boolean isLast)
                throws Http2Exception {
            if (watched(http2.connection().stream(stream)).isRefused) {
                return data.readableBytes() + padding; // the windows grow as if it had been read
            }
            return super.onDataRead(ctx, stream, data, padding, isLast);
        }
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
        Watched watched = watched(stream);
        return stream.state().remoteSideOpen()
                && (now - watched.arrivedNanos >= readIdleNanos
                        || now - watched.beganNanos >= IDLE_TIMES_PER_REQUEST * readIdleNanos);
    }

    /** True if frames of the stream wait for its window, or the connection's, and that one has not grown for too long. */
    private boolean isUntaken(Http2Stream stream, long now) {
        Http2RemoteFlowController flow = http2.connection().remote().flowController();
        Http2Stream all = http2.connection().connectionStream();
        Watched watched = watched(stream);
        boolean isConnectionFull = flow.windowSize(all) <= 0;
        if (!flow.hasFlowControlled(stream) || flow.windowSize(stream) > 0 && !isConnectionFull) {
            watched.takenNanos = now;
            return false;
        }
        return now - watched.takenNanos >= writeIdleNanos
                && (flow.windowSize(stream) <= 0 || now - watched(all).takenNanos >= writeIdleNanos);
    }

    private void reset(ChannelHandlerContext ctx, Http2Stream stream, Http2Error code, String why) {
        // through gRPC's own handling of errors, which ends the call too
        http2.onError(ctx.pipeline().context(http2), true, Http2Exception.streamError(stream.id(), code, "%s", why));
    }
}
