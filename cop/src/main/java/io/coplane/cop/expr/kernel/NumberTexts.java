package io.coplane.cop.expr.kernel;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.text.Utf8;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;

/** Text to numbers and back (expressions.md 5.1, 5.3). Holds the range of the text being read; one thread. */
final class NumberTexts {
    private static final int TRUNCATED_VALUE = 1292;
    private static final int OUT_OF_RANGE = 1690;
    private static final int MOST_EXACT_DIGITS = 15;
    private static final double[] EXACT_POWERS = new double[23];

    static {
        double power = 1;
        for (int i = 0; i < EXACT_POWERS.length; i++) {
            EXACT_POWERS[i] = power;
            power *= 10;
        }
    }

    private byte[] data;
    private int start;
    private int end;

    /** Takes a text: its valid UTF-8 prefix without white space on both sides; a cut is a truncation. */
    void take(EvalContext eval, byte[] bytes, int offset, int length) {
        int valid = Utf8.validPrefix(bytes, offset, length);
        if (valid < length) {
            eval.truncated();
        }
        data = bytes;
        start = Utf8.skipWhiteSpace(bytes, offset, offset + valid);
        end = Utf8.trimEnd(bytes, start, offset + valid);
    }

    boolean isEmpty() {
        return start == end;
    }

    boolean startsWithMinus() {
        return start < end && data[start] == '-';
    }

    String text() {
        return new String(data, start, end - start, StandardCharsets.UTF_8);
    }

    private EvalException truncatedInteger() {
        return EvalException.coded(TRUNCATED_VALUE, "Truncated incorrect INTEGER value: '" + text() + "'");
    }

    /** Cuts the text to its float prefix; the truncation of anything else is reported. */
    void cutToFloat(EvalContext eval) {
        int valid = floatPrefix();
        if (valid == start || valid < end) {
            eval.truncated(truncatedInteger());
        }
        end = valid;
    }

    /** Index behind the longest prefix that is a float. */
    private int floatPrefix() {
        boolean sawDot = false;
        boolean sawDigit = false;
        int exponentAt = -1;
        int valid = start;
        for (int i = start; i < end; i++) {
            byte b = data[i];
            if (b == '+' || b == '-') {
                if (i != start && i != exponentAt + 1 || i != start && exponentAt < 0) {
                    break;
                }
            } else if (b == '.') {
                if (sawDot || exponentAt >= 0) {
                    break;
                }
                sawDot = true;
                valid = sawDigit ? i + 1 : valid;
            } else if (b == 'e' || b == 'E') {
                if (!sawDigit || exponentAt >= 0) {
                    break;
                }
                exponentAt = i;
            } else if (b >= '0' && b <= '9') {
                sawDigit = true;
                valid = i + 1;
            } else {
                break;
            }
        }
        return valid;
    }

    /** The number of a text cut to its float prefix; infinite is a truncation to the largest double. */
    double toDouble(EvalContext eval) {
        if (start == end) {
            return 0;
        }
        double value = parseDouble();
        if (Double.isInfinite(value)) {
            eval.truncated(EvalException.coded(TRUNCATED_VALUE, "Truncated incorrect DOUBLE value: '" + text() + "'"));
            return Math.copySign(Double.MAX_VALUE, value);
        }
        return value;
    }

    private double parseDouble() {
        long digits = 0;
        int count = 0;
        int fraction = 0;
        boolean sawDot = false;
        boolean negative = data[start] == '-';
        int i = negative || data[start] == '+' ? start + 1 : start;
        for (; i < end && count <= MOST_EXACT_DIGITS; i++) {
            byte b = data[i];
            if (b == '.') {
                sawDot = true;
            } else if (b >= '0' && b <= '9') {
                digits = digits * 10 + b - '0';
                count += digits == 0 ? 0 : 1;
                fraction += sawDot ? 1 : 0;
            } else {
                break;
            }
        }
        if (i == end && count <= MOST_EXACT_DIGITS && fraction < EXACT_POWERS.length) {
            double value = digits / EXACT_POWERS[fraction]; // both exact, so correctly rounded
            return negative ? -value : value;
        }
        return Double.parseDouble(new String(data, start, end - start, StandardCharsets.ISO_8859_1));
    }

