package io.coplane.types.time;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;

/** Fields of a time on its way to a value; they may be out of range until {@link #validate} (expressions.md 6.3). Reused; one thread. */
public final class TimeParts {
    private static final int DATA_TRUNCATED = 1265;
    private static final long MAX_TIMESTAMP_SECOND = Integer.MAX_VALUE;
    private static final int SECONDS_PER_DAY = 86_400;

    int year;
    int month;
    int day;
    int hour;
    int minute;
    int second;
    int micros;

    /** All fields zero. */
    public TimeParts() {}

    /** Sets all fields; any numbers. */
    public TimeParts set(int year, int month, int day, int hour, int minute, int second, int micros) {
        this.year = year;
        this.month = month;
        this.day = day;
        this.hour = hour;
        this.minute = minute;
        this.second = second;
        this.micros = micros;
        return this;
    }

    /** Takes the fields of a time. */
    public TimeParts set(long core) {
        return set(
                Times.year(core),
                Times.month(core),
                Times.day(core),
                Times.hour(core),
                Times.minute(core),
                Times.second(core),
                Times.micros(core));
    }

    TimeParts clear() {
        return set(0, 0, 0, 0, 0, 0, 0);
    }

    boolean isZero() {
        return (year | month | day | hour | minute | second | micros) == 0;
    }

    /** Days of a month; 31 for month 0. */
    static int lastDay(int year, int month) {
        return switch (month) {
            case 2 -> isLeap(year) ? 29 : 28;
            case 4, 6, 9, 11 -> 30;
            default -> 31;
        };
    }

    static boolean isLeap(int year) {
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    }

    /** True for a date of the calendar, year 0 included. */
    boolean isRealDate() {
        return year >= 0 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= lastDay(year, month);
    }

    private long core(int type, int fsp) {
        long date = (long) year << 50 | (long) month << 46 | (long) day << 41;
        long clock = type == FieldType.DATE
                ? 0
                : (long) hour << 36 | (long) minute << 30 | (long) second << 24 | (long) micros << 4;
        return date | clock | Times.bits(type, fsp);
    }

    /** The value of fields that need no check. */
    long unchecked(int type, int fsp) {
        return core(type, fsp);
    }

    /**
     * Makes a value of the fields, by the rules of the session for zero and invalid dates.
     *
     * @param type DATE, DATE_TIME or TIMESTAMP
     * @param fsp 0 .. 6
     * @return {@link Times#NONE} on failure
     */
    public long validate(EvalContext context, int type, int fsp) {
        if (isZero()) {
            if (!allowsZero(context)) {
                return Times.NONE;
            }
            if (context.hasMode(EvalContext.MODE_NO_ZERO_DATE)) {
                return core(type, fsp);
            }
        }
        return type == FieldType.TIMESTAMP ? validateTimestamp(context, fsp) : validateFields(context, type, fsp);
    }

    /** The zero date: false is a failure; if it is only tolerated, a warning is left and the fields are cleared. */
    private boolean allowsZero(EvalContext context) {
        if (!context.hasMode(EvalContext.MODE_NO_ZERO_DATE)) {
            return true;
        }
        return tolerates(context);
    }

    private boolean tolerates(EvalContext context) {
        if (context.isStrict() && !context.hasFlag(EvalContext.IGNORE_TRUNCATE)) {
            return false;
        }
        context.warn(EvalException.coded(DATA_TRUNCATED, "Data Truncated"));
        clear();
        return true;
    }

    private boolean allowsZeroInDate(EvalContext context) {
        return !context.hasMode(EvalContext.MODE_NO_ZERO_IN_DATE) || tolerates(context) && allowsZero(context);
    }

    private boolean allowsInvalid(EvalContext context) {
        if (!context.hasMode(EvalContext.MODE_INVALID_DATES)) {
            return false;
        }
        clear();
        return allowsZero(context);
    }

    private long validateFields(EvalContext context, int type, int fsp) {
        if ((month == 0 || day == 0) && !allowsZeroInDate(context)) {
            return Times.NONE;
        }
        boolean badDate = year > 9999
                || month > 12
                || day > 31
                || !context.hasMode(EvalContext.MODE_INVALID_DATES) && day > lastDay(year, month);
        boolean badClock = hour > 23 || minute > 59 || second > 59 || micros > 999_999;
        if ((badDate || badClock) && !allowsInvalid(context)) {
            return Times.NONE;
        }
        return core(type, fsp);
    }

    private long validateTimestamp(EvalContext context, int fsp) {
        if (isZero()) {
            return core(FieldType.TIMESTAMP, fsp);
        }
        long instant = epochSecond(context.zoneTable());
        if ((instant == NO_INSTANT || instant < 0 || instant > MAX_TIMESTAMP_SECOND) && !allowsInvalid(context)) {
            return Times.NONE;
        }
        return core(FieldType.TIMESTAMP, fsp);
    }

    /** No instant: the fields are no real time, or lie in a gap of the zone. */
    static final long NO_INSTANT = ZoneTable.GAP;

    /** Seconds since 1970 of the local fields, the earliest instant if there are two; {@link #NO_INSTANT} if there is none. */
    long epochSecond(ZoneTable zone) {
        if (!isRealDate() || hour > 23 || minute > 59 || second > 59 || micros > 999_999) {
            return NO_INSTANT;
        }
        return zone.instantOf(localSecond());
    }

    /** Like {@link #epochSecond}, but in a gap the instant at which it ends. */
    long epochSecondOrGapEnd(ZoneTable zone) {
        long instant = epochSecond(zone);
        if (instant != NO_INSTANT || !isRealDate() || hour > 23 || minute > 59 || second > 59 || micros > 999_999) {
            return instant;
        }
        return zone.gapEnd(localSecond());
    }

    /** Seconds since 1970 as if the fields were UTC. */
    long localSecond() {
        return (Days.number(year, month, day) - Days.EPOCH) * SECONDS_PER_DAY + hour * 3600L + minute * 60L + second;
    }

    /** Sets the fields to seconds since 1970 as if in UTC. Leaves the microseconds. */
    void setLocalSecond(long seconds) {
        long days = Math.floorDiv(seconds, SECONDS_PER_DAY);
        int rest = (int) Math.floorMod(seconds, (long) SECONDS_PER_DAY);
        Days.set(days + Days.EPOCH, this);
        hour = rest / 3600;
        minute = rest / 60 % 60;
        second = rest % 60;
    }

    /** Sets the fields to an instant in a zone. Leaves the microseconds. */
    void setEpochSecond(long seconds, ZoneTable zone) {
        setLocalSecond(seconds + zone.offsetAt(seconds));
    }

    /**
     * Propagates fields that reached their modulus after rounding (expressions.md 6.6, carry).
     *
     * @return false if that is impossible
     */
    boolean carry() {
        if (micros < 1_000_000) {
            return true;
        }
        micros -= 1_000_000;
        if (second > 60) {
            return false;
        }
        if (++second < 60) {
            return true;
        }
        second -= 60;
        if (minute > 60) {
            return false;
        }
        if (++minute < 60) {
            return true;
        }
        minute -= 60;
        if (hour > 24) {
            return false;
        }
        if (++hour < 24) {
            return true;
        }
        hour -= 24;
        return carryDay();
    }

    private boolean carryDay() {
        int last = lastDay(year, month);
        if (day == 0 || day > last) {
            return false;
        }
        if (++day <= last) {
            return true;
        }
        day -= last;
        if (month == 0 || month > 12) {
            return false;
        }
        if (++month <= 12) {
            return true;
        }
        month -= 12;
        if (year == 0) {
            return false;
        }
        year++;
        return true;
    }
}
