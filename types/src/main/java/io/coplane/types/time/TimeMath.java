package io.coplane.types.time;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;

/** Arithmetic of times (expressions.md 6.6, 6.12). Holds scratch; one thread. */
public final class TimeMath {
    private static final int DATETIME_OVERFLOW = 1441;
    private static final int DATA_TRUNCATED = 1265;
    private static final int WRONG_VALUE = 1292;
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private static final long NANOS_PER_DAY = 86_400 * NANOS_PER_SECOND;
    private static final long MOST_INTERVAL_SECONDS = 10_000L * 365 * 86_400;
    private static final int MAX_YEAR_FIELD = (1 << 14) - 1;
    private static final int[] POW10 = {1, 10, 100, 1_000, 10_000, 100_000, 1_000_000};
    private static final int MONDAY_FIRST = 1;
    private static final int YEAR = 2;
    private static final int FIRST_WEEKDAY = 4;

    private final TimeParts parts = new TimeParts();

    /** Ready for use. */
    public TimeMath() {}

    /** 1292 for a time that can't be. */
    public static EvalException incorrect(String text) {
        return EvalException.coded(WRONG_VALUE, "Incorrect datetime value: '" + text + "'");
    }

    /** 1441. */
    public static EvalException overflow() {
        return EvalException.coded(DATETIME_OVERFLOW, "Datetime function field overflow");
    }

    /**
     * Changes the type.
     *
     * @throws EvalException if it becomes a TIMESTAMP
     */
    public static long withType(long core, int type) {
        if (type == Times.type(core)) {
            return core;
        }
        return switch (type) {
            case FieldType.DATE -> core >>> 41 << 41 | Times.bits(FieldType.DATE, 0);
            case FieldType.TIMESTAMP -> throw EvalException.uncoded("can not convert datetime/date to timestamp");
            default -> core & ~0xfL | Times.bits(FieldType.DATE_TIME, Times.fsp(core));
        };
    }

    /** Rounds to fsp digits; {@link Times#NONE} if the result is no time. */
    public long roundFrac(EvalContext context, long core, int fsp) {
        if (Times.isDate(core) || Times.isZero(core)) {
            return core;
        }
        if (fsp > Times.fsp(core)) {
            return Times.withFsp(core, fsp);
        }
        int unit = POW10[Times.MAX_FSP - fsp];
        parts.set(core);
        parts.micros = (parts.micros + unit / 2) / unit * unit;
        if (!parts.carry()) {
            parts.clear();
        }
        return parts.validate(context, Times.type(core), fsp);
    }

    /** Makes month and day those of a real date. @return false if year 0 would be left */
    private boolean normalize() {
        if (parts.month != 0 && parts.day != 0 && parts.day <= TimeParts.lastDay(parts.year, parts.month)) {
            return true;
        }
        int year = parts.year;
        int month = parts.month;
        if (month == 0) {
            if (year == 0) {
                return false;
            }
            year--;
            month = 12;
        }
        Days.set(Days.number(year, month, 1) + parts.day - 1, parts);
        return true;
    }

    /** The value with its date made a real one; {@link Times#NONE} if that can't be. */
    public long normalized(EvalContext context, long core) {
        parts.set(core);
        if (!normalize()) {
            return Times.NONE;
        }
        return parts.validate(context, Times.type(core), Times.fsp(core));
    }

    /**
     * Adds a duration. The result is a TIMESTAMP, whatever went in, and must be one in the session's zone.
     *
     * @return {@link Times#NONE} if it is not
     */
    public long checkedAdd(EvalContext context, long core, long nanos) {
        parts.set(core);
        if (Times.isTimestamp(core)) {
            if (!addToInstant(context.zoneTable(), 0, nanos)) {
                return Times.NONE;
            }
        } else {
            if (!normalize()) {
                return Times.NONE;
            }
            addToLocal(0, nanos);
        }
        return parts.year < 0 || parts.year > 9999
                ? Times.NONE
                : parts.validate(context, FieldType.TIMESTAMP, Times.fsp(core));
    }

    private boolean addToInstant(ZoneTable zone, long seconds, long nanos) {
        long instant = parts.epochSecond(zone);
        if (instant == TimeParts.NO_INSTANT) {
            return false;
        }
        long total = parts.micros * 1_000L + nanos % NANOS_PER_SECOND;
        instant += seconds + nanos / NANOS_PER_SECOND + Math.floorDiv(total, NANOS_PER_SECOND);
        parts.micros = (int) (Math.floorMod(total, NANOS_PER_SECOND) / 1_000);
        parts.setEpochSecond(instant, zone);
        return true;
    }

    private void addToLocal(long seconds, long nanos) {
        long total = parts.micros * 1_000L + nanos % NANOS_PER_SECOND;
        long local = parts.localSecond() + seconds + nanos / NANOS_PER_SECOND + Math.floorDiv(total, NANOS_PER_SECOND);
        parts.micros = (int) (Math.floorMod(total, NANOS_PER_SECOND) / 1_000);
        parts.setLocalSecond(local);
    }