    /** Cuts the text to the prefix of CAST to an integer: a sign and digits. */
    void cutToInteger(EvalContext eval) {
        int valid = start;
        for (int i = start; i < end; i++) {
            byte b = data[i];
            if (b >= '0' && b <= '9') {
                valid = i + 1;
            } else if (i != start || b != '+' && b != '-') {
                break;
            }
        }
        if (valid == start || valid < end) {
            eval.truncated(truncatedInteger());
        }
        end = valid;
    }

    /**
     * Reads sign and digits.
     *
     * @param negative read as int64, else as uint64
     * @param result takes the pattern
     * @return false if it does not fit
     */
    boolean parseInteger(boolean negative, long[] result) {
        int i = start;
        if (i < end && (data[i] == '-' || data[i] == '+')) {
            i++;
        }
        long value = 0;
        for (; i < end; i++) {
            int digit = data[i] - '0';
            if (Long.compareUnsigned(value, Long.divideUnsigned(-1L - digit, 10)) > 0) {
                return false;
            }
            value = value * 10 + digit;
        }
        if (negative && value < 0 && value != Long.MIN_VALUE) {
            return false;
        }
        result[0] = negative ? -value : value;
        return true;
    }

    /** Text cut to an integer; {@code 0} if nothing is left. */
    String integerText() {
        return start == end ? "0" : text();
    }

    // ---- text to integers by way of floats (expressions.md 5.3, "int prefix for all other conversions")

