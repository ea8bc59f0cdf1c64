package io.coplane.types.time;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;

/**
 * Packed and core form of a time (coprocessor.md 4.8, expressions.md 6.1, 6.2).
 *
 * <pre>
 * core    bits   field                      packed  bits   field
 *         63-50  year                               63-46  year * 13 + month
 *         49-46  month                              45-41  day
 *         45-41  day                                40-36  hour
 *         40-36  hour                               35-30  minute
 *         35-30  minute                             29-24  second
 *         29-24  second                             23-0   microsecond
 *         23-4   microsecond
 *          3-1   fsp
 *            0   1 = TIMESTAMP; bits 3-0 are 1110 for DATE
 * </pre>
 */
public final class TimeCore {
    private static final int TYPE_BITS = 0b1111;
    private static final int DATE_BITS = 0b1110;
    private static final long MAX_TIMESTAMP_SECOND = Integer.MAX_VALUE;
    private static final long SECONDS_PER_DAY = 86_400;
    private static final int DATA_TRUNCATED = 1265;
    private static final int TRUNCATED_WRONG_VALUE = 1292;

    private TimeCore() {}

    /**
     * Packed form to core. A DATE or DATETIME is not validated; a TIMESTAMP goes from UTC to the session zone.
     *
     * @param fsp 0 .. 6
     * @throws EvalException for a TIMESTAMP that is none, and for zero where the sql_mode forbids it
     */
    public static long fromPacked(long packed, int tp, int fsp, EvalContext context) {
        int bits = tp == FieldType.DATE ? DATE_BITS : fsp << 1 | (tp == FieldType.TIMESTAMP ? 1 : 0);
        if (packed == 0) {
            checkZero(context);
            return bits;
        }
        return (tp == FieldType.TIMESTAMP ? toLocal(packed, bits, context) : fields(packed)) | bits;
    }

    /**
     * Core to packed form; a TIMESTAMP goes from the session zone to UTC, the earlier instant where there are two.
     *
     * @throws EvalException 1265 for a local time that does not exist
     */
    public static long toPacked(long core, EvalContext context) {
        long packed = pack(core);
        int bits = (int) core & TYPE_BITS;
        return (bits & 1) == 0 || bits == DATE_BITS || packed == 0 ? packed : toUtc(core, context);
    }

    private static void checkZero(EvalContext context) {
        if (!context.hasMode(EvalContext.MODE_NO_ZERO_DATE)) {
            return;
        }
        if (context.isStrict() && !context.hasFlag(EvalContext.IGNORE_TRUNCATE)) {
            throw EvalException.coded(TRUNCATED_WRONG_VALUE, "Incorrect datetime value: '0000-00-00 00:00:00'");
        }
        context.warn(EvalException.coded(DATA_TRUNCATED, "Data Truncated"));
    }

    private static long fields(long packed) {
        long yearMonth = packed >>> 46;
        long year = yearMonth / 13;
        return year << 50 | yearMonth - 13 * year << 46 | packed & 0x3fff_ff00_0000L | (packed & 0xf_ffff) << 4;
    }

    private static long pack(long core) {
        long yearMonth = (core >>> 50) * 13 + (core >>> 46 & 15);
        return yearMonth << 46 | core & 0x3fff_ff00_0000L | core >>> 4 & 0xf_ffff;
    }

    /** Fields of a UTC time as fields of the session zone; both without type bits. */
    private static long toLocal(long packed, int bits, EvalContext context) {
        long utc = fields(packed);
        if (!isReal(utc) || (packed & 0xff_ffff) > 999_999) {
            throw EvalException.coded(DATA_TRUNCATED, "Data Truncated");
        }
        long second = second(utc);
        long local = fields(second + context.zoneTable().offsetAt(second), utc);
        if (second < 0 || second > MAX_TIMESTAMP_SECOND) {
            if (!context.hasMode(EvalContext.MODE_INVALID_DATES)) {
                throw EvalException.coded(
                        TRUNCATED_WRONG_VALUE, "Incorrect datetime value: '" + Times.text(local | bits) + "'");
            }
            checkZero(context);
            return 0;
        }
        return local;
    }

    private static long toUtc(long core, EvalContext context) {
        long instant = isReal(core) ? context.zoneTable().instantOf(second(core)) : ZoneTable.GAP;
        if (instant == ZoneTable.GAP) {
            throw EvalException.coded(DATA_TRUNCATED, "Data Truncated");
        }
        return pack(fields(instant, core));
    }

    private static boolean isReal(long core) {
        int month = Times.month(core);
        int day = Times.day(core);
        return Times.year(core) <= 9999
                && month >= 1
                && month <= 12
                && day >= 1
                && day <= TimeParts.lastDay(Times.year(core), month)
                && Times.hour(core) <= 23
                && Times.minute(core) <= 59
                && Times.second(core) <= 59
                && Times.micros(core) <= 999_999;
    }

    /** Seconds since 1970 as if the fields were UTC. */
    private static long second(long core) {
        long days = Days.number(Times.year(core), Times.month(core), Times.day(core)) - Days.EPOCH;
        return days * SECONDS_PER_DAY + Times.hour(core) * 3600L + Times.minute(core) * 60L + Times.second(core);
    }

    /** Fields of seconds since 1970 as if in UTC, with the microseconds of {@code micros}. */
    private static long fields(long second, long micros) {
        long days = Math.floorDiv(second, SECONDS_PER_DAY);
        int time = (int) (second - days * SECONDS_PER_DAY);
        return Days.date(days + Days.EPOCH) << 41
                | (long) (time / 3600) << 36
                | (long) (time / 60 % 60) << 30
                | (long) (time % 60) << 24
                | micros & 0xf_ffffL << 4;
    }
}
