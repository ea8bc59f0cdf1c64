package io.coplane.types.time;

import io.coplane.nativecache.AsciiNumbers;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.RoundMode;
import io.coplane.types.text.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Intervals of ADDDATE and SUBDATE (expressions.md 6.8). The one read last stands in {@link #months()}, {@link #seconds()}, {@link #nanos()}.
 * Reused; one thread.
 */
public final class Intervals {
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private static final long MOST_SECONDS = 3_020_399;
    private static final int FIELDS = 7; // year, month, day, hour, minute, second, microsecond
    private static final int MICROSECOND_FIELD = 6;

    /** Units. */
    public enum Unit {
        MICROSECOND(0, 6, 6),
        SECOND(0, 5, 0),
        MINUTE(0, 4, 0),
        HOUR(0, 3, 0),
        DAY(0, 2, 0),
        WEEK(0, 2, 0),
        MONTH(0, 1, 0),
        QUARTER(0, 1, 0),
        YEAR(0, 0, 0),
        SECOND_MICROSECOND(2, 6, 6),
        MINUTE_MICROSECOND(3, 6, 6),
        MINUTE_SECOND(2, 5, 0),
        HOUR_MICROSECOND(4, 6, 6),
        HOUR_SECOND(3, 5, 0),
        HOUR_MINUTE(2, 4, 0),
        DAY_MICROSECOND(5, 6, 6),
        DAY_SECOND(4, 5, 0),
        DAY_MINUTE(3, 4, 0),
        DAY_HOUR(2, 3, 0),
        YEAR_MONTH(2, 1, 0);

        private final int fields;
        private final int lastField;
        private final int fsp;

        Unit(int fields, int lastField, int fsp) {
            this.fields = fields;
            this.lastField = lastField;
            this.fsp = fsp;
        }

        boolean isSimple() {
            return fields == 0;
        }

        /** True for the units that make a DATE a DATETIME. */
        public boolean isClock() {
            return switch (this) {
                case DAY, WEEK, MONTH, QUARTER, YEAR, YEAR_MONTH -> false;
                default -> true;
            };
        }

        /** A unit by its name in any case; null if there is none. */
        public static Unit of(String name) {
            String upper = name.toUpperCase(Locale.ROOT);
            for (Unit unit : values()) {
                if (unit.name().equals(upper)) {
                    return unit;
                }
            }
            return null;
        }
    }

    private final Decimal decimal = new Decimal();
    private long months;
    private long seconds;
    private long nanos;
    private int fsp;

    /** Ready for any number of intervals. */
    public Intervals() {}

    /** Months of the interval. */
    public long months() {
        return months;
    }

    /** Seconds of the interval. */
    public long seconds() {
        return seconds;
    }

    /** Nanoseconds of the interval besides its seconds. */
    public long nanos() {
        return nanos;
    }

    /** Fraction digits. */
    public int fsp() {
        return fsp;
    }

    // ---- arguments to text

    /** The interval text of a string. */
    public String text(EvalContext context, Unit unit, byte[] data, int offset, int length) {
        if (!Utf8.isValid(data, offset, length)) {
            throw EvalException.uncoded("encoding failed");
        }
        if (!unit.isSimple()) {
            return new String(data, offset, length, StandardCharsets.UTF_8);
        }
        int start = Utf8.skipWhiteSpace(data, offset, offset + length);
        int end = Utf8.trimEnd(data, start, offset + length);
        if (unit == Unit.SECOND) {
            try {
                decimal.parse(data, start, end - start).report(context);
            } catch (EvalException e) {
                if (e.mysqlCode() != EvalException.UNCODED) {
                    throw e;
                }
                context.truncated();
                decimal.setZero();
            }
            return decimal.displayText();
        }
        int stop = start;
        int digits = start < end && (data[start] == '+' || data[start] == '-') ? start + 1 : start;
        while (digits < end && data[digits] >= '0' && data[digits] <= '9') {
            stop = ++digits;
        }
        String prefix = stop == start ? "0" : new String(data, start, stop - start, StandardCharsets.ISO_8859_1);
        if (!prefix.equals(new String(data, start, end - start, StandardCharsets.UTF_8))) {
            context.truncated();
        }
        return prefix;
    }

    /** The interval text of a decimal; changes it. */
    public static String text(EvalContext context, Unit unit, Decimal value) {
        if (unit == Unit.SECOND) {
            return value.displayText();
        }
        if (unit.isSimple()) {
            value.round(0, RoundMode.HALF_UP).report(context);
            value.toLong().report(context);
            return Long.toString(value.integer());
        }
        String text = value.displayText();
        boolean negative = text.startsWith("-");
        String magnitude = negative ? text.substring(1) : text;
        String colon = magnitude.replace('.', ':');
        String filled = switch (unit) {
            case HOUR_MINUTE, MINUTE_SECOND -> colon;
            case YEAR_MONTH -> magnitude.replace('.', '-');
            case DAY_HOUR -> magnitude.replace('.', ' ');
            case DAY_MINUTE -> "0 " + colon;
            case DAY_SECOND -> "0 00:" + colon;
            case DAY_MICROSECOND -> "0 00:00:" + magnitude;
            case HOUR_MICROSECOND -> "00:00:" + magnitude;
            case HOUR_SECOND -> "00:" + colon;
            case MINUTE_MICROSECOND -> "00:" + magnitude;
            default -> magnitude;
        };
        return negative ? "-" + filled : filled;
    }

    // ---- text to interval

    private void clear(Unit unit) {
        months = 0;
        seconds = 0;
        nanos = 0;
        fsp = unit.fsp;
    }

    /**
     * Reads a text for dates: a bad value goes to the handler and counts as 0.
     *
     * @return false if the result is NULL
     */
    public boolean readForDate(EvalContext context, Unit unit, String text) {
        clear(unit);
        try {
            if (unit.isSimple()) {
                readSimple(context, unit, text, false);
            } else {
                readCompound(context, unit, text, false);
            }
            return true;
        } catch (ArithmeticException e) {
            EvalException overflow = TimeMath.overflow();
            overflow.addSuppressed(e);
            context.invalidTime(overflow);
            return false;
        }
    }

    /**
     * Reads a text for durations.
     *
     * @throws EvalException 1292 or 1441
     */
    public void readForDuration(EvalContext context, Unit unit, String text) {
        clear(unit);
        try {
            if (unit.isSimple()) {
                readSimple(context, unit, text, true);
            } else {
                readCompound(context, unit, text, true);
            }
        } catch (ArithmeticException e) {
            EvalException overflow = TimeMath.overflow();
            overflow.addSuppressed(e);
            throw overflow;
        }
    }

    private static void bad(EvalContext context, String text, boolean forDuration) {
        EvalException error = TimeMath.incorrect(text);
        if (forDuration) {
            throw error;
        }
        context.invalidTime(error);
    }

    private void readSimple(EvalContext context, Unit unit, String text, boolean forDuration) {
        int dot = text.indexOf('.');
        String whole = dot < 0 ? text : text.substring(0, dot);
        boolean negative = text.startsWith("-");
        long integer = 0;
        try {
            // the sign is read before, so the magnitude of the smallest int64 does not fit
            long magnitude = AsciiNumbers.parseLong(negative ? whole.substring(1) : whole);
            integer = negative ? -magnitude : magnitude;
        } catch (NumberFormatException ignored) { // reported as what it is: a bad value; the fraction counts
            bad(context, text, forDuration);
        }
        long fraction = 0;
        int digits = 0;
        if (dot >= 0 && dot + 1 < text.length()) {
            if (unit != Unit.SECOND) {
                bad(context, text, forDuration);
            }
            digits = Math.min(6, text.length() - dot - 1);
            String kept = text.substring(dot + 1, dot + 1 + digits);
            try {
                fraction = AsciiNumbers.parseLong(kept + "0".repeat(6 - digits));
            } catch (NumberFormatException ignored) { // as above
                bad(context, text, forDuration);
                return;
            }
        }
        long rounded = integer;
        if (fraction >= 500_000) {
            rounded = Math.addExact(integer, negative ? -1 : 1);
        }
        if (forDuration) {
            limit(unit, integer, rounded);
        }
        switch (unit) {
            case MICROSECOND -> nanos = Math.multiplyExact(rounded, 1_000L);
            case SECOND -> {
                seconds = integer;
                nanos = (negative ? -fraction : fraction) * 1_000;
                fsp = digits;
            }
            case MINUTE -> seconds = Math.multiplyExact(rounded, 60L);
            case HOUR -> seconds = Math.multiplyExact(rounded, 3_600L);
            case DAY -> seconds = Math.multiplyExact(rounded, 86_400L);
            case WEEK -> seconds = Math.multiplyExact(rounded, 7 * 86_400L);
            case MONTH -> months = rounded;
            case QUARTER -> months = Math.multiplyExact(rounded, 3L);
            default -> months = Math.multiplyExact(rounded, 12L);
        }
    }

    private static void limit(Unit unit, long integer, long rounded) {
        long value = unit == Unit.SECOND ? integer : rounded;
        long most = switch (unit) {
            case MICROSECOND -> MOST_SECONDS * 1_000;
            case SECOND -> MOST_SECONDS;
            case MINUTE -> 838L * 60 + 59;
            case HOUR -> 838;
            case DAY -> 34;
            case WEEK -> 34L / 7;
            case MONTH -> 1;
            default -> -1;
        };
        if (value > most || value < -most || most < 0) {
            throw TimeMath.overflow();
        }
    }

    private void readCompound(EvalContext context, Unit unit, String text, boolean forDuration) {
        String trimmed = text.strip();
        boolean negative = trimmed.startsWith("-");
        String[] runs = new String[FIELDS];
        int count = 0;
        for (int i = 0; i < trimmed.length(); ) {
            int start = i;
            while (i < trimmed.length() && trimmed.charAt(i) >= '0' && trimmed.charAt(i) <= '9') {
                i++;
            }
            if (i == start) {
                i++;
            } else if (count == unit.fields) {
                fsp = 0;
                bad(context, text, forDuration);
                fsp = 0;
                return;
            } else {
                runs[count++] = trimmed.substring(start, i);
            }
        }
        long[] fields = new long[FIELDS];
        for (int i = 0; i < count; i++) {
            int field = unit.lastField - (count - 1 - i);
            String run = runs[i];
            if (field == MICROSECOND_FIELD && run.length() < 6) {
                run += "0".repeat(6 - run.length());
            }
            try {
                fields[field] = Long.parseLong(run);
            } catch (NumberFormatException ignored) { // reported as what it is: a bad value; the other fields count
                bad(context, text, forDuration);
            }
        }
        long sum = Math.multiplyExact(fields[2], 86_400L);
        sum = Math.addExact(sum, Math.multiplyExact(fields[3], 3_600L));
        sum = Math.addExact(sum, Math.multiplyExact(fields[4], 60L));
        sum = Math.addExact(sum, fields[5]);
        long monthSum = Math.addExact(Math.multiplyExact(fields[0], 12L), fields[1]);
        long micros = Math.multiplyExact(fields[6], 1_000L);
        months = negative ? -monthSum : monthSum;
        seconds = negative ? -sum : sum;
        nanos = negative ? -micros : micros;
    }

    /**
     * The interval read by {@link #readForDuration} as nanoseconds.
     *
     * @throws EvalException 1441 or 1292
     */
    public long toDuration(Unit unit) {
        long total;
        if (unit.isSimple()) {
            total = (months * 30 * 86_400 + seconds) * NANOS_PER_SECOND + nanos;
        } else {
            if (months != 0
                    || seconds > MOST_SECONDS
                    || seconds < -MOST_SECONDS
                    || nanos > Durations.MAX_NANOS
                    || nanos < -Durations.MAX_NANOS) {
                throw TimeMath.overflow();
            }
            total = seconds * NANOS_PER_SECOND + nanos;
        }
        return Durations.round(total, fsp);
    }

    /** Turns the interval around. */
    public void negate() {
        months = -months;
        seconds = -seconds;
        nanos = -nanos;
    }
}
