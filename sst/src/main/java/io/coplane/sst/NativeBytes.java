package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.memory.GrowingMemory;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Native memory that grows, for files and parts of files that are being built; integers are little-endian. Kept memory is used again, so that the
 * second file costs no new pages. Owns its memory, charged to a guard until closed. One thread.
 */
public final class NativeBytes implements AutoCloseable {
    private static final long FIRST_BYTES = 1 << 10;

    /** From here on memory grows by a quarter: what isn't used costs nothing, but is charged. */
    private static final long LARGE_BYTES = 1 << 20;

    private static final long MAX_BYTES = Integer.MAX_VALUE - 64;

    /** Up to here a loop of longs beats the call of a copy. */
    private static final int SHORT_BYTES = 64;

    /** Up to here memory of an arena is simply outgrown: an owner of its own costs more. */
    private static final long SMALL_BYTES = 64 << 10;

    private final NativeArena arena; // null: all is in the growing memory, else only what is larger than small
    private final GrowingMemory memory;
    private ByteBuffer buffer; // null: not asked for since it grew
    MemorySegment segment = MemorySegment.NULL;
    int length;

    /** @param guard charged for the memory; borrowed */
    public NativeBytes(MemoryGuard guard) {
        this.arena = null;
        this.memory = new GrowingMemory(guard);
    }

    /** Closed with the arena at the latest, which owns what is outgrown while it is small. @param arena borrowed */
    NativeBytes(NativeArena arena) {
        this.arena = arena;
        this.memory = new GrowingMemory(arena);
    }

    /** Bytes that fit in. */
    public long capacity() {
        return segment.byteSize();
    }

    /** Makes room for {@code more} bytes behind the length. */
    void reserve(int more) {
        if (segment.byteSize() - length < more || more < 0) {
            grow(more);
        }
    }

    /** Makes room for so many bytes in all, exactly, so that memory which is known to be needed is taken at once. */
    void reserveAll(long bytes) {
        if (segment.byteSize() < bytes) {
            resize(Math.min(MAX_BYTES, bytes));
        }
    }

    private void grow(int more) {
        long needed = (long) length + more;
        if (more < 0 || needed > MAX_BYTES) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "too many bytes for one file: bytes=" + needed);
        }
        long before = segment.byteSize();
        long ahead = before < LARGE_BYTES ? 2 * before : before + before / 4;
        long wanted = Math.min(MAX_BYTES, Math.max(Math.max(FIRST_BYTES, needed), ahead));
        try {
            resize(wanted);
        } catch (MemoryLimitException e) {
            if (wanted == needed) {
                throw e;
            }
            resize(needed); // nothing ahead then
        }
    }

    private void resize(long bytes) {
        if (length == 0) {
            close(); // nothing to keep
        }
        MemorySegment outgrown = segment;
        boolean isSmall = arena != null && bytes <= SMALL_BYTES;
        boolean moves = isSmall || memory.segment().byteSize() == 0;
        segment = isSmall ? arena.allocate(bytes) : memory.grow(bytes);
        buffer = null;
        if (moves) {
            MemorySegment.copy(outgrown, 0, segment, 0, length);
        }
    }

    void putByte(int value) {
        reserve(Byte.BYTES);
        segment.set(Layouts.BYTE, length, (byte) value);
        length += Byte.BYTES;
    }

    void putShort(int value) {
        reserve(Short.BYTES);
        segment.set(Layouts.LE_SHORT, length, (short) value);
        length += Short.BYTES;
    }

    void putInt(int value) {
        reserve(Integer.BYTES);
        segment.set(Layouts.LE_INT, length, value);
        length += Integer.BYTES;
    }

    void putLong(long value) {
        reserve(Long.BYTES);
        segment.set(Layouts.LE_LONG, length, value);
        length += Long.BYTES;
    }

    void put(byte[] from, int offset, int count) {
        reserve(count);
        copy(from, offset, segment, length, count);
        length += count;
    }

    void put(MemorySegment from, long offset, int count) {
        reserve(count);
        MemorySegment.copy(from, offset, segment, length, count);
        length += count;
    }

    /** Copies heap bytes: keys, as a rule, which are short. */
    static void copy(byte[] from, int offset, MemorySegment to, long at, int count) {
        if (count > SHORT_BYTES) {
            MemorySegment.copy(from, offset, to, Layouts.BYTE, at, count);
            return;
        }
        int done = 0;
        for (; done <= count - Long.BYTES; done += Long.BYTES) {
            to.set(Layouts.LE_LONG, at + done, (long) Bytes.LE_LONG.get(from, offset + done));
        }
        for (; done < count; done++) {
            to.set(Layouts.BYTE, at + done, from[offset + done]);
        }
    }

    int intAt(long at) {
        return segment.get(Layouts.LE_INT, at);
    }

    void setInt(long at, int value) {
        segment.set(Layouts.LE_INT, at, value);
    }

    /** All its memory, for codecs and checksums that take buffers; position and limit are the user's. */
    ByteBuffer buffer() {
        if (buffer == null) {
            reserve(Byte.BYTES); // codecs want an address, even of nothing
            buffer = segment.asByteBuffer();
        }
        return buffer;
    }

    /** The bytes; valid until more are put or this is cleared or closed. */
    MemorySegment view() {
        return segment.asSlice(0, length);
    }

    /** Forgets the bytes; the memory stays. */
    void clear() {
        length = 0;
    }

    /** Frees the memory, but for the small one of an arena. Idempotent. */
    @Override
    public void close() {
        length = 0;
        segment = MemorySegment.NULL;
        buffer = null;
        memory.close();
    }
}
