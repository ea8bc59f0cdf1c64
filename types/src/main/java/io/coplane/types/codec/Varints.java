package io.coplane.types.codec;

/**
 * Base-128 varints, low groups first, at most ten bytes (coprocessor.md 4.2). Reading takes two calls: {@link #length}, then a {@code get}.
 */
public final class Varints {
    /** Most bytes of a varint. */
    public static final int MAX_BYTES = 10;

    private Varints() {}

    /**
     * Bytes of the varint that starts at {@code at}.
     *
     * @param end where the data ends
     * @return 1 .. 10, or 0 if it does not end before {@code end} or is too long for 64 bits
     */
    public static int length(byte[] bytes, int at, int end) {
        int stop = Math.min(end, at + MAX_BYTES);
        for (int i = at; i < stop; i++) {
            if (bytes[i] >= 0) {
                return i - at == MAX_BYTES - 1 && bytes[i] > 1 ? 0 : i - at + 1;
            }
        }
        return 0;
    }

    /** The unsigned value of a varint of {@code length} bytes. */
    public static long getUint(byte[] bytes, int at, int length) {
        long value = 0;
        for (int i = 0; i < length; i++) {
            value |= (bytes[at + i] & 0x7fL) << 7 * i;
        }
        return value;
    }

    /** The zig-zag value of a varint of {@code length} bytes. */
    public static long getInt(byte[] bytes, int at, int length) {
        return unzigzag(getUint(bytes, at, length));
    }

    static long unzigzag(long value) {
        return value >>> 1 ^ -(value & 1);
    }
}
