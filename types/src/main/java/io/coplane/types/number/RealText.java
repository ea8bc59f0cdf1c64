package io.coplane.types.number;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Plain text of reals (expressions.md 5.1): the shortest digits that read back as the same value, never an exponent, no trailing ".0", the sign
 * kept for -0.
 */
public final class RealText {
    /** Most bytes that {@link #write} and {@link #writeFloat} take. */
    public static final int MAX_BYTES = 352;

    /** Below, an integer has at most 15 digits: no other decimal of 15 digits reads back as the same double. */
    private static final double UNIQUE_DOUBLE = 1e15;
    /** The same for floats: 6 digits. */
    private static final double UNIQUE_FLOAT = 1e6;

    private static final double[] POW10 = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10};
    private static final int MAX_FAST_FRACTION_DOUBLE = 10;
    private static final int MAX_FAST_FRACTION_FLOAT = 6;

    private RealText() {}

    /**
     * Writes a double.
     *
     * @param out at least {@link #MAX_BYTES} free from {@code at} on
     * @return index behind the text
     */
    public static int write(double value, byte[] out, int at) {
        int to = sign(value, out, at);
        double magnitude = Math.abs(value);
        if (magnitude == Double.POSITIVE_INFINITY) {
            return infinity(out, to);
        }
        for (int digits = 0; digits <= MAX_FAST_FRACTION_DOUBLE; digits++) {
            double scaled = Math.rint(magnitude * POW10[digits]);
            if (scaled >= UNIQUE_DOUBLE) {
                break;
            }
            if (scaled / POW10[digits] == magnitude) {
                return fixed((long) scaled, digits, out, to);
            }
        }
        return positional(shortest(magnitude), out, to);
    }

    /** Writes a float by its own shortest digits; otherwise as {@link #write}. */
    public static int writeFloat(float value, byte[] out, int at) {
        int to = sign(value, out, at);
        float magnitude = Math.abs(value);
        if (magnitude == Float.POSITIVE_INFINITY) {
            return infinity(out, to);
        }
        for (int digits = 0; digits <= MAX_FAST_FRACTION_FLOAT; digits++) {
            double scaled = Math.rint(magnitude * POW10[digits]);
            if (scaled >= UNIQUE_FLOAT) {
                break;
            }
            // the quotient's own rounding can't hide a tie between floats: both are multiples of more than 2^-45 of the
            // value
            if ((float) (scaled / POW10[digits]) == magnitude) {
                return fixed((long) scaled, digits, out, to);
            }
        }
        return positional(shortest(magnitude), out, to);
    }

    /** The text as a string, for messages. */
    public static String of(double value) {
        byte[] text = new byte[MAX_BYTES];
        return new String(text, 0, write(value, text, 0), StandardCharsets.ISO_8859_1);
    }

    private static int sign(double value, byte[] out, int at) {
        if (Double.doubleToRawLongBits(value) < 0) {
            out[at] = '-';
            return at + 1;
        }
        return at;
    }

    private static int infinity(byte[] out, int at) {
        out[at] = 'i';
        out[at + 1] = 'n';
        out[at + 2] = 'f';
        return at + 3;
    }

    /** {@code unscaled} / 10^{@code fraction}, trailing zeros of the fraction not wanted: the caller found the fewest digits. */
    private static int fixed(long unscaled, int fraction, byte[] out, int at) {
        if (fraction == 0) {
            return IntText.write(unscaled, out, at);
        }
        long unit = (long) POW10[fraction];
        int to = IntText.write(unscaled / unit, out, at);
        out[to++] = '.';
        long rest = unscaled % unit;
        for (int i = to + fraction - 1; i >= to; i--) {
            out[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        return to + fraction;
    }

    /**
     * The shortest digits as {@code Double.toString} lays them out, but for two things. Java gives at least two digits, so for some subnormal
     * values one would do: 4.9E-324 is 5E-324. And where the value lies in the middle of two shortest texts, Java takes the even digit, the
     * reference the larger one: 769.45855712890625 is 769.4585571289063.
     */
    private static String shortest(double magnitude) {
        String text = Double.toString(magnitude);
        if (magnitude < Double.MIN_NORMAL && text.charAt(2) != '0' && text.charAt(3) == 'E') {
            String exponent = text.substring(3);
            int digit = text.charAt(0) - '0' + (text.charAt(2) >= '5' ? 1 : 0);
            String one = digit + ".0" + exponent;
            if (digit < 10 && Double.parseDouble(one) == magnitude) {
                return one;
            }
        }
        long mantissa = Double.doubleToRawLongBits(magnitude) & (1L << 52) - 1 | 1L << 52;
        int fractionBits = 52 - Math.getExponent(magnitude) - Long.numberOfTrailingZeros(mantissa);
        return mayBeTie(text, fractionBits, 52 - Math.getExponent(magnitude)) ? tieUp(text, magnitude) : text;
    }

    private static String shortest(float magnitude) {
        String text = Float.toString(magnitude);
        if (magnitude < Float.MIN_NORMAL && text.charAt(2) != '0' && text.charAt(3) == 'E') {
            String exponent = text.substring(3);
            int digit = text.charAt(0) - '0' + (text.charAt(2) >= '5' ? 1 : 0);
            String one = digit + ".0" + exponent;
            if (digit < 10 && Float.parseFloat(one) == magnitude) {
                return one;
            }
        }
        int mantissa = Float.floatToRawIntBits(magnitude) & (1 << 23) - 1 | 1 << 23;
        int fractionBits = 23 - Math.getExponent(magnitude) - Integer.numberOfTrailingZeros(mantissa);
        return mayBeTie(text, fractionBits, 23 - Math.getExponent(magnitude)) ? tieUp(text, magnitude) : text;
    }

    /**
     * A value with f fraction bits has exactly f fraction digits, so in the middle of two texts it has one more than they; integers beyond the
     * mantissa are looked at in full.
     */
    private static boolean mayBeTie(String text, int fractionBits, int exponent) {
        if (exponent < 0) {
            return true;
        }
        int exponentAt = text.indexOf('E');
        if (fractionBits <= 0) {
            return false;
        }
        int end = exponentAt < 0 ? text.length() : exponentAt;
        int shift = exponentAt < 0 ? 0 : Integer.parseInt(text, exponentAt + 1, text.length(), 10);
        return end - text.indexOf('.') - 1 - shift + 1 == fractionBits;
    }

    private static String tieUp(String text, double magnitude) {
        BigDecimal shown = new BigDecimal(text).stripTrailingZeros();
        BigDecimal above = new BigDecimal(magnitude).subtract(shown);
        if (above.signum() > 0 && above.add(above).compareTo(shown.ulp()) == 0) {
            BigDecimal next = shown.add(shown.ulp());
            String digits = next.unscaledValue().toString();
            String fraction = digits.length() == 1 ? "0" : digits.substring(1);
            return digits.charAt(0) + "." + fraction + "E" + (digits.length() - 1 - next.scale());
        }
        return text;
    }

    /** Lays {@code d.dddE±x} or {@code ddd.ddd} out without an exponent. */
    private static int positional(String text, byte[] out, int at) {
        int exponentAt = text.indexOf('E');
        int end = exponentAt < 0 ? text.length() : exponentAt;
        int point = text.indexOf('.');
        int exponent = exponentAt < 0 ? 0 : Integer.parseInt(text, exponentAt + 1, text.length(), 10);
        byte[] digits = new byte[end];
        int count = 0;
        for (int i = 0; i < end; i++) {
            if (i != point) {
                digits[count++] = (byte) text.charAt(i);
            }
        }
        int whole = point + exponent; // digits before the point; may be negative or beyond count
        int first = 0;
        while (first < count - 1 && digits[first] == '0') {
            first++;
        }
        while (count > first + 1 && digits[count - 1] == '0') {
            count--;
        }
        int to = at;
        if (whole <= first) {
            out[to++] = '0';
            out[to++] = '.';
            Arrays.fill(out, to, to + first - whole, (byte) '0');
            to += first - whole;
            System.arraycopy(digits, first, out, to, count - first);
            return to + count - first;
        }
        for (int i = first; i < Math.max(whole, count); i++) {
            if (i == whole) {
                out[to++] = '.';
            }
            out[to++] = i < count ? digits[i] : (byte) '0';
        }
        return to;
    }
}
