package io.coplane.types.decimal;

import io.coplane.types.EvalException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Texts of decimals (expressions.md 5.4.2). */
public final class DecimalText {
    /** Most bytes of a plain text: sign, digits, point, and a zero before it. */
    public static final int MAX_BYTES = Decimal.MAX_DIGITS + 3;

    private static final int MAX_EXPONENT = Integer.MAX_VALUE / 2;
    private static final int MIN_EXPONENT = Integer.MIN_VALUE / 2;
    private static final int BIGINT_OUT_OF_RANGE = 1690;

    /** Digits of the shortest text of a double, and positions of the largest exponent. */
    private static final int DOUBLE_TEXT_BYTES = 360;

    private static final int EXACT_DOUBLE_POWERS = 22;
    private static final long EXACT_DOUBLE_INTEGERS = 1L << 53;
    private static final double[] DOUBLE_POW10 = new double[EXACT_DOUBLE_POWERS + 1];

    static {
        double power = 1;
        for (int i = 0; i <= EXACT_DOUBLE_POWERS; i++) {
            DOUBLE_POW10[i] = power;
            power *= 10;
        }
    }

    private DecimalText() {}

    /** Parses; {@code limitWords} is 9 but in tests. */
    static DecimalStatus parse(byte[] text, int offset, int length, int limitWords, Decimal out) {
        int end = offset + length;
        int at = offset;
        out.setZero();
        while (at < end && isSpace(text[at])) {
            at++;
        }
        if (at == end) {
            throw bad(text, offset, length, "is empty");
        }
        boolean negative = text[at] == '-';
        if (negative || text[at] == '+') {
            at++;
        }
        int intStart = at;
        at = skipDigits(text, at, end);
        int intDigits = at - intStart;
        int fracStart = at;
        int fracDigits = 0;
        if (at < end && text[at] == '.') {
            fracStart = at + 1;
            at = skipDigits(text, fracStart, end);
            fracDigits = at - fracStart;
        }
        if (intDigits + fracDigits == 0) {
            throw bad(text, offset, length, "is invalid number");
        }
        DecimalStatus status = DecimalStatus.OK;
        int intWords = words(intDigits);
        if (intWords > limitWords) {
            int kept = limitWords * Decimal.WORD_DIGITS;
            intStart += intDigits - kept;
            intDigits = kept;
            fracDigits = 0;
            status = DecimalStatus.OVERFLOW;
        } else if (intWords + words(fracDigits) > limitWords) {
            fracDigits = (limitWords - intWords) * Decimal.WORD_DIGITS;
            status = DecimalStatus.TRUNCATED;
        }
        fill(text, intStart, intDigits, fracStart, fracDigits, out);
        out.negative = negative;
        if (at < end) {
            status = rest(text, at, end, limitWords, status, out);
        }
        out.negative &= !out.isZero();
        out.resultFracCount = out.fracCount;
        return status;
    }

    private static DecimalStatus rest(
            byte[] text, int from, int end, int limitWords, DecimalStatus status, Decimal out) {
        int at = from;
        if ((text[at] | 0x20) == 'e') {
            return exponent(text, at + 1, end, limitWords, status, out);
        }
        while (at < end && isSpace(text[at])) {
            at++;
        }
        return at == end || status == DecimalStatus.OVERFLOW ? status : DecimalStatus.TRUNCATED;
    }

    private static DecimalStatus exponent(
            byte[] text, int from, int end, int limitWords, DecimalStatus status, Decimal out) {
        long exponent = parseExponent(text, from, end);
        boolean negative = out.negative;
        if (exponent > MAX_EXPONENT) {
            out.setMax(negative, limitWords * Decimal.WORD_DIGITS, 0);
            return DecimalStatus.OVERFLOW;
        }
        if (exponent < MIN_EXPONENT) {
            out.setZero();
            return DecimalStatus.TRUNCATED;
        }
        DecimalStatus shifted = DecimalRounding.shift(out, (int) exponent, limitWords);
        if (shifted == DecimalStatus.OVERFLOW) {
            out.setMax(negative, limitWords * Decimal.WORD_DIGITS, 0);
        }
        return shifted == DecimalStatus.OK ? status : shifted;
    }

    private static long parseExponent(byte[] text, int from, int end) {
        int at = from;
        while (at < end && (text[at] == ' ' || text[at] == '\t')) {
            at++;
        }
        boolean negative = at < end && text[at] == '-';
        if (at < end && (text[at] == '-' || text[at] == '+')) {
            at++;
        }
        long value = 0; // negative, so that the smallest number fits
        for (; at < end && isDigit(text[at]); at++) {
            int digit = text[at] - '0';
            if (value < (Long.MIN_VALUE + digit) / 10) {
                throw outOfRange();
            }
            value = 10 * value - digit;
        }
        if (!negative && value == Long.MIN_VALUE) {
            throw outOfRange();
        }
        return negative ? value : -value;
    }

    private static EvalException outOfRange() {
        return EvalException.coded(BIGINT_OUT_OF_RANGE, "BIGINT value is out of range in ''");
    }

