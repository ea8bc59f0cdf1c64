package io.coplane.types.number;

/** Decimal text of 64-bit integers. */
public final class IntText {
    /** Most bytes of {@link #write} and {@link #writeUnsigned}. */
    public static final int MAX_BYTES = 20;

    private static final long LAST_BEFORE_TEN = Long.MAX_VALUE / 10;

    private IntText() {}

    /** Writes a signed value and returns the index behind it; {@link #MAX_BYTES} must be free. */
    public static int write(long value, byte[] out, int at) {
        if (value >= 0) {
            return digits(value, out, at);
        }
        out[at] = '-';
        return value == Long.MIN_VALUE ? writeUnsigned(value, out, at + 1) : digits(-value, out, at + 1);
    }

    /** Writes a value as uint64 and returns the index behind it; {@link #MAX_BYTES} must be free. */
    public static int writeUnsigned(long value, byte[] out, int at) {
        if (value >= 0) {
            return digits(value, out, at);
        }
        long high = Long.divideUnsigned(value, 10);
        int to = digits(high, out, at);
        out[to] = (byte) ('0' + (value - 10 * high));
        return to + 1;
    }

    /**
     * True if the range is an optional sign and digits that fit int64; then {@link #parse} reads it.
     */
    public static boolean fits(byte[] text, int offset, int length) {
        int end = offset + length;
        int at = offset;
        boolean negative = false;
        if (at < end && (text[at] == '-' || text[at] == '+')) {
            negative = text[at] == '-';
            at++;
        }
        if (at == end) {
            return false;
        }
        long value = 0; // negated: the negative side has one more value
        for (; at < end; at++) {
            int digit = text[at] - '0';
            if (digit < 0 || digit > 9 || value < -LAST_BEFORE_TEN) {
                return false;
            }
            value = 10 * value - digit;
            if (value > 0) {
                return false;
            }
        }
        return negative || value != Long.MIN_VALUE;
    }

    /** Value of a range that {@link #fits}. */
    public static long parse(byte[] text, int offset, int length) {
        boolean negative = text[offset] == '-';
        long value = 0;
        for (int at = negative || text[offset] == '+' ? offset + 1 : offset; at < offset + length; at++) {
            value = 10 * value - (text[at] - '0');
        }
        return negative ? value : -value;
    }

    /** True if the range is an optional {@code +} and digits that fit uint64; then {@link #parse} gives the bit pattern. */
    public static boolean fitsUnsigned(byte[] text, int offset, int length) {
        int end = offset + length;
        int at = offset < end && text[offset] == '+' ? offset + 1 : offset;
        if (at == end) {
            return false;
        }
        long value = 0;
        for (; at < end; at++) {
            int digit = text[at] - '0';
            if (digit < 0
                    || digit > 9
                    || Long.compareUnsigned(value, 1844674407370955161L) > 0
                    || value == 1844674407370955161L && digit > 5) {
                return false;
            }
            value = 10 * value + digit;
        }
        return true;
    }

    private static int digits(long value, byte[] out, int at) {
        int count = 1;
        for (long rest = value; rest >= 10; rest /= 10) {
            count++;
        }
        long rest = value;
        for (int i = at + count - 1; i >= at; i--) {
            long quotient = rest / 10;
            out[i] = (byte) ('0' + (rest - 10 * quotient));
            rest = quotient;
        }
        return at + count;
    }
}
