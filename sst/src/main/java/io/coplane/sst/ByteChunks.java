package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Bytes that grow by the block, in pieces that are neither copied nor cleared again when there are more: of a file of 16 MiB, doubling one array would
 * move as much and clear twice as much. Owns heap memory charged to the guard until closed. One thread.
 */
final class ByteChunks implements AutoCloseable {
    private static final int LEAST_CHUNK_BYTES = 4 << 10;
    private static final int MOST_CHUNK_BYTES = 1 << 20;

    private final MemoryGuard guard;
    private final List<GrowableBytes> chunks = new ArrayList<>();
    private int used; // chunks in use
    private long before; // bytes in the chunks before the last one in use

    ByteChunks(MemoryGuard guard) {
        this.guard = guard;
    }

    /** All bytes. */
    int length() {
        return (int) (used == 0 ? 0 : before + chunks.get(used - 1).length);
    }

    /** Where the next block is appended to, with room for {@code most} bytes, so that it stays in one piece. */
    GrowableBytes tail(int most) {
        long length = length();
        if (most < 0 || length + most > Integer.MAX_VALUE) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "too many bytes for one file: bytes=" + (length + most));
        }
        if (used > 0) {
            GrowableBytes last = chunks.get(used - 1);
            if (last.bytes.length - last.length >= most) {
                return last;
            }
        }
        if (used == chunks.size()) {
            chunks.add(new GrowableBytes(guard));
        }
        GrowableBytes next = chunks.get(used);
        next.clear();
        next.reserve(Math.max(most, Math.clamp(length, LEAST_CHUNK_BYTES, MOST_CHUNK_BYTES)));
        before = length;
        used++;
        return next;
    }

    /** The pieces, in order; blocks don't cross their bounds. */
    List<GrowableBytes> pieces() {
        return chunks.subList(0, used);
    }

    /** Copies all bytes. @return offset behind them */
    long copyTo(MemorySegment to, long at) {
        long next = at;
        for (GrowableBytes piece : pieces()) {
            MemorySegment.copy(piece.bytes, 0, to, Layouts.BYTE, next, piece.length);
            next += piece.length;
        }
        return next;
    }

    /** Forgets the bytes; the memory stays. */
    void clear() {
        used = 0;
        before = 0;
    }

    @Override
    public void close() {
        chunks.forEach(GrowableBytes::close);
        chunks.clear();
        clear();
    }
}
