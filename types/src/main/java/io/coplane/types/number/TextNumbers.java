package io.coplane.types.number;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.text.Utf8;
import java.nio.charset.StandardCharsets;

/** Strings to numbers (expressions.md 5.3, 7.2.1). What is cut off or out of bounds goes through the context's handlers. */
public final class TextNumbers {
    private static final int CAST_WARNING = 1105;
    private static final int OUT_OF_RANGE = 1690;
    private static final int EXACT_POWERS = 22;
    private static final int MAX_LONG_DIGITS = 18;
    private static final double[] POW10 = {
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22
    };

    private TextNumbers() {}

    /** String to double. */
    public static double toReal(byte[] text, int offset, int length, EvalContext context) {
        int valid = validPrefix(text, offset, length, context);
        int start = Utf8.skipWhiteSpace(text, offset, offset + valid);
        int end = Utf8.trimEnd(text, start, offset + valid);
        int prefix = NumberPrefix.real(text, start, end - start, context);
        if (prefix == 0) {
            return 0;
        }
        double value = parseReal(text, start, prefix);
        if (Double.isInfinite(value)) {
            context.truncated(NumberPrefix.incorrect("DOUBLE", Utf8.lossy(text, start, prefix)));
            return Math.copySign(Double.MAX_VALUE, value);
        }
        return value;
    }

    /**
     * Nearest double of {@code [+-]digits[.digits][e[+-]digits]}, all parts but one digit optional; infinite where it is beyond range. The range
     * must have this form.
     */
    public static double parseReal(byte[] text, int offset, int length) {
        int end = offset + length;
        int at = offset;
        boolean negative = text[at] == '-';
        if (negative || text[at] == '+') {
            at++;
        }
        long mantissa = 0;
        int significant = 0;
        int fraction = 0;
        boolean inFraction = false;
        for (; at < end; at++) {
            int c = text[at];
            if (c == '.') {
                inFraction = true;
            } else if (c >= '0' && c <= '9') {
                significant += mantissa != 0 || c != '0' ? 1 : 0;
                mantissa = significant <= MAX_LONG_DIGITS ? 10 * mantissa + c - '0' : mantissa;
                fraction += inFraction ? 1 : 0;
            } else {
                break;
            }
        }
        if (at == end && significant <= MAX_LONG_DIGITS && mantissa <= 1L << 53 && fraction <= EXACT_POWERS) {
            double magnitude = mantissa / POW10[fraction]; // both exact, so the one rounding is right
            return negative ? -magnitude : magnitude;
        }
        return Double.parseDouble(new String(text, offset, length, StandardCharsets.ISO_8859_1));
    }

    /** String to int64 within a signed type; not the CAST function. */
    public static long toInt(byte[] text, int offset, int length, int tp, EvalContext context) {
        int valid = validPrefix(text, offset, length, context);
        int start = Utf8.skipWhiteSpace(text, offset, offset + valid);
        int end = Utf8.trimEnd(text, start, offset + valid);
        int prefix = NumberPrefix.real(text, start, end - start, context);
        if (prefix == 0) {
            return 0;
        }
        byte[] own = NumberPrefix.integerTextOrNull(text, start, prefix, context);
        byte[] digits = own == null ? text : own;
        int from = own == null ? start : 0;
        int count = own == null ? prefix : own.length;
        if (IntText.fits(digits, from, count)) {
            return IntBounds.signed(IntText.parse(digits, from, count), tp, context);
        }
        context.overflow(outOfRange("BIGINT", digits, from, count));
        return digits[from] == '-' ? IntBounds.min(tp) : IntBounds.max(tp);
    }

