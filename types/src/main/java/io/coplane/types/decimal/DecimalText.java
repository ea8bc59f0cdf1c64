package io.coplane.types.decimal;

import io.coplane.types.EvalException;
import io.coplane.types.number.RealText;
import java.nio.charset.StandardCharsets;

/** Texts of decimals (expressions.md 5.4.2). */
public final class DecimalText {
    /** Most bytes of a plain text: sign, digits, point, and a zero before it. */
    public static final int MAX_BYTES = Decimal.MAX_DIGITS + 3;

    private static final int MAX_EXPONENT = Integer.MAX_VALUE / 2;
    private static final int MIN_EXPONENT = Integer.MIN_VALUE / 2;
    private static final int BIGINT_OUT_OF_RANGE = 1690;

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
        return EvalException.uncoded("\"" + escaped(text, offset, length) + "\" " + what);
    }

    /** Bytes as the reference shows them: quotes, backslashes and line ends behind a backslash, what is not printable ASCII in octal. */
    private static String escaped(byte[] text, int offset, int length) {
        StringBuilder out = new StringBuilder(length);
        for (int i = offset; i < offset + length; i++) {
            int c = text[i] & 0xff;
            switch (c) {
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '"', '\\' -> out.append('\\').append((char) c);
                default -> {
                    if (c >= ' ' && c < 0x7f) {
                        out.append((char) c);
                    } else {
                        out.append('\\').append(c >> 6).append(c >> 3 & 7).append(c & 7);
                    }
                }
            }
        }
        return out.toString();
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

    /**
     * The failure of a text that parsed with a status other than OK, where nothing but a whole number will do.
     *
     * @param status TRUNCATED or OVERFLOW
     */
    public static EvalException unfit(DecimalStatus status, String text) {
        return EvalException.uncoded(
                "parsing " + text + (status == DecimalStatus.TRUNCATED ? " will truncated" : " will overflow"));
    }

    static void fromDouble(double value, Decimal out) {
        if (Double.isInfinite(value) || Double.isNaN(value)) {
            String name = Double.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
            throw EvalException.uncoded("invalid data type: " + name + " can't be convert to decimal'");
        }
        byte[] text = new byte[RealText.MAX_BYTES];
        int length = RealText.write(value, text, 0);
        DecimalStatus status = parse(text, 0, length, Decimal.WORDS, out);
        if (status != DecimalStatus.OK) {
            throw unfit(status, new String(text, 0, length, StandardCharsets.ISO_8859_1));
        }
    }
}
