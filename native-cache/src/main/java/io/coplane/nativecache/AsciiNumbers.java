package io.coplane.nativecache;

import java.math.BigDecimal;

/**
 * Numbers in text from outside: requests, headers, options, environment, file names. The JDK's parsers take the digits of every script (to them the
 * Arabic-Indic {@code \u0664\u0662} is 42), and hexadecimal fractions and type suffixes in a {@code double}; the reference takes none of that, and neither
 * do these. Else they are the JDK's, bounds and signs included.
 */
public final class AsciiNumbers {
    private AsciiNumbers() {}

    /** @throws NumberFormatException if {@code text} is no signed 32-bit number */
    public static int parseInt(String text) {
        return Integer.parseInt(whole(text));
    }

    /** @throws NumberFormatException if {@code text} is no unsigned 32-bit number */
    public static int parseUnsignedInt(String text) {
        return Integer.parseUnsignedInt(whole(text));
    }

    /** @throws NumberFormatException if {@code text} is no signed 64-bit number */
    public static long parseLong(String text) {
        return Long.parseLong(whole(text));
    }

    /** @throws NumberFormatException if {@code text} is no unsigned 64-bit number */
    public static long parseUnsignedLong(String text) {
        return Long.parseUnsignedLong(whole(text));
    }

    /** @throws NumberFormatException if {@code text} is no decimal number, with a fraction and an exponent or without */
    public static BigDecimal parseDecimal(String text) {
        return new BigDecimal(decimal(text));
    }

    /**
     * @return finite
     * @throws NumberFormatException if {@code text} is no decimal number, or too large a one
     */
    public static double parseDouble(String text) {
        double value = Double.parseDouble(decimal(text));
        if (Double.isInfinite(value)) {
            throw bad(text);
        }
        return value;
    }

    private static String whole(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!isDigit(c) && c != '+' && c != '-') {
                throw bad(text);
            }
        }
        return text;
    }

    private static String decimal(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!isDigit(c) && c != '+' && c != '-' && c != '.' && c != 'e' && c != 'E') {
                throw bad(text);
            }
        }
        return text;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static NumberFormatException bad(String text) {
        return new NumberFormatException("no number: \"" + text + "\"");
    }
}
