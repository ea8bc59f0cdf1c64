package io.coplane.types.time;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;

/** Packed and core form of a time (coprocessor.md 4.8). */
public final class TimeCore {
    private static final int DATE_BITS = 0b1110;
    private static final int DATA_TRUNCATED = 1265;

    private TimeCore() {}

    /** Packed form to core; a TIMESTAMP goes from UTC to the session zone. */
    public static long fromPacked(long packed, int tp, int fsp, EvalContext context) {
        int bits = tp == FieldType.DATE ? DATE_BITS : fsp << 1 | (tp == FieldType.TIMESTAMP ? 1 : 0);
        long fields = fields(packed);
        if (tp == FieldType.TIMESTAMP && fields != 0) {
            fields = fields(toLocal(packed, context));
        }
        return fields | bits;
    }

    /** Core to packed form; a TIMESTAMP goes from the session zone to UTC. */
    public static long toPacked(long core, EvalContext context) {
        long packed = pack(core);
        boolean timestamp = (core & 1) != 0 && (core & 15) != DATE_BITS;
        if (!timestamp || packed == 0) {
            return packed;
        }
        ZonedDateTime local = ZonedDateTime.ofLocal(dateTime(packed), context.zone(), null);
        return packed(local.withEarlierOffsetAtOverlap()
                .withZoneSameInstant(ZoneOffset.UTC)
                .toLocalDateTime());
    }

    private static long fields(long packed) {
        long yearMonth = packed >>> 46;
        return yearMonth / 13 << 50
                | yearMonth % 13 << 46
                | (packed >>> 41 & 0x1f) << 41
                | (packed >>> 36 & 0x1f) << 36
                | (packed >>> 30 & 0x3f) << 30
                | (packed >>> 24 & 0x3f) << 24
                | (packed & 0xf_ffff) << 4;
    }

    private static long pack(long core) {
        return ((core >>> 50) * 13 + (core >>> 46 & 15)) << 46
                | core >>> 24 << 24 & (1L << 46) - 1
                | core >>> 4 & 0xf_ffff;
    }

    private static LocalDateTime dateTime(long packed) {
        try {
            return LocalDateTime.of(
                    (int) (packed >>> 46) / 13,
                    (int) (packed >>> 46) % 13,
                    (int) (packed >>> 41) & 0x1f,
                    (int) (packed >>> 36) & 0x1f,
                    (int) (packed >>> 30) & 0x3f,
                    (int) (packed >>> 24) & 0x3f,
                    (int) (packed & 0xff_ffff) * 1000);
        } catch (DateTimeException e) {
            EvalException coded = EvalException.coded(DATA_TRUNCATED, "Data Truncated");
            coded.addSuppressed(e);
            throw coded;
        }
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
        return packed(dateTime(packed)
                .atOffset(ZoneOffset.UTC)
                .atZoneSameInstant(context.zone())
                .toLocalDateTime());
    }
}
