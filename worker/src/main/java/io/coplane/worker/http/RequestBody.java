package io.coplane.worker.http;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.lang.foreign.MemorySegment;

/**
 * Owns the bytes of one request body, in one pooled native buffer, and their charge until {@link #close()}.
 *
 * <p>The buffer grows with what really arrives, so a client that announces much and sends little holds little; what it grows by is charged
 * before it is allocated. Filled by one thread, then handed over; {@code close} by any one.
 */
final class RequestBody implements AutoCloseable {
    /** Buffer of a body whose bytes are yet to come. */
    private static final long FIRST_BYTES = 256 << 10;

    /** Growing by four copies a third of the body at most. */
    private static final int GROWTH = 4;

    /** When this part of an announced body has come, room for the rest is made: at most a quarter more is held while it moves. */
    private static final int TRUSTED_PART = 16;

    private final MemoryGuard guard;
    private final ByteBufAllocator allocator;
    private final long maxBytes;
    private final boolean announced;
    private ByteBuf buffer;
    private long capacityBytes;
    private boolean closed;

    /**
     * @param expectedBytes announced length, or -1
     * @param maxBytes most bytes that {@link #append} may be given in all; at most the largest array
     */
    RequestBody(MemoryLimiter limiter, ByteBufAllocator allocator, long expectedBytes, long maxBytes) {
        this.guard = limiter.acquire(0);
        this.allocator = allocator;
        this.announced = expectedBytes >= 0;
        this.maxBytes = announced ? Math.min(expectedBytes, maxBytes) : maxBytes;
    }

    /** Bytes held. */
    long byteSize() {
        return buffer == null ? 0 : buffer.readableBytes();
    }

    /**
     * Adds the readable bytes of {@code piece}, which stays the caller's.
     *
     * @return false if the body would be longer than it may; nothing is added then
     * @throws MemoryLimitException if the limiter refuses the bytes; nothing is added then
     */
    boolean append(ByteBuf piece) {
        long after = byteSize() + piece.readableBytes();
        if (after > maxBytes) {
            return false;
        }
        if (after > capacityBytes) {
            grow(after);
        }
        if (piece.isReadable()) {
            buffer.writeBytes(piece, piece.readerIndex(), piece.readableBytes());
        }
        return true;
    }

    /** Borrows the bytes: read-only, valid until {@link #close()}. */
    MemorySegment view() {
        if (buffer == null) {
            return MemorySegment.NULL;
        }
        return MemorySegment.ofBuffer(buffer.nioBuffer()).asReadOnly();
    }

    /** Frees the bytes and gives the charge back. Idempotent. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (buffer != null) {
            buffer.release();
        }
        guard.release(capacityBytes);
        guard.close();
    }

    private void grow(long neededBytes) {
        long wanted = Math.max(neededBytes, Math.max(FIRST_BYTES, capacityBytes * GROWTH));
        boolean trusted = announced && capacityBytes >= maxBytes / TRUSTED_PART;
        long capacity = trusted ? maxBytes : Math.min(wanted, maxBytes);
        guard.charge(capacity); // beside the old buffer: both live while it is copied
        ByteBuf larger;
        try {
            larger = allocator.directBuffer((int) capacity, (int) capacity);
        } catch (RuntimeException | OutOfMemoryError e) {
            guard.release(capacity);
            throw e;
        }
        if (buffer != null) {
            larger.writeBytes(buffer);
            buffer.release();
            guard.release(capacityBytes);
        }
        buffer = larger;
        capacityBytes = capacity;
    }
}
