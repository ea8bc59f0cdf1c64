package io.coplane.types.time;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.List;

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
        return fields(tp == FieldType.TIMESTAMP ? toLocal(packed, context) : packed) | bits;
    }

    /**
     * Core to packed form; a TIMESTAMP goes from the session zone to UTC, the earlier instant where there are two.
     *
     * @throws EvalException 1265 for a local time that does not exist
     */
    public static long toPacked(long core, EvalContext context) {
        long packed = pack(core);
        int bits = (int) core & TYPE_BITS;
        return (bits & 1) == 0 || bits == DATE_BITS || packed == 0 ? packed : toUtc(packed, context);
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

    private static LocalDateTime dateTime(long packed) {
        try {
            int yearMonth = (int) (packed >>> 46);
            return LocalDateTime.of(
                    yearMonth / 13,
                    yearMonth % 13,
                    (int) (packed >>> 41) & 0x1f,
                    (int) (packed >>> 36) & 0x1f,
                    (int) (packed >>> 30) & 0x3f,
                    (int) (packed >>> 24) & 0x3f,
                    (int) (packed & 0xff_ffff) * 1000);
        } catch (DateTimeException e) {
            EvalException coded = incorrect(packed);
            coded.addSuppressed(e);
            throw coded;
        }
    }

    private static EvalException incorrect(long packed) {
        return EvalException.coded(
                TRUNCATED_WRONG_VALUE, "Incorrect datetime value: '" + Long.toUnsignedString(packed) + "'");
    }

    private static long packed(LocalDateTime time) {
        return (time.getYear() * 13L + time.getMonthValue()) << 46
                | (long) time.getDayOfMonth() << 41
                | (long) time.getHour() << 36
                | (long) time.getMinute() << 30
                | (long) time.getSecond() << 24
                | time.getNano() / 1000;
    }

    private static long toLocal(long packed, EvalContext context) {
        LocalDateTime utc = dateTime(packed);
        long second = utc.toEpochSecond(ZoneOffset.UTC);
        if (second < 0 || second > MAX_TIMESTAMP_SECOND) {
            throw incorrect(packed);
        }
        ZoneOffset offset = context.zone().getRules().getOffset(Instant.ofEpochSecond(second));
        return packed(LocalDateTime.ofEpochSecond(second, utc.getNano(), offset));
    }

    private static long toUtc(long packed, EvalContext context) {
        LocalDateTime local = dateTime(packed);
        ZoneRules rules = context.zone().getRules();
        List<ZoneOffset> offsets = rules.getValidOffsets(local);
        if (offsets.isEmpty()) {
            throw EvalException.coded(DATA_TRUNCATED, "Data Truncated");
        }
        ZoneOffset offset = offsets.getFirst();
        if (offsets.size() > 1) {
            ZoneOffsetTransition transition = rules.getTransition(local);
            offset = transition.getOffsetBefore(); // the clock was set back, so this one came first
        }
        return packed(LocalDateTime.ofEpochSecond(local.toEpochSecond(offset), local.getNano(), ZoneOffset.UTC));
    }
}
