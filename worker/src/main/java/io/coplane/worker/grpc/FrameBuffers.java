package io.coplane.worker.grpc;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.collection.IntObjectHashMap;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Keeps HTTP/2 frames in memory that belongs to their stream, so that a message which waits for its end holds about as much as has come of it.
 *
 * <p>gRPC keeps the frames of a message until it is whole. A frame that is a part of what one read of the socket brought keeps all of that: a buffer of 128 KiB, which a read fills
 * by a third as a rule and which holds frames of other streams as well. So a message held two to three times what was charged for it. Here every frame is copied out,
 * frames of one stream side by side: what a stream holds goes back to the system when its message was read, or given up.
 *
 * <pre>
 * at  bytes  field     a frame of HTTP/2, big-endian
 *  0      3  length    of the payload; at most 16 KiB, or the connection ends
 *  3      1  type      0 = DATA
 *  4      1  flags
 *  5      4  streamId  without the topmost bit
 *  9         payload
 * </pre>
 *
 * <p>Owns the frame that is on its way, and a reference to the memory of each stream that holds frames, with its charge. Belongs to the channel's event loop.
 */
final class FrameBuffers extends ChannelInboundHandlerAdapter {
    /** What a client sends before its first frame. */
    static final int CLIENT_PREFACE_BYTES = 24;

    private static final int TYPE_AT = 3;
    private static final int FLAGS_AT = 4;
    private static final int STREAM_AT = 5;
    static final int HEAD_BYTES = 9;

    /** HTTP/2's default, which gRPC does not change: its reader refuses longer ones. */
    static final int MOST_PAYLOAD_BYTES = 16 << 10;

    private static final int FULL_BYTES = HEAD_BYTES + MOST_PAYLOAD_BYTES;
    private static final int MOST_SLAB_BYTES = 16 * FULL_BYTES;

    /** From here on memory is a mapping of its own (bin/coplane sets it so), which the system has back at once; smaller ones are the pool's. */
    private static final int MAPPED_BYTES = 128 << 10;

    private static final int END_STREAM = 1;
    private static final int DATA = 0;
    private static final int WINDOW_UPDATE = 8;

    private final byte[] head = new byte[HEAD_BYTES];
    private final IntObjectHashMap<Slab> slabs = new IntObjectHashMap<>();
    private int headBytes;
    private ByteBuf frame; // null: its head is not whole
    private long plainBytes; // so many more are handed on as they are
    private boolean over;
    private final StreamWatch watch; // null: none

    /** @param prefaceBytes before the first frame */
    FrameBuffers(int prefaceBytes) {
        this(prefaceBytes, null);
    }

    /** @param watch of the same connection, told of its frames; null: none */
    FrameBuffers(int prefaceBytes, StreamWatch watch) {
        plainBytes = prefaceBytes;
        this.watch = watch;
    }

    /** A channel of a client. */
    static Channel client() {
        NioSocketChannel channel = new NioSocketChannel();
        channel.pipeline().addFirst(new Placing(0, () -> null));
        return channel;
    }