    /**
     * Adds seconds and nanoseconds of an interval; the type stays.
     *
     * @throws EvalException 1441, 1265 or 1292
     */
    public long addSecNanos(EvalContext context, long core, long seconds, long nanos) {
        if (seconds > MOST_INTERVAL_SECONDS || seconds < -MOST_INTERVAL_SECONDS) {
            throw overflow();
        }
        parts.set(core);
        if (Times.isTimestamp(core)) {
            if (!addToInstant(context.zoneTable(), seconds, nanos)) {
                throw EvalException.coded(DATA_TRUNCATED, "Data Truncated");
            }
        } else {
            if (!parts.isRealDate()) {
                throw EvalException.coded(DATA_TRUNCATED, "Data Truncated");
            }
            addToLocal(seconds, nanos);
        }
        if (parts.year == 0) {
            parts.month = 0;
            parts.day = 0;
        }
        if (parts.year < 0 || parts.year > 9999) {
            parts.year &= MAX_YEAR_FIELD; // the message shows what the 14 bits of a year hold
            throw incorrect(Times.text(parts.unchecked(Times.type(core), Times.fsp(core))));
        }
        long unchecked = parts.unchecked(Times.type(core), Times.fsp(core));
        long result = parts.validate(context, Times.type(core), Times.fsp(core));
        if (result == Times.NONE) {
            throw incorrect(Times.text(unchecked));
        }
        return result;
    }

    /**
     * Adds months; the day is limited to the last one of the month.
     *
     * @throws EvalException 1441 if the year leaves 0 .. 9999
     */
    public static long addMonths(long core, long months) {
        long index;
        try {
            index = Math.addExact(Times.year(core) * 12L + Times.month(core) - 1, months);
        } catch (ArithmeticException e) {
            EvalException overflow = overflow();
            overflow.addSuppressed(e);
            throw overflow;
        }
        long year = Math.floorDiv(index, 12L);
        if (year < 0 || year > 9999) {
            throw overflow();
        }
        long clock = core & (1L << 41) - 1;
        if (year == 0) {
            return clock;
        }
        int month = (int) Math.floorMod(index, 12L) + 1;
        int day = Math.min(Times.day(core), TimeParts.lastDay((int) year, month));
        return year << 50 | (long) month << 46 | (long) day << 41 | clock;
    }

    /** Today's date in UTC plus a duration, as a time of a type; {@link Times#NONE} if it is none. */
    public long fromDuration(EvalContext context, long nanos, int durationFsp, int type) {
        long days = Math.floorDiv(context.clock().wallMicros(), 86_400_000_000L);
        long total = Math.floorMod(nanos, NANOS_PER_DAY);
        days += Math.floorDiv(nanos, NANOS_PER_DAY);
        Days.set(days + Days.EPOCH, parts);
        parts.hour = (int) (total / (3_600 * NANOS_PER_SECOND));
        parts.minute = (int) (total / (60 * NANOS_PER_SECOND) % 60);
        parts.second = (int) (total / NANOS_PER_SECOND % 60);
        parts.micros = (int) (total / 1_000 % 1_000_000);
        return parts.validate(context, type, durationFsp);
    }

    /** Now, in the session's zone. */
    public long now(EvalContext context, int type, int fsp) {
        long micros = context.clock().wallMicros();
        return fromUnix(
                context,
                Math.floorDiv(micros, 1_000_000L),
                Math.floorMod(micros, 1_000_000L) * 1_000,
                type,
                fsp,
                false);
    }

    /** An instant as a DATE_TIME of the session's zone, rounded half up to fsp digits. */
    public long fromUnixTime(EvalContext context, long seconds, long nanos, int fsp) {
        return fromUnix(context, seconds, nanos, FieldType.DATE_TIME, fsp, true);
    }

    private long fromUnix(EvalContext context, long seconds, long nanos, int type, int fsp, boolean round) {
        long unit = POW10[Times.MAX_FSP - fsp] * 1_000L;
        long kept = round ? (nanos + unit / 2) / unit * unit : nanos / unit * unit;
        long whole = seconds + kept / NANOS_PER_SECOND;
        parts.micros = (int) (kept % NANOS_PER_SECOND / 1_000);
        parts.setEpochSecond(whole, context.zoneTable());
        return parts.validate(context, type, fsp);
    }

    /** Day number since 0000-00-00. */
    public static int dayNumber(long core) {
        return Days.mysqlNumber(Times.year(core), Times.month(core), Times.day(core));
    }

    /** FROM_DAYS: the low 32 bits are used; {@link Times#NONE} if the result is no date. */
    public long fromDays(EvalContext context, long number) {
        long days = number & 0xffffffffL;
        if (days <= 365 || days >= 3_652_425) {
            parts.clear();
        } else {
            parts.clear();
            Days.set(days, parts);
        }
        return parts.validate(context, FieldType.DATE, 0);
    }

    /** True for a date of the calendar. */
    public boolean isRealDate(long core) {
        return parts.set(core).isRealDate();
    }

    /** The last day of the month, at midnight; type and fsp stay. */
    public static long lastDate(long core) {
        int last = TimeParts.lastDay(Times.year(core), Times.month(core));
        return core >>> 46 << 46 | (long) last << 41 | core & 0xf;
    }