    private static void fill(byte[] text, int intStart, int intDigits, int fracStart, int fracDigits, Decimal out) {
        out.intCount = intDigits;
        out.fracCount = fracDigits;
        int word = 0;
        int index = 0;
        for (int i = 0; i < intDigits; i++) {
            word = 10 * word + text[intStart + i] - '0';
            if ((intDigits - 1 - i) % Decimal.WORD_DIGITS == 0) {
                out.words[index++] = word;
                word = 0;
            }
        }
        for (int i = 0; i < fracDigits; i++) {
            word = 10 * word + text[fracStart + i] - '0';
            if (i % Decimal.WORD_DIGITS == Decimal.WORD_DIGITS - 1) {
                out.words[index++] = word;
                word = 0;
            }
        }
        int partial = fracDigits % Decimal.WORD_DIGITS;
        if (partial != 0) {
            out.words[index] = word * Decimal.POW10[Decimal.WORD_DIGITS - partial];
        }
    }

    private static int words(int digits) {
        return digits / Decimal.WORD_DIGITS + (digits % Decimal.WORD_DIGITS == 0 ? 0 : 1);
    }

    private static int skipDigits(byte[] text, int from, int end) {
        int at = from;
        while (at < end && isDigit(text[at])) {
            at++;
        }
        return at;
    }

    private static boolean isDigit(byte c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isSpace(byte c) {
        return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
    }

    private static EvalException bad(byte[] text, int offset, int length, String what) {
        return EvalException.uncoded(
                "invalid data type: \"" + new String(text, offset, length, StandardCharsets.UTF_8) + "\" " + what);
    }

    static int plain(Decimal value, byte[] target, int start) {
        int at = start;
        if (value.negative) {
            target[at++] = '-';
        }
        int intWords = value.intWords();
        int first = 0;
        while (first < intWords && value.words[first] == 0) {
            first++;
        }
        if (first == intWords) {
            target[at++] = '0';
        }
        for (int i = first; i < intWords; i++) {
            int digits = i == first ? Decimal.digitsOf(value.words[i]) : Decimal.WORD_DIGITS;
            putDigits(value.words[i], digits, target, at);
            at += digits;
        }
        if (value.fracCount > 0) {
            target[at++] = '.';
            for (int i = 0; i < value.fracCount; i += Decimal.WORD_DIGITS) {
                int digits = Math.min(Decimal.WORD_DIGITS, value.fracCount - i);
                putDigits(
                        value.wordAt(i / Decimal.WORD_DIGITS) / Decimal.POW10[Decimal.WORD_DIGITS - digits],
                        digits,
                        target,
                        at);
                at += digits;
            }
        }
        return at - start;
    }

    private static void putDigits(int word, int digits, byte[] target, int at) {
        int rest = word;
        for (int i = at + digits - 1; i >= at; i--) {
            int quotient = rest / 10;
            target[i] = (byte) ('0' + rest - 10 * quotient);
            rest = quotient;
        }
    }

    static double toDouble(Decimal value) {
        long unscaled = DecimalColumns.unscaledOrMin(value);
        if (unscaled != Long.MIN_VALUE) {
            return toDouble(unscaled, value.fracCount, value.negative);
        }
        return Double.parseDouble(value.plainText());
    }

    /** Nearest double of {@code unscaled} / 10^{@code frac}; {@code negative} gives a zero its sign. */
    static double toDouble(long unscaled, int frac, boolean negative) {
        if (unscaled == 0) {
            return negative ? -0.0 : 0.0;
        }
        if (Math.abs(unscaled) <= EXACT_DOUBLE_INTEGERS && frac <= EXACT_DOUBLE_POWERS) {
            return unscaled / DOUBLE_POW10[frac]; // both exact, so the one rounding is right
        }
        return Double.parseDouble(unscaled + "e-" + frac);
    }

    static void fromDouble(double value, Decimal out) {
        if (Double.isInfinite(value) || Double.isNaN(value)) {
            String name = Double.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
            throw EvalException.uncoded("invalid data type: " + name + " can't be convert to decimal'");
        }
        byte[] text = new byte[DOUBLE_TEXT_BYTES];
        int length = positional(Double.toString(value), text);
        DecimalStatus status = parse(text, 0, length, Decimal.WORDS, out);
        if (status != DecimalStatus.OK) {
            throw EvalException.uncoded("parsing " + new String(text, 0, length, StandardCharsets.ISO_8859_1)
                    + (status == DecimalStatus.TRUNCATED ? " will truncated" : " will overflow"));
        }
    }

    /** Lays the shortest digits of a double out without an exponent and without a trailing ".0". */
    private static int positional(String shortest, byte[] target) {
        int exponentAt = shortest.indexOf('E');
        int exponent = exponentAt < 0 ? 0 : Integer.parseInt(shortest, exponentAt + 1, shortest.length(), 10);
        int mantissaEnd = exponentAt < 0 ? shortest.length() : exponentAt;
        int start = shortest.charAt(0) == '-' ? 1 : 0;
        int point = shortest.indexOf('.');
        int at = 0;
        if (start == 1) {
            target[at++] = '-';
        }
        boolean zeroFraction = point + 2 == mantissaEnd && shortest.charAt(point + 1) == '0';
        int digitsEnd = zeroFraction ? point : mantissaEnd;
        int intDigits = point - start + exponent;
        if (intDigits <= 0) {
            target[at++] = '0';
            target[at++] = '.';
            Arrays.fill(target, at, at - intDigits, (byte) '0');
            at -= intDigits;
        }
        int written = 0;
        for (int i = start; i < digitsEnd; i++) {
            if (i == point) {
                continue;
            }
            if (written == intDigits && written > 0) {
                target[at++] = '.';
            }
            target[at++] = (byte) shortest.charAt(i);
            written++;
        }
        for (; written < intDigits; written++) {
            target[at++] = '0';
        }
        return at;
    }
}
