package io.coplane.types.codec;

import io.coplane.types.ByteSink;

/**
 * Encodings whose bytes order like the values (coprocessor.md 4.2).
 *
 * <pre>
 * i64    8 bytes big-endian of value xor 2^63
 * u64    8 bytes big-endian
 * f64    8 bytes big-endian of the bits; sign bit set if clear, all inverted if set
 * bytes  groups of 8 bytes, zero padded, each with a marker FF - pad count; always one group with padding at the end
 * </pre>
 */
public final class Memcomparable {
    /** Data bytes of a group. */
    public static final int GROUP_BYTES = 8;
    /** Bytes of a group with its marker. */
    public static final int MARKED_GROUP_BYTES = GROUP_BYTES + 1;

    private static final int FULL = 0xff;

    private Memcomparable() {}

    /** Reads an i64; eight bytes must lie behind {@code at}. */
    public static long getLong(byte[] bytes, int at) {
        return Endian.longBe(bytes, at) ^ Long.MIN_VALUE;
    }

    /** Reads a u64, as the same 64 bits; eight bytes must lie behind {@code at}. */
    public static long getUlong(byte[] bytes, int at) {
        return Endian.longBe(bytes, at);
    }

    /** Reads an f64; eight bytes must lie behind {@code at}. */
    public static double getDouble(byte[] bytes, int at) {
        long word = Endian.longBe(bytes, at);
        return Double.longBitsToDouble(word < 0 ? word & Long.MAX_VALUE : ~word);
    }

    /** The word whose big-endian bytes encode {@code value}. */
    public static long doubleWord(double value) {
        long bits = Double.doubleToRawLongBits(value);
        return bits < 0 ? ~bits : bits | Long.MIN_VALUE;
    }

    /** Appends an i64. */
    public static void putLong(ByteSink out, long value) {
        out.putLongBe(value ^ Long.MIN_VALUE);
    }

    /** Appends an f64. */
    public static void putDouble(ByteSink out, double value) {
        out.putLongBe(doubleWord(value));
    }

    /** Bytes that {@code length} bytes take when encoded. */
    public static int encodedBytes(int length) {
        return Math.multiplyExact(length / GROUP_BYTES + 1, MARKED_GROUP_BYTES);
    }

    /** Appends bytes in ascending order. */
    public static void putBytes(ByteSink out, byte[] source, int offset, int length) {
        out.ensure(encodedBytes(length));
        int at = offset;
        int left = length;
        while (left >= GROUP_BYTES) {
            out.put(source, at, GROUP_BYTES);
            out.putByte(FULL);
            at += GROUP_BYTES;
            left -= GROUP_BYTES;
        }
        out.put(source, at, left);
        out.putZeros(GROUP_BYTES - left);
        out.putByte(FULL - (GROUP_BYTES - left));
    }

    /** Appends bytes in descending order: every byte of the ascending form inverted. */
    public static void putBytesDesc(ByteSink out, byte[] source, int offset, int length) {
        int from = out.length();
        putBytes(out, source, offset, length);
        byte[] bytes = out.bytes();
        for (int i = from; i < out.length(); i++) {
            bytes[i] = (byte) ~bytes[i];
        }
    }

    /**
     * Length of the encoded bytes that start at {@code at}; markers are looked at, padding is not.
     *
     * @return a multiple of 9, or -1 if they do not end before {@code end}
     */
    public static int skipBytes(byte[] bytes, int at, int end) {
        int next = at;
        while (end - next >= MARKED_GROUP_BYTES) {
            next += MARKED_GROUP_BYTES;
            if (bytes[next - 1] != (byte) FULL) {
                return next - at;
            }
        }
        return -1;
    }

    /**
     * Decodes bytes in ascending order.
     *
     * @param encodedLength what {@link #skipBytes} said
     * @param target room for {@code encodedLength / 9 * 8} bytes behind {@code targetAt}; its bytes behind the result are undefined
     * @return how many bytes were decoded
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_DATUM for a bad marker or padding
     */
    public static int getBytes(byte[] bytes, int at, int encodedLength, byte[] target, int targetAt) {
        int to = targetAt;
        int last = at + encodedLength - MARKED_GROUP_BYTES;
        for (int from = at; from < last; from += MARKED_GROUP_BYTES) {
            System.arraycopy(bytes, from, target, to, GROUP_BYTES);
            to += GROUP_BYTES;
        }
        int length = lastGroupLength(bytes, last);
        System.arraycopy(bytes, last, target, to, length);
        return to - targetAt + length;
    }

    /** Data bytes of the last group, which starts at {@code at}; checks marker and padding. */
    static int lastGroupLength(byte[] bytes, int at) {
        int pad = FULL - (bytes[at + GROUP_BYTES] & 0xff);
        if (pad > GROUP_BYTES) {
            throw Corrupt.datum("Data padding is incorrect");
        }
        long padding = pad == 0 ? 0 : Endian.longBe(bytes, at) & -1L >>> 64 - 8 * pad;
        if (padding != 0) {
            throw Corrupt.datum("Data padding is incorrect");
        }
        return GROUP_BYTES - pad;
    }
}