    /**
     * A channel of a server; it prepares those that it accepts.
     *
     * @param maxConnections more are closed at once
     * @param watch makes the watch of a connection
     */
    static ServerChannel server(int maxConnections, Supplier<StreamWatch> watch) {
        NioServerSocketChannel channel = new NioServerSocketChannel();
        AtomicInteger open = new AtomicInteger();
        channel.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object accepted) {
                Channel connection = (Channel) accepted;
                if (open.incrementAndGet() > maxConnections) {
                    open.decrementAndGet();
                    connection.unsafe().closeForcibly();
                    return;
                }
                connection.closeFuture().addListener(closed -> open.decrementAndGet());
                connection.pipeline().addFirst(new Placing(CLIENT_PREFACE_BYTES, watch));
                ctx.fireChannelRead(accepted);
            }
        });
        return channel;
    }

    /** Puts the handler where plain frames pass by: behind TLS, which is there before the first byte comes, if it is used. */
    private static final class Placing extends ChannelInboundHandlerAdapter {
        private final int prefaceBytes;
        private final Supplier<StreamWatch> watch;

        private Placing(int prefaceBytes, Supplier<StreamWatch> watch) {
            this.prefaceBytes = prefaceBytes;
            this.watch = watch;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ChannelHandlerContext tls = ctx.pipeline().context(SslHandler.class);
            ChannelHandlerContext before = tls == null ? ctx : tls;
            ctx.pipeline().addAfter(before.name(), null, new FrameBuffers(prefaceBytes, watch.get()));
            ctx.fireChannelRead(message);
            ctx.pipeline().remove(this);
        }
    }

    /** Memory of a stream's last frames. */
    private static final class Slab {
        private ByteBuf memory; // null: none yet
        private int usedBytes;
        private int heldBytes; // by frames of the stream, at most; no more than matters
        private long chargedBytes; // by the watch

        /** The more a stream holds, the larger: what is left over in the end is less than what is held. */
        private void renew(ChannelHandlerContext ctx, int bytes) {
            if (isRead()) {
                heldBytes = 0;
            }
            int capacity = Math.max(bytes, heldBytes / FULL_BYTES * FULL_BYTES);
            ByteBuf fresh = capacity < MAPPED_BYTES
                    ? ctx.alloc().directBuffer(capacity, capacity)
                    : UnpooledByteBufAllocator.DEFAULT.directBuffer(capacity, capacity);
            if (memory != null) {
                memory.release();
            }
            memory = fresh;
            usedBytes = 0;
        }

        /** Nobody holds a frame in it: they were read, or their call is over. */
        private boolean isRead() {
            return memory == null || memory.refCnt() == 1;
        }

        private int restBytes() {
            return memory == null ? 0 : memory.capacity() - usedBytes;
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (watch != null) {
            watch.start(ctx, this::freeRead);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (!(message instanceof ByteBuf in)) {
            ctx.fireChannelRead(message);
            return;
        }
        try {
            while (in.isReadable() && !over) {
                take(ctx, in);
            }
        } finally {
            in.release();
        }
    }

    private void take(ChannelHandlerContext ctx, ByteBuf in) {
        if (plainBytes > 0) {
            int count = (int) Math.min(plainBytes, in.readableBytes());
            plainBytes -= count;
            ctx.fireChannelRead(in.readRetainedSlice(count));
            return;
        }
        if (frame == null) {
            int count = Math.min(HEAD_BYTES - headBytes, in.readableBytes());
            in.readBytes(head, headBytes, count);
            headBytes += count;
            if (headBytes < HEAD_BYTES) {
                return;
            }
            headBytes = 0;
            begin(ctx);
        }
        in.readBytes(frame, Math.min(frame.writableBytes(), in.readableBytes()));
        if (!frame.isWritable()) {
            ByteBuf whole = frame;
            frame = null;
            ctx.fireChannelRead(whole);
        }
    }

    private void begin(ChannelHandlerContext ctx) {
        int payloadBytes = (head[0] & 0xFF) << 16 | (head[1] & 0xFF) << 8 | head[2] & 0xFF;
        if (payloadBytes > MOST_PAYLOAD_BYTES) { // the reader ends the connection by the head alone
            plainBytes = Long.MAX_VALUE;
            frame = alone(ctx, HEAD_BYTES);
        } else if (head[TYPE_AT] == DATA && !isBareEnd(payloadBytes)) {
            frame = ofStream(ctx, stream(), HEAD_BYTES + payloadBytes);
        } else {
            if (watch != null) {
                watch.begins(ctx);
                if (head[TYPE_AT] == WINDOW_UPDATE) {
                    watch.windowGrows(ctx, stream());
                }
            }
            frame = alone(ctx, HEAD_BYTES + payloadBytes);
        }
        frame.writeBytes(head);
    }

    /** True for what many a client ends a request with: it holds nothing, and a message that has come needs no more room. */
    private boolean isBareEnd(int payloadBytes) {
        return payloadBytes == 0 && (head[FLAGS_AT] & END_STREAM) != 0;
    }

    private int stream() {
        return (head[STREAM_AT] & 0x7F) << 24
                | (head[STREAM_AT + 1] & 0xFF) << 16
                | (head[STREAM_AT + 2] & 0xFF) << 8
                | head[STREAM_AT + 3] & 0xFF;
    }

    private ByteBuf ofStream(ChannelHandlerContext ctx, int stream, int bytes) {
        long charged = watch == null ? 0 : watch.arrives(ctx, stream, bytes);
        if (charged == StreamWatch.DROPPED) {
            return alone(ctx, bytes);
        }
        Slab slab = slabs.get(stream);
        if (slab == null) {
            slab = new Slab();
            slabs.put(stream, slab);
        }
        slab.chargedBytes += charged;
        if (slab.restBytes() < bytes) {
            try {
                slab.renew(ctx, bytes);
            } catch (OutOfMemoryError e) { // the JVM may allow less native memory than our cap
                if (watch == null) {
                    throw e;
                }
                watch.refuse(
                        ctx,
                        stream,
                        new CoplaneException(ErrorCode.MEMORY_LIMIT, "no native memory for a message: bytes=" + bytes));
                return ctx.alloc().heapBuffer(bytes, bytes);
            }
        }
        ByteBuf part = slab.memory.retainedSlice(slab.usedBytes, bytes).clear();
        slab.usedBytes += bytes;
        slab.heldBytes = Math.min(MOST_SLAB_BYTES, slab.heldBytes + bytes);
        return part;
    }

    /** Memory of a frame that nobody keeps. */
    private static ByteBuf alone(ChannelHandlerContext ctx, int bytes) {
        return ctx.alloc().directBuffer(bytes, bytes);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        freeRead();
        ctx.fireChannelReadComplete();
    }

    /** Frees what streams hold whose frames were all read: the last one goes last. */
    private void freeRead() {
        Iterator<Slab> all = slabs.values().iterator();
        while (all.hasNext()) {
            Slab slab = all.next();
            if (slab.isRead()) {
                free(slab);
                all.remove();
            }
        }
    }

    private void free(Slab slab) {
        if (slab.memory != null) {
            slab.memory.release();
        }
        if (watch != null) {
            watch.read(slab.chargedBytes);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        free();
        ctx.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        free();
    }

    private void free() {
        over = true;
        if (frame != null) {
            frame.release();
            frame = null;
        }
        slabs.values().forEach(this::free);
        slabs.clear();
        if (watch != null) {
            watch.stop();
        }
    }
}
