package io.coplane.types;

import io.coplane.nativecache.MemoryGuard;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Growing byte buffer that encoders write to; its capacity is charged to a guard. One thread. */
public final class ByteSink implements AutoCloseable {
    private static final VarHandle LE_SHORT =
            MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LE_INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LE_LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle BE_LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final MemoryGuard guard;
    private byte[] bytes = new byte[0];
    private int length;

    /** @param guard borrowed; charged for the capacity until {@link #close()} */
    public ByteSink(MemoryGuard guard) {
        this.guard = guard;
    }

    /** The buffer; borrowed, replaced when it grows. */
    public byte[] bytes() {
        return bytes;
    }

    /** Bytes written. */
    public int length() {
        return length;
    }

    /** Forgets all bytes from {@code length} on. */
    public void truncate(int length) {
        this.length = length;
    }

    /** A copy of what was written. */
    public byte[] copyBytes() {
        return Arrays.copyOf(bytes, length);
    }

    /** Makes room for {@code more} bytes; {@link #bytes()} does not change until that many are written. */
    public void ensure(int more) {
        int needed = Math.addExact(length, more);
        if (needed > bytes.length) {
            int capacity = Math.max(needed, (int) Math.min(Integer.MAX_VALUE - 8, 2L * bytes.length + 64));
            guard.charge(capacity - bytes.length);
            bytes = Arrays.copyOf(bytes, capacity);
        }
    }

    /** Takes bytes that the caller wrote to {@link #bytes()} behind {@link #length()} after {@link #ensure}. */
    public void advance(int count) {
        length += count;
    }

    /** Appends one byte, the low 8 bits of {@code value}. */
    public void putByte(int value) {
        ensure(1);
        bytes[length++] = (byte) value;
    }

    /** Appends two bytes, little-endian. */
    public void putShortLe(int value) {
        ensure(Short.BYTES);
        LE_SHORT.set(bytes, length, (short) value);
        length += Short.BYTES;
    }

    /** Appends four bytes, little-endian. */
    public void putIntLe(int value) {
        ensure(Integer.BYTES);
        LE_INT.set(bytes, length, value);
        length += Integer.BYTES;
    }

    /** Appends eight bytes, little-endian. */
    public void putLongLe(long value) {
        ensure(Long.BYTES);
        LE_LONG.set(bytes, length, value);
        length += Long.BYTES;
    }

    /** Appends eight bytes, big-endian. */
    public void putLongBe(long value) {
        ensure(Long.BYTES);
        BE_LONG.set(bytes, length, value);
        length += Long.BYTES;
    }

    /** Appends an unsigned base-128 varint, low groups first. */
    public void putVarUint(long value) {
        ensure(10);
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            bytes[length++] = (byte) (rest & 0x7f | 0x80);
            rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
    }

    /** Appends a zig-zag varint. */
    public void putVarInt(long value) {
        putVarUint(value << 1 ^ value >> 63);
    }

    /** Appends {@code count} bytes of {@code source}. */
    public void put(byte[] source, int offset, int count) {
        ensure(count);
        System.arraycopy(source, offset, bytes, length, count);
        length += count;
    }

    /** Appends {@code count} zero bytes. */
    public void putZeros(int count) {
        ensure(count);
        Arrays.fill(bytes, length, length + count, (byte) 0);
        length += count;
    }

    @Override
    public void close() {
        guard.release(bytes.length);
        bytes = new byte[0];
        length = 0;
    }
}
