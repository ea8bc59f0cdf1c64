package io.coplane.worker.config;

import io.coplane.nativecache.AsciiNumbers;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** Durations as text: parts in descending order of d, h, m, s, ms, us (worker.md 4.1). */
final class DurationText {
    private static final long SECOND_MICROS = 1_000_000;
    private static final long MOST_MICROS = 36_500L * 86_400 * SECOND_MICROS;

    private DurationText() {}

    /**
     * @return the duration, in whole microseconds; a fraction is cut off
     * @throws CoplaneException BAD_CONFIG if {@code text} is no duration, is negative, or longer than 36,500 days
     */
    static Duration parse(String text) {
        String trimmed = text.strip();
        BigDecimal micros = BigDecimal.ZERO;
        long lastUnit = Long.MAX_VALUE;
        int at = 0;
        while (at < trimmed.length()) {
            int numberEnd = at;
            while (numberEnd < trimmed.length() && !isUnit(trimmed.charAt(numberEnd))) {
                numberEnd++;
            }
            int unitEnd = unitEnd(trimmed, numberEnd);
            long unit = unitMicros(trimmed.substring(numberEnd, unitEnd), text);
            if (unit >= lastUnit) {
                throw bad("d, h, m, s, ms, us should occur in given order.", text, null);
            }
            micros = micros.add(number(trimmed.substring(at, numberEnd), text).multiply(BigDecimal.valueOf(unit)));
            lastUnit = unit;
            at = unitEnd;
        }
        if (micros.signum() < 0) {
            throw bad("duration should be positive.", text, null);
        }
        if (micros.compareTo(BigDecimal.valueOf(MOST_MICROS)) > 0) {
            throw bad("duration is longer than 36500 days", text, null);
        }
        return Duration.of(micros.longValue(), ChronoUnit.MICROS);
    }

    private static boolean isUnit(char c) {
        return c == 'd' || c == 'h' || c == 'm' || c == 's' || c == 'u';
    }

    private static int unitEnd(String text, int at) {
        if (at == text.length()) {
            return at;
        }
        boolean twoLetters = text.startsWith("ms", at) || text.startsWith("us", at);
        return at + (twoLetters ? 2 : 1);
    }

    private static long unitMicros(String unit, String text) {
        return switch (unit) {
            case "d" -> 86_400 * SECOND_MICROS;
            case "h" -> 3_600 * SECOND_MICROS;
            case "m" -> 60 * SECOND_MICROS;
            case "s" -> SECOND_MICROS;
            case "ms" -> 1_000;
            case "us" -> 1;
            default -> throw bad("valid duration, only d, h, m, s, ms, us are supported.", text, null);
        };
    }

    private static BigDecimal number(String number, String text) {
        BigDecimal value;
        try {
            value = AsciiNumbers.parseDecimal(number.strip());
        } catch (NumberFormatException e) {
            throw bad("valid duration, only d, h, m, s, ms, us are supported.", text, e);
        }
        if (value.precision() - (long) value.scale() > 20 || value.scale() > 100) { // before it is multiplied out
            throw bad("duration is out of bounds", text, null);
        }
        return value;
    }

    private static CoplaneException bad(String what, String text, Throwable cause) {
        return new CoplaneException(ErrorCode.BAD_CONFIG, what + " value=\"" + text + "\"", cause);
    }
}