    /** String to uint64 within an unsigned type; not the CAST function. */
    public static long toUnsigned(byte[] text, int offset, int length, int tp, EvalContext context) {
        int valid = validPrefix(text, offset, length, context);
        int start = Utf8.skipWhiteSpace(text, offset, offset + valid);
        int end = Utf8.trimEnd(text, start, offset + valid);
        int prefix = NumberPrefix.real(text, start, end - start, context);
        if (prefix == 0) {
            return 0;
        }
        byte[] own = NumberPrefix.integerTextOrNull(text, start, prefix, context);
        byte[] digits = own == null ? text : own;
        int from = own == null ? start : 0;
        int count = own == null ? prefix : own.length;
        if (digits[from] == '-') {
            context.overflow(outOfRange("BIGINT UNSIGNED", digits, from, count));
            return 0;
        }
        if (IntText.fitsUnsigned(digits, from, count)) {
            return IntBounds.unsigned(IntText.parse(digits, from, count), tp, context);
        }
        context.overflow(outOfRange("BIGINT UNSIGNED", digits, from, count));
        return IntBounds.maxUnsigned(tp);
    }

    /**
     * The CAST of a string to an integer.
     *
     * @param toUnsigned the result type is unsigned
     * @param inUnion the cast's metadata
     * @return the 64-bit pattern
     */
    public static long castToInt(
            byte[] text, int offset, int length, boolean toUnsigned, boolean inUnion, EvalContext context) {
        int valid = validPrefix(text, offset, length, context);
        int start = Utf8.skipWhiteSpace(text, offset, offset + valid);
        int end = Utf8.trimEnd(text, start, offset + valid);
        boolean negative = start < end && text[start] == '-';
        if (inUnion && toUnsigned && negative) {
            return 0;
        }
        int prefix = NumberPrefix.integer(text, start, end - start, context);
        if (prefix == 0) { // counts as 0, so a sign without digits is a negative 0
            if (negative && toUnsigned) {
                context.warn(toComplement());
            }
            return 0;
        }
        boolean fits = negative ? IntText.fits(text, start, prefix) : IntText.fitsUnsigned(text, start, prefix);
        if (fits) {
            long value = IntText.parse(text, start, prefix);
            if (!negative && !toUnsigned && value < 0) {
                context.warn(EvalException.coded(
                        CAST_WARNING,
                        "Cast to signed converted positive out-of-range integer to it's negative complement"));
            } else if (negative && toUnsigned) {
                context.warn(toComplement());
            }
            return value;
        }
        if (!context.hasFlag(EvalContext.OVERFLOW_AS_WARNING)) {
            throw outOfRange(negative ? "BIGINT UNSIGNED" : "BIGINT", text, start, prefix);
        }
        context.warn(NumberPrefix.incorrect("INTEGER", Utf8.lossy(text, start, end - start)));
        return negative ? Long.MIN_VALUE : -1L;
    }

    private static EvalException toComplement() {
        return EvalException.coded(
                CAST_WARNING, "Cast to unsigned converted negative integer to it's positive complement");
    }

    /** A binary literal as uint64: big-endian; more than eight significant bytes go through the truncation handler. */
    public static long binaryLiteral(byte[] bytes, int offset, int length, EvalContext context) {
        int end = offset + length;
        int at = offset;
        while (at < end && bytes[at] == 0) {
            at++;
        }
        if (end - at > Long.BYTES) {
            StringBuilder hex = new StringBuilder("0x");
            for (int i = at; i < end; i++) {
                hex.append(Character.forDigit(bytes[i] >> 4 & 15, 16)).append(Character.forDigit(bytes[i] & 15, 16));
            }
            context.truncated(NumberPrefix.incorrect("BINARY", hex.toString()));
            return -1L;
        }
        long value = 0;
        for (; at < end; at++) {
            value = value << 8 | bytes[at] & 0xff;
        }
        return value;
    }

    private static int validPrefix(byte[] text, int offset, int length, EvalContext context) {
        int valid = Utf8.validPrefix(text, offset, length);
        if (valid < length) {
            context.truncated();
        }
        return valid;
    }

    private static EvalException outOfRange(String type, byte[] text, int offset, int length) {
        return EvalException.coded(
                OUT_OF_RANGE, type + " value is out of range in '" + Utf8.lossy(text, offset, length) + "'");
    }
}