    /**
     * Microseconds since 1970 of a local time of the session; 0 if the fields are no real time.
     *
     * <p>Ambiguous: the earliest instant. In a gap: the instant at which it ends.
     */
    public long unixMicros(EvalContext context, long core) {
        parts.set(core);
        long exact = parts.epochSecond(context.zoneTable());
        if (exact != TimeParts.NO_INSTANT) {
            return exact * 1_000_000 + parts.micros;
        }
        long gapEnd = parts.epochSecondOrGapEnd(context.zoneTable());
        return gapEnd == TimeParts.NO_INSTANT ? 0 : gapEnd * 1_000_000;
    }

    // ---- weeks (6.12)

    /** Week of the year, 0 if month or day is 0. @param mode its low 3 bits count */
    public static int week(long core, int mode) {
        return Times.isInvalidZero(core) ? 0 : (int) yearAndWeek(core, mode) & 0xff;
    }

    /** Year times 256 plus week, counted with the YEAR bit set. */
    public static long yearWeek(long core, int mode) {
        return yearAndWeek(core, mode | YEAR);
    }

    private static int daysOfYear(int year) {
        return (year & 3) == 0 && (year % 100 != 0 || year % 400 == 0 && year != 0) ? 366 : 365;
    }

    private static long yearAndWeek(long core, int mode) {
        int bits = mode & 7;
        if ((bits & MONDAY_FIRST) == 0) {
            bits ^= FIRST_WEEKDAY;
        }
        boolean mondayFirst = (bits & MONDAY_FIRST) != 0;
        boolean weekYear = (bits & YEAR) != 0;
        boolean firstWeekday = (bits & FIRST_WEEKDAY) != 0;
        int year = Times.year(core);
        int number = dayNumber(core);
        int first = Days.mysqlNumber(year, 1, 1);
        int weekday = (first + 5 + (mondayFirst ? 0 : 1)) % 7;
        if (Times.month(core) == 1 && Times.day(core) <= 7 - weekday) {
            if (!weekYear && (firstWeekday ? weekday != 0 : weekday >= 4)) {
                return (long) year << 8;
            }
            weekYear = true;
            year--;
            int days = daysOfYear(year);
            first -= days;
            weekday = (weekday + 53 * 7 - days) % 7;
        }
        int days = (firstWeekday ? weekday != 0 : weekday >= 4)
                ? number - (first + 7 - weekday)
                : number - (first - weekday);
        if (weekYear && days >= 52 * 7) {
            weekday = (weekday + daysOfYear(year)) % 7;
            if (firstWeekday ? weekday == 0 : weekday < 4) {
                return (long) (year + 1) << 8 | 1;
            }
        }
        return (long) year << 8 | days / 7 + 1;
    }

    /** 0 is Monday; zero fields count from the month's or the year's start backwards. */
    public static int weekday(long core) {
        int year = Times.year(core);
        int month = Times.month(core);
        if (month == 0) {
            year--;
            month = 12;
        }
        return (int) Math.floorMod(Days.number(year, month, 1) + Times.day(core) - 1 + 5, 7L);
    }

    /** Day of the year. */
    public static int dayOfYear(long core) {
        int month = Times.month(core);
        if (month == 0) {
            return Times.day(core) - 32;
        }
        int sum = Times.day(core);
        for (int m = 1; m < month; m++) {
            sum += TimeParts.lastDay(Times.year(core), m);
        }
        return sum;
    }

    // ---- differences

    /** Units of TIMESTAMPDIFF. */
    public enum Unit {
        MICROSECOND,
        SECOND,
        MINUTE,
        HOUR,
        DAY,
        WEEK,
        MONTH,
        QUARTER,
        YEAR
    }

    private static long micros(long core) {
        return dayNumber(core) * 86_400_000_000L + Times.nanosOfDay(core) / 1_000;
    }

    /** {@code to} minus {@code from} in whole units. */
    public static long difference(Unit unit, long from, long to) {
        long micros = micros(to) - micros(from);
        boolean negative = micros < 0;
        long magnitude = Math.abs(micros);
        long seconds = magnitude / 1_000_000;
        long units = switch (unit) {
            case MICROSECOND -> magnitude;
            case SECOND -> seconds;
            case MINUTE -> seconds / 60;
            case HOUR -> seconds / 3_600;
            case DAY -> seconds / 86_400;
            case WEEK -> seconds / 86_400 / 7;
            case MONTH -> months(from, to, negative);
            case QUARTER -> months(from, to, negative) / 3;
            case YEAR -> months(from, to, negative) / 12;
        };
        return negative ? -units : units;
    }

    private static long months(long from, long to, boolean negative) {
        long start = negative ? to : from;
        long end = negative ? from : to;
        long months = (Times.year(end) - Times.year(start)) * 12L + Times.month(end) - Times.month(start);
        int startDay = Times.day(start);
        int endDay = Times.day(end);
        if (endDay < startDay || endDay == startDay && Times.nanosOfDay(end) < Times.nanosOfDay(start)) {
            months--;
        }
        return months;
    }
}
