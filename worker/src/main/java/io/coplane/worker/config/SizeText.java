package io.coplane.worker.config;

import io.coplane.nativecache.AsciiNumbers;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.math.BigDecimal;
import java.math.BigInteger;

/** Sizes as text: a number and a unit, each unit 1,024 times the one before (worker.md 4.1). */
final class SizeText {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    private static final int BITS_PER_UNIT = 10;

    private SizeText() {}

    /**
     * @return bytes; a fraction of a byte is cut off
     * @throws CoplaneException BAD_CONFIG if {@code text} is no size, or is negative
     */
    static long parse(String text) {
        String trimmed = text.strip();
        int end = 0;
        while (end < trimmed.length() && isOfNumber(trimmed.charAt(end))) {
            end++;
        }
        String number = trimmed.substring(0, end);
        int shift = unitIndex(trimmed.substring(end).strip(), text) * BITS_PER_UNIT;
        BigDecimal value;
        try {
            value = AsciiNumbers.parseDecimal(number);
        } catch (NumberFormatException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "invalid size string: value=\"" + text + "\"", e);
        }
        // bounds before multiplying: a huge exponent must not become a huge number
        if (value.signum() < 0 || value.precision() - value.scale() > 20) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "size is out of bounds: value=\"" + text + "\"");
        }
        BigInteger bytes =
                value.multiply(new BigDecimal(BigInteger.ONE.shiftLeft(shift))).toBigInteger();
        if (bytes.bitLength() >= Long.SIZE) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "size is out of bounds: value=\"" + text + "\"");
        }
        return bytes.longValueExact();
    }

    /** The size in the largest unit that divides it exactly; 0 is {@code 0KiB}. */
    static String format(long bytes) {
        if (bytes == 0) {
            return "0KiB";
        }
        int unit = Math.min(Long.numberOfTrailingZeros(bytes) / BITS_PER_UNIT, UNITS.length - 1);
        return (bytes >> (unit * BITS_PER_UNIT)) + UNITS[unit];
    }

    private static boolean isOfNumber(char c) {
        return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
    }

    private static int unitIndex(String unit, String text) {
        return switch (unit) {
            case "", "B" -> 0;
            case "K", "KB", "KiB" -> 1;
            case "M", "MB", "MiB" -> 2;
            case "G", "GB", "GiB" -> 3;
            case "T", "TB", "TiB" -> 4;
            case "P", "PB", "PiB" -> 5;
            default ->
                throw new CoplaneException(
                        ErrorCode.BAD_CONFIG,
                        "only B, KB, KiB, MB, MiB, GB, GiB, TB, TiB, PB, and PiB are supported: value=\"" + text
                                + "\"");
        };
    }
}
