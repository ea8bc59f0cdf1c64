package io.coplane.types.time;

import io.coplane.types.FieldType;

/** A time value: fields, fsp and type in one long, the core of expressions.md 6.1; its accessors and texts. */
public final class Times {
    /** Most digits of a second's fraction. */
    public static final int MAX_FSP = 6;
    /** Longest text: {@code YYYYY-MM-DD HH:MM:SS.ffffff}. */
    public static final int MAX_TEXT_BYTES = 32;
    /** No time: the result of what failed. No core has this pattern. */
    public static final long NONE = -1;

    private static final int DATE_BITS = 0b1110;
    private static final long FSP_TYPE_MASK = 0xf;

    private Times() {}

    /** True for a DATE. */
    public static boolean isDate(long core) {
        return (core & FSP_TYPE_MASK) == DATE_BITS;
    }

    /** True for a TIMESTAMP. */
    public static boolean isTimestamp(long core) {
        return !isDate(core) && (core & 1) != 0;
    }

    /** Field type code: DATE, DATE_TIME or TIMESTAMP. */
    public static int type(long core) {
        return isDate(core) ? FieldType.DATE : (core & 1) != 0 ? FieldType.TIMESTAMP : FieldType.DATE_TIME;
    }

    /** Fraction digits; 0 for a DATE. */
    public static int fsp(long core) {
        return isDate(core) ? 0 : (int) core >>> 1 & 7;
    }

    /** The low four bits for a type and fsp. */
    static long bits(int type, int fsp) {
        return switch (type) {
            case FieldType.DATE -> DATE_BITS;
            case FieldType.TIMESTAMP -> (long) fsp << 1 | 1;
            default -> (long) fsp << 1;
        };
    }

    /** The same fields with another fsp, above 6 it is 6; a DATE stays as it is. */
    public static long withFsp(long core, int fsp) {
        return isDate(core) ? core : core & ~0xeL | (long) Math.min(fsp, MAX_FSP) << 1;
    }

    /** Year, 0 to 9999 in a valid time. */
    public static int year(long core) {
        return (int) (core >>> 50);
    }

    /** Month, 0 to 12. */
    public static int month(long core) {
        return (int) (core >>> 46) & 0xf;
    }

    /** Day of the month, 0 to 31. */
    public static int day(long core) {
        return (int) (core >>> 41) & 0x1f;
    }

    /** Hour. */
    public static int hour(long core) {
        return (int) (core >>> 36) & 0x1f;
    }

    /** Minute. */
    public static int minute(long core) {
        return (int) (core >>> 30) & 0x3f;
    }

    /** Second. */
    public static int second(long core) {
        return (int) (core >>> 24) & 0x3f;
    }

    /** Microsecond. */
    public static int micros(long core) {
        return (int) (core >>> 4) & 0xfffff;
    }

    /** All fields zero. */
    public static boolean isZero(long core) {
        return core >>> 4 == 0;
    }

    /** Month or day zero. */
    public static boolean isInvalidZero(long core) {
        return month(core) == 0 || day(core) == 0;
    }

    /** Nanoseconds since midnight. */
    public static long nanosOfDay(long core) {
        return ((hour(core) * 60L + minute(core)) * 60 + second(core)) * 1_000_000_000L + micros(core) * 1_000L;
    }

    /** Writes the text. @return bytes written */
    public static int putText(long core, byte[] target, int at) {
        int write = putDigits(year(core), 4, target, at);
        target[write++] = '-';
        write = putDigits(month(core), 2, target, write);
        target[write++] = '-';
        write = putDigits(day(core), 2, target, write);
        if (!isDate(core)) {
            target[write++] = ' ';
            write = putClock(core, target, write, (byte) ':');
            write = putFraction(core, target, write);
        }
        return write - at;
    }

    /** Writes {@code YYYYMMDD[HHMMSS[.frac]]}. @return bytes written */
    public static int putNumericText(long core, byte[] target, int at) {
        int write = putDigits(year(core), 4, target, at);
        write = putDigits(month(core), 2, target, write);
        write = putDigits(day(core), 2, target, write);
        if (!isDate(core)) {
            write = putClock(core, target, write, (byte) 0);
            write = putFraction(core, target, write);
        }
        return write - at;
    }

    private static int putClock(long core, byte[] target, int at, byte separator) {
        int write = putDigits(hour(core), 2, target, at);
        if (separator != 0) {
            target[write++] = separator;
        }
        write = putDigits(minute(core), 2, target, write);
        if (separator != 0) {
            target[write++] = separator;
        }
        return putDigits(second(core), 2, target, write);
    }

    private static int putFraction(long core, byte[] target, int at) {
        return putFraction(micros(core), fsp(core), target, at);
    }

    /** A dot and the first {@code fsp} of six digits; nothing if fsp is 0. @return index behind */
    static int putFraction(int micros, int fsp, byte[] target, int at) {
        if (fsp == 0) {
            return at;
        }
        target[at] = '.';
        int rest = micros;
        for (int i = MAX_FSP; i > 0; i--) {
            if (i <= fsp) {
                target[at + i] = (byte) ('0' + rest % 10);
            }
            rest /= 10;
        }
        return at + 1 + fsp;
    }

    /** At least {@code width} digits. @return index behind */
    static int putDigits(int value, int width, byte[] target, int at) {
        int digits = width;
        for (int limit = power10(width); digits < 10 && value >= limit; limit *= 10) {
            digits++;
        }
        int rest = value;
        for (int i = at + digits - 1; i >= at; i--) {
            target[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        return at + digits;
    }

    private static int power10(int exponent) {
        int power = 1;
        for (int i = 0; i < exponent; i++) {
            power *= 10;
        }
        return power;
    }

    /** The text. Allocates. */
    public static String text(long core) {
        byte[] text = new byte[MAX_TEXT_BYTES];
        return new String(text, 0, putText(core, text, 0), java.nio.charset.StandardCharsets.ISO_8859_1);
    }
}
