package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** A growing byte array that is charged to a guard; integers are little-endian. Owns its charge until closed. One thread. */
final class GrowableBytes implements AutoCloseable {
    private static final int FIRST_BYTES = 1 << 10;

    /** From here on arrays grow by half: old and new one are held at a time. */
    private static final int LARGE_BYTES = 1 << 20;

    private static final int MAX_BYTES = Integer.MAX_VALUE - 64;

    private final MemoryGuard guard;
    byte[] bytes = new byte[0];
    int length;

    GrowableBytes(MemoryGuard guard) {
        this.guard = guard;
    }

    /** Makes room for {@code more} bytes behind the length. */
    void reserve(int more) {
        if (bytes.length - length < more) {
            grow(more);
        }
    }

    private void grow(int more) {
        long needed = (long) length + more;
        if (more < 0 || needed > MAX_BYTES) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "too many bytes for one file: bytes=" + needed);
        }
        long grown = bytes.length < LARGE_BYTES ? 2L * bytes.length : bytes.length + bytes.length / 2L;
        int capacity = (int) Math.min(MAX_BYTES, Math.max(Math.max(FIRST_BYTES, needed), grown));
        guard.charge(capacity);
        byte[] before = bytes;
        try {
            bytes = Arrays.copyOf(before, capacity);
        } catch (OutOfMemoryError e) {
            guard.release(capacity);
            throw e;
        }
        guard.release(before.length);
    }

    void putByte(int value) {
        reserve(Byte.BYTES);
        bytes[length++] = (byte) value;
    }

    void putShort(int value) {
        reserve(Short.BYTES);
        Bytes.LE_SHORT.set(bytes, length, (short) value);
        length += Short.BYTES;
    }

    void putInt(int value) {
        reserve(Integer.BYTES);
        Bytes.LE_INT.set(bytes, length, value);
        length += Integer.BYTES;
    }

    void putLong(long value) {
        reserve(Long.BYTES);
        Bytes.LE_LONG.set(bytes, length, value);
        length += Long.BYTES;
    }

    void put(byte[] from, int offset, int count) {
        reserve(count);
        System.arraycopy(from, offset, bytes, length, count);
        length += count;
    }

    void put(MemorySegment from, long offset, int count) {
        reserve(count);
        MemorySegment.copy(from, Layouts.BYTE, offset, bytes, length, count);
        length += count;
    }

    void clear() {
        length = 0;
    }

    @Override
    public void close() {
        guard.release(bytes.length);
        bytes = new byte[0];
        length = 0;
    }
}
