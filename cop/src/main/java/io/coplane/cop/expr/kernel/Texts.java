package io.coplane.cop.expr.kernel;

import io.coplane.types.EvalException;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.text.Utf8;

/** What string kernels share. */
final class Texts {
    private static final byte[] DIGITS = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'
    };

    private Texts() {}

    /** Makes the rows of a strict function views into an argument; rows that are not NULL must be set by {@link BytesColumn#setView}. */
    static void borrow(BytesColumn out, BytesColumn from, Column[] args, int rows) {
        out.resetBorrowed(rows, from.data());
        for (Column arg : args) {
            out.orNulls(arg);
        }
        if (out.mayHaveNulls()) {
            for (int i = 0; i < rows; i++) {
                if (out.isNull(i)) {
                    out.setEmpty(i);
                }
            }
        }
    }

    /** NULL, and readable. */
    static void putNull(BytesColumn out, int row) {
        out.setNull(row);
        out.setEmpty(row);
    }

    /** The failure of a string that must be UTF-8. */
    static EvalException notUtf8() {
        return EvalException.uncoded("encoding failed");
    }

    /** Fails unless the row is UTF-8. */
    static void requireUtf8(BytesColumn column, int row) {
        if (!Utf8.isValid(column.data(), column.starts()[row], column.lengths()[row])) {
            throw notUtf8();
        }
    }

    /**
     * Byte offset behind {@code count} characters of well-formed text.
     *
     * @return an index into {@code data}, at most {@code end}
     */
    static int skipCharacters(byte[] data, int start, int end, long count) {
        int at = start;
        for (long left = count; left > 0 && at < end; left--) {
            int lead = data[at];
            at += lead >= 0 ? 1 : lead < (byte) 0xe0 ? 2 : lead < (byte) 0xf0 ? 3 : 4;
        }
        return Math.min(at, end);
    }

    /** Index in {@code data} of the first occurrence within [start, end), or -1. An empty needle is found at {@code start}. */
    static int indexOf(byte[] data, int start, int end, byte[] needle, int needleStart, int needleLength) {
        if (needleLength == 0) {
            return start;
        }
        byte first = needle[needleStart];
        int last = end - needleLength;
        for (int at = start; at <= last; at++) {
            if (data[at] == first && matches(data, at, needle, needleStart, needleLength)) {
                return at;
            }
        }
        return -1;
    }

    /** True if the needle stands at {@code at}, which has room for it. */
    static boolean matches(byte[] data, int at, byte[] needle, int needleStart, int needleLength) {
        for (int i = 0; i < needleLength; i++) {
            if (data[at + i] != needle[needleStart + i]) {
                return false;
            }
        }
        return true;
    }

    /** Writes an unsigned number in base 2, 8 or 16, upper-case. */
    static void putBits(KernelContext ctx, BytesColumn out, int row, long value, int bitsPerDigit) {
        int significant = Math.max(1, Long.SIZE - Long.numberOfLeadingZeros(value));
        int length = (significant + bitsPerDigit - 1) / bitsPerDigit;
        int start = ctx.reserve(out, length);
        byte[] data = out.data();
        long rest = value;
        int mask = (1 << bitsPerDigit) - 1;
        for (int i = start + length - 1; i >= start; i--) {
            data[i] = DIGITS[(int) rest & mask];
            rest >>>= bitsPerDigit;
        }
        out.setView(row, start, length);
    }

    /** The upper-case digit of a value below 16. */
    static byte hexDigit(int value) {
        return DIGITS[value];
    }

    /** Copies a range of a column to a row. */
    static void put(KernelContext ctx, BytesColumn out, int row, byte[] data, int start, int length) {
        int to = ctx.reserve(out, length);
        System.arraycopy(data, start, out.data(), to, length);
        out.setView(row, to, length);
    }
}
