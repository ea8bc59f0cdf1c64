package io.coplane.types.time;

import io.coplane.types.EvalException;

/** Durations as nanoseconds, at most 838:59:59 either way (expressions.md 6.7). */
public final class Durations {
    /** The largest duration. */
    public static final long MAX_NANOS = 3_020_399L * 1_000_000_000L;
    /** Longest text: {@code -838:59:59.ffffff}. */
    public static final int MAX_TEXT_BYTES = 24;

    static final long NANOS_PER_SECOND = 1_000_000_000L;

    private static final int WRONG_VALUE = 1292;
    private static final int OUT_OF_RANGE = 1690;
    private static final long[] UNITS = {1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000};

    private Durations() {}

    /** Hours of the absolute value. */
    public static int hours(long nanos) {
        return (int) (Math.abs(nanos) / (3_600 * NANOS_PER_SECOND));
    }

    /** Minutes of the absolute value. */
    public static int minutes(long nanos) {
        return (int) (Math.abs(nanos) / (60 * NANOS_PER_SECOND) % 60);
    }

    /** Seconds of the absolute value. */
    public static int seconds(long nanos) {
        return (int) (Math.abs(nanos) / NANOS_PER_SECOND % 60);
    }

    /** Microseconds of the absolute value. */
    public static int micros(long nanos) {
        return (int) (Math.abs(nanos) % NANOS_PER_SECOND / 1_000);
    }

    /** Writes {@code [-]HH:MM:SS[.frac]}. @return bytes written */
    public static int putText(long nanos, int fsp, byte[] target, int at) {
        return put(nanos, fsp, target, at, true);
    }

    /** Writes {@code [-]HHMMSS[.frac]}. @return bytes written */
    public static int putNumericText(long nanos, int fsp, byte[] target, int at) {
        return put(nanos, fsp, target, at, false);
    }

    private static int put(long nanos, int fsp, byte[] target, int at, boolean colons) {
        int write = at;
        if (nanos < 0) {
            target[write++] = '-';
        }
        write = Times.putDigits(hours(nanos), 2, target, write);
        if (colons) {
            target[write++] = ':';
        }
        write = Times.putDigits(minutes(nanos), 2, target, write);
        if (colons) {
            target[write++] = ':';
        }
        write = Times.putDigits(seconds(nanos), 2, target, write);
        return Times.putFraction(micros(nanos), fsp, target, write) - at;
    }

    /** The text. Allocates. */
    public static String text(long nanos, int fsp) {
        byte[] text = new byte[MAX_TEXT_BYTES];
        return new String(text, 0, putText(nanos, fsp, text, 0), java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    /** 1292 for nanoseconds out of range. */
    private static EvalException outOfRange(long nanos) {
        return EvalException.coded(WRONG_VALUE, "Truncated incorrect NANOS value: '" + nanos + "'");
    }

    /** 1690. */
    static EvalException overflow() {
        return EvalException.coded(OUT_OF_RANGE, "DURATION OVERFLOW");
    }

    /**
     * Rounds to fsp digits, half away from zero.
     *
     * @throws EvalException 1292 if out of range before or after
     */
    public static long round(long nanos, int fsp) {
        if (nanos > MAX_NANOS || nanos < -MAX_NANOS) {
            throw outOfRange(nanos);
        }
        long unit = UNITS[fsp];
        long half = nanos < 0 ? -unit / 2 : unit / 2;
        long rounded = (nanos + half) / unit * unit;
        if (rounded > MAX_NANOS || rounded < -MAX_NANOS) {
            throw outOfRange(rounded);
        }
        return rounded;
    }

    /** Checks an fsp: -1 is 0. */
    public static int fsp(int fsp) {
        if (fsp == -1) {
            return 0;
        }
        if (fsp < 0 || fsp > Times.MAX_FSP) {
            throw EvalException.uncoded("invalid data type: Invalid fsp " + fsp);
        }
        return fsp;
    }

    /**
     * A duration of parts, rounded.
     *
     * @throws EvalException 1292 or 1690 in the reference's order
     */
    public static long ofParts(boolean negative, long hours, long minutes, long seconds, long nanos, int fsp) {
        if (minutes > 59) {
            throw EvalException.coded(WRONG_VALUE, "Truncated incorrect MINUTES value: '" + minutes + "'");
        }
        if (seconds > 59) {
            throw EvalException.coded(WRONG_VALUE, "Truncated incorrect SECONDS value: '" + seconds + "'");
        }
        if (nanos > 999_999_999) {
            throw EvalException.coded(WRONG_VALUE, "Truncated incorrect NANOS value: '" + nanos + "'");
        }
        if (hours > 838) {
            throw overflow();
        }
        long total = ((hours * 60 + minutes) * 60 + seconds) * NANOS_PER_SECOND + nanos;
        return round(negative ? -total : total, fsp);
    }

    /** True if within the range. */
    public static boolean isInRange(long nanos) {
        return nanos <= MAX_NANOS && nanos >= -MAX_NANOS;
    }

    /** The time of day of a time, rounded to its fsp; 0 for the zero time. */
    public static long ofTime(long core) {
        return Times.isZero(core) ? 0 : Times.nanosOfDay(core);
    }
}
