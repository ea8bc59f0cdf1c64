package io.coplane.types.number;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.text.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The part of a text that reads as a number (expressions.md 5.3). */
final class NumberPrefix {
    private static final int TRUNCATED_WRONG_VALUE = 1292;
    private static final int OUT_OF_RANGE = 1690;
    private static final int MAX_INT_DIGITS = 21;
    static final byte[] ZERO = {'0'};

    private NumberPrefix() {}

    /** Bytes of the longest real at the start of a trimmed text; if not all, the truncation handler decides. */
    static int real(byte[] text, int offset, int length, EvalContext context) {
        boolean sawDot = false;
        boolean sawDigit = false;
        int exponentAt = 0;
        int valid = 0;
        for (int i = 0; i < length; i++) {
            int c = text[offset + i];
            if (c == '+' || c == '-') {
                if (i != 0 && (exponentAt == 0 || i != exponentAt + 1)) {
                    break;
                }
            } else if (c == '.') {
                if (sawDot || exponentAt > 0) {
                    break;
                }
                sawDot = true;
                if (sawDigit) {
                    valid = i + 1;
                }
            } else if (c == 'e' || c == 'E') {
                if (!sawDigit || exponentAt != 0) {
                    break;
                }
                exponentAt = i;
            } else if (c >= '0' && c <= '9') {
                sawDigit = true;
                valid = i + 1;
            } else {
                break;
            }
        }
        checkWhole(text, offset, length, valid, context);
        return valid;
    }

    /** Bytes of the longest {@code [+-]digits} at the start of a trimmed text; if not all, the truncation handler decides. */
    static int integer(byte[] text, int offset, int length, EvalContext context) {
        int valid = 0;
        for (int i = 0; i < length; i++) {
            int c = text[offset + i];
            if (c >= '0' && c <= '9') {
                valid = i + 1;
            } else if (i != 0 || c != '+' && c != '-') {
                break;
            }
        }
        checkWhole(text, offset, length, valid, context);
        return valid;
    }

    private static void checkWhole(byte[] text, int offset, int length, int valid, EvalContext context) {
        if (valid == 0 || valid < length) {
            context.truncated(incorrect("INTEGER", Utf8.lossy(text, offset, length)));
        }
    }

    static EvalException incorrect(String type, String value) {
        return EvalException.coded(TRUNCATED_WRONG_VALUE, "Truncated incorrect " + type + " value: '" + value + "'");
    }

    /**
     * Integer text of a real's text: rounded half away from zero by one digit. The text itself where its exponent is beyond bounds.
     *
     * @return an array of its own, or null if the text has neither point nor exponent
     */
    static byte[] integerTextOrNull(byte[] text, int offset, int length, EvalContext context) {
        int dot = -1;
        int exponentAt = -1;
        for (int i = 0; i < length; i++) {
            int c = text[offset + i];
            if (c == '.') {
                dot = i;
            } else if (c == 'e' || c == 'E') {
                exponentAt = i;
                break;
            }
        }
        if (exponentAt >= 0) {
            return scaled(text, offset, length, dot, exponentAt, context);
        }
        return dot < 0 ? null : rounded(text, offset, length, dot);
    }

    private static byte[] rounded(byte[] text, int offset, int length, int dot) {
        boolean negative = text[offset] == '-';
        int start = negative || text[offset] == '+' ? 1 : 0;
        byte[] digits = dot == start ? ZERO : Arrays.copyOfRange(text, offset + start, offset + dot);
        if (dot + 1 < length && text[offset + dot + 1] >= '5') {
            digits = increment(digits, 0);
        }
        if (!negative || digits.length == 1 && digits[0] == '0') {
            return digits;
        }
        byte[] signed = new byte[digits.length + 1];
        signed[0] = '-';
        System.arraycopy(digits, 0, signed, 1, digits.length);
        return signed;
    }

    private static byte[] scaled(byte[] text, int offset, int length, int dot, int exponentAt, EvalContext context) {
        byte[] whole = Arrays.copyOfRange(text, offset, offset + length);
        if (!IntText.fits(text, offset + exponentAt + 1, length - exponentAt - 1)) {
            return whole;
        }
        long exponent = IntText.parse(text, offset + exponentAt + 1, length - exponentAt - 1);
        byte[] digits = new byte[dot < 0 ? exponentAt : exponentAt - 1];
        int before = dot < 0 ? exponentAt : dot;
        System.arraycopy(text, offset, digits, 0, before);
        System.arraycopy(text, offset + before + (dot < 0 ? 0 : 1), digits, before, digits.length - before);
        long count = before + exponent;
        if (exponent > 0 && count < 0 || count > MAX_INT_DIGITS) {
            context.warn(EvalException.coded(
                    OUT_OF_RANGE,
                    "BIGINT value is out of range in '" + new String(whole, StandardCharsets.UTF_8) + "'"));
            return whole;
        }
        if (count < 0) {
            return ZERO;
        }
        int kept = (int) count;
        boolean up = kept < digits.length && digits[kept] >= '5' && digits[kept] <= '9';
        if (kept == 0) {
            return up ? new byte[] {'1'} : ZERO;
        }
        boolean sign = digits[0] == '+' || digits[0] == '-';
        if (kept == 1 && sign) {
            return up ? new byte[] {digits[0], '1'} : ZERO;
        }
        byte[] result = new byte[kept];
        Arrays.fill(result, (byte) '0');
        System.arraycopy(digits, 0, result, 0, Math.min(kept, digits.length));
        return up ? increment(result, sign ? 1 : 0) : result;
    }

    /** Adds one to the digits from {@code start} on. */
    static byte[] increment(byte[] digits, int start) {
        byte[] result = digits.clone();
        int at = result.length - 1;
        while (at >= start && result[at] == '9') {
            result[at--] = '0';
        }
        if (at >= start) {
            result[at]++;
            return result;
        }
        byte[] longer = new byte[result.length + 1];
        System.arraycopy(result, 0, longer, 0, start);
        longer[start] = '1';
        System.arraycopy(result, start, longer, start + 1, result.length - start);
        return longer;
    }
}