    /** Text to int64 (LongLong bounds), rounding a fraction. */
    long toLong(EvalContext eval) {
        String text = integerOfFloat(eval);
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException ignored) { // too large, or an exponent that was left
            eval.overflow(outOfRange("BIGINT", text));
            return text.startsWith("-") ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    /** Text to uint64 (LongLong bounds), rounding a fraction. */
    long toUlong(EvalContext eval) {
        String text = integerOfFloat(eval);
        if (text.startsWith("-")) {
            eval.overflow(outOfRange("BIGINT UNSIGNED", text));
            return 0;
        }
        try {
            return Long.parseUnsignedLong(text);
        } catch (NumberFormatException ignored) { // as above
            eval.overflow(outOfRange("BIGINT UNSIGNED", text));
            return -1;
        }
    }

    private static EvalException outOfRange(String type, String text) {
        return EvalException.coded(OUT_OF_RANGE, type + " value is out of range in '" + text + "'");
    }

    private String integerOfFloat(EvalContext eval) {
        cutToFloat(eval);
        String text = start == end ? "0" : text();
        int exponentAt = Math.max(text.indexOf('e'), text.indexOf('E'));
        int dot = text.indexOf('.');
        if (exponentAt < 0) {
            return dot < 0 ? text : rounded(text, dot);
        }
        return scaled(eval, text, exponentAt, dot);
    }

    /** Digits before the dot, rounded by the first behind it. */
    private static String rounded(String text, int dot) {
        String digits = text.substring(0, dot);
        if (digits.isEmpty() || digits.equals("-") || digits.equals("+")) {
            digits += "0";
        }
        boolean up = dot + 1 < text.length() && text.charAt(dot + 1) >= '5';
        return withSign(digits, up);
    }

    /** Adds one to the magnitude if {@code up}; no plus sign, no negative zero. */
    private static String withSign(String digits, boolean up) {
        boolean negative = digits.startsWith("-");
        String magnitude = negative || digits.startsWith("+") ? digits.substring(1) : digits;
        if (up) {
            char[] chars = magnitude.toCharArray();
            int i = chars.length - 1;
            while (i >= 0 && chars[i] == '9') {
                chars[i--] = '0';
            }
            if (i >= 0) {
                chars[i]++;
                magnitude = new String(chars);
            } else {
                magnitude = "1" + new String(chars);
            }
        }
        return negative && !magnitude.equals("0") ? "-" + magnitude : magnitude;
    }

    private static String scaled(EvalContext eval, String text, int exponentAt, int dot) {
        long exponent;
        try {
            exponent = Long.parseLong(text.substring(exponentAt + 1));
        } catch (NumberFormatException ignored) {
            return text; // its parse fails later: the overflow path
        }
        String mantissa = text.substring(0, exponentAt);
        long beforeDot = dot < 0 ? mantissa.length() : dot;
        String digits = mantissa.replace(".", "");
        long count = beforeDot + exponent;
        boolean overflow = exponent > 0 && count < 0;
        if (overflow || count > 21) {
            eval.warn(outOfRange("BIGINT", text));
            return text;
        }
        if (count < 0) {
            return "0";
        }
        if (count == 0) {
            return Character.isDigit(digits.charAt(0)) && digits.charAt(0) >= '5' ? "1" : "0";
        }
        char first = digits.charAt(0);
        if (count == 1 && (first == '-' || first == '+')) {
            boolean up = digits.length() > 1 && digits.charAt(1) >= '5';
            return withSign(first + "0", up);
        }
        if (count <= digits.length()) {
            boolean up = count < digits.length() && digits.charAt((int) count) >= '5';
            return withSign(digits.substring(0, (int) count), up);
        }
        return digits + "0".repeat((int) count - digits.length());
    }

    // ---- doubles

    /** A double to an int64 (LongLong bounds): half to even. */
    static long toLong(EvalContext eval, double value) {
        double rounded = Math.rint(value);
        if (rounded < Long.MIN_VALUE) {
            eval.overflow(overflows(rounded));
            return Long.MIN_VALUE;
        }
        if (rounded > 0x1p63) {
            eval.overflow(overflows(rounded));
        }
        return (long) rounded; // saturates
    }

    /** A double to a uint64 (LongLong bounds): half away from zero. */
    static long toUlong(EvalContext eval, double value) {
        double rounded = Math.copySign(Math.floor(Math.abs(value)), value);
        if (Math.abs(value - rounded) >= 0.5) {
            rounded += Math.signum(value);
        }
        if (rounded < 0) {
            eval.overflow(overflows(rounded));
            return eval.clipsToZero() ? 0 : (long) rounded;
        }
        if (rounded >= 0x1p64) {
            if (rounded > 0x1p64) {
                eval.overflow(overflows(rounded));
            }
            return -1;
        }
        return rounded >= 0x1p63 ? (long) (rounded - 0x1p63) ^ Long.MIN_VALUE : (long) rounded;
    }

    private static EvalException overflows(double value) {
        return EvalException.coded(
                OUT_OF_RANGE, "constant " + Reals.text(value) + " overflows " + FieldType.name(FieldType.LONG_LONG));
    }

    /** An unsigned pattern as a double. */
    static double unsignedToDouble(long value) {
        if (value >= 0) {
            return value;
        }
        double half = (double) (value >>> 1 | value & 1); // the lost bit is sticky, so the rounding stays right
        return half * 2;
    }

    /** A binary literal (a constant of a binary string type) as uint64 (expressions.md 5.3). */
    static long binaryLiteral(EvalContext eval, byte[] bytes, int offset, int length) {
        int at = offset;
        int end = offset + length;
        while (at < end && bytes[at] == 0) {
            at++;
        }
        if (end - at > Long.BYTES) {
            StringBuilder hex = new StringBuilder();
            for (int i = at; i < end; i++) {
                hex.append(Character.forDigit(bytes[i] >> 4 & 0xf, 16)).append(Character.forDigit(bytes[i] & 0xf, 16));
            }
            eval.truncated(EvalException.coded(TRUNCATED_VALUE, "Truncated incorrect BINARY value: '0x" + hex + "'"));
            return -1;
        }
        long value = 0;
        for (; at < end; at++) {
            value = value << 8 | bytes[at] & 0xff;
        }
        return value;
    }

    /** Text of a FLOAT: shortest digits of the narrowed number. */
    static String floatText(float value) {
        if (Float.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return 1 / value < 0 ? "-0" : "0";
        }
        return new BigDecimal(Float.toString(value)).stripTrailingZeros().toPlainString();
    }

    /** Writes the decimal text of a number. @return bytes written */
    static int putLong(long value, boolean unsigned, byte[] target, int at) {
        int write = at;
        long rest = value;
        if (!unsigned && value < 0) {
            target[write++] = '-';
            rest = -value; // MIN stays MIN, which is its magnitude as an unsigned number
        }
        int digits = 1;
        for (long left = Long.divideUnsigned(rest, 10); left != 0; left /= 10) {
            digits++;
        }
        for (int i = write + digits - 1; i >= write; i--) {
            long quotient = Long.divideUnsigned(rest, 10);
            target[i] = (byte) ('0' + rest - quotient * 10);
            rest = quotient;
        }
        return write + digits - at;
    }
}
