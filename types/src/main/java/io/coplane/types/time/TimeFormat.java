package io.coplane.types.time;

import io.coplane.types.ByteSink;
import io.coplane.types.EvalException;
import java.nio.charset.StandardCharsets;

/** DATE_FORMAT and the names of days and months (expressions.md 6.12). */
public final class TimeFormat {
    private static final int WRONG_VALUE = 1292;
    private static final String[] MONTHS = {
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December"
    };
    private static final String[] WEEKDAYS = {
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
    };
    private static final byte[][] MONTH_BYTES = bytes(MONTHS);
    private static final byte[][] WEEKDAY_BYTES = bytes(WEEKDAYS);
    private static final int ABBREVIATION = 3;
    private static final long NO_YEAR = 0xffffffffL;

    private TimeFormat() {}

    private static byte[][] bytes(String[] names) {
        byte[][] all = new byte[names.length][];
        for (int i = 0; i < names.length; i++) {
            all[i] = names[i].getBytes(StandardCharsets.US_ASCII);
        }
        return all;
    }

    /** Name of a month, 1 .. 12; not to be modified. */
    public static byte[] monthName(int month) {
        return MONTH_BYTES[month - 1];
    }

    /** Name of a weekday, 0 = Monday; not to be modified. */
    public static byte[] weekdayName(int weekday) {
        return WEEKDAY_BYTES[weekday];
    }

    /** YEARWEEK's number of a negative year is this. */
    public static long yearWeek(long core, int mode) {
        long both = TimeMath.yearWeek(core, mode);
        long number = (both >> 8) * 100 + (both & 0xff);
        return number < 0 ? NO_YEAR : number;
    }

    /**
     * Appends a time in a format.
     *
     * @param format UTF-8, checked by the caller
     * @throws EvalException 1292 if a month name is asked for and there is none
     */
    public static void format(ByteSink out, long core, byte[] format, int offset, int length) {
        int end = offset + length;
        for (int i = offset; i < end; i++) {
            byte b = format[i];
            if (b != '%') {
                out.putByte(b);
            } else if (++i < end) {
                field(out, core, format[i]);
            }
        }
    }

    private static void number(ByteSink out, int value, int width) {
        out.ensure(12);
        out.advance(Times.putDigits(value, width, out.bytes(), out.length()) - out.length());
    }

    private static void name(ByteSink out, byte[] name, int length) {
        out.put(name, 0, length);
    }

    private static byte[] monthNameOrFail(long core) {
        int month = Times.month(core);
        if (month == 0) {
            throw EvalException.coded(WRONG_VALUE, "invalid time format: '" + month + "'");
        }
        return monthName(month);
    }

    private static int twelve(int hour) {
        return hour % 12 == 0 ? 12 : hour % 12;
    }

    private static void field(ByteSink out, long core, byte c) {
        int hour = Times.hour(core);
        switch (c) {
            case 'b' -> name(out, monthNameOrFail(core), ABBREVIATION);
            case 'M' -> {
                byte[] name = monthNameOrFail(core);
                name(out, name, name.length);
            }
            case 'm' -> number(out, Times.month(core), 2);
            case 'c' -> number(out, Times.month(core), 1);
            case 'D' -> {
                int day = Times.day(core);
                number(out, day, 1);
                out.put(suffix(day), 0, 2);
            }
            case 'd' -> number(out, Times.day(core), 2);
            case 'e' -> number(out, Times.day(core), 1);
            case 'j' -> number(out, TimeMath.dayOfYear(core), 3);
            case 'H' -> number(out, hour, 2);
            case 'k' -> number(out, hour, 1);
            case 'h', 'I' -> number(out, twelve(hour), 2);
            case 'l' -> number(out, twelve(hour), 1);
            case 'i' -> number(out, Times.minute(core), 2);
            case 'p' -> amPm(out, hour);
            case 'r' -> {
                clock(out, twelve(hour), core);
                out.putByte(' ');
                amPm(out, hour);
            }
            case 'T' -> clock(out, hour, core);
            case 'S', 's' -> number(out, Times.second(core), 2);
            case 'f' -> number(out, Times.micros(core), 6);
            default -> weekField(out, core, c);
        }
    }

    private static void amPm(ByteSink out, int hour) {
        out.putByte(hour / 12 % 2 == 0 ? 'A' : 'P');
        out.putByte('M');
    }

    private static void clock(ByteSink out, int hour, long core) {
        number(out, hour, 2);
        out.putByte(':');
        number(out, Times.minute(core), 2);
        out.putByte(':');
        number(out, Times.second(core), 2);
    }

    private static void weekField(ByteSink out, long core, byte c) {
        switch (c) {
            case 'U' -> number(out, TimeMath.week(core, 0), 2);
            case 'u' -> number(out, TimeMath.week(core, 1), 2);
            case 'V' -> number(out, TimeMath.week(core, 2), 2);
            case 'v' -> number(out, (int) TimeMath.yearWeek(core, 3) & 0xff, 2);
            case 'a' -> name(out, weekdayName(TimeMath.weekday(core)), ABBREVIATION);
            case 'W' -> {
                byte[] name = weekdayName(TimeMath.weekday(core));
                name(out, name, name.length);
            }
            case 'w' -> number(out, (TimeMath.weekday(core) + 1) % 7, 1);
            case 'X' -> year(out, TimeMath.yearWeek(core, 2) >> 8);
            case 'x' -> year(out, TimeMath.yearWeek(core, 3) >> 8);
            case 'Y' -> number(out, Times.year(core), 4);
            case 'y' -> number(out, Times.year(core) % 100, 2);
            default -> out.putByte(c); // of a longer character the first byte; the others follow as they are
        }
    }

    private static void year(ByteSink out, long year) {
        if (year < 0) {
            byte[] none = "4294967295".getBytes(StandardCharsets.US_ASCII);
            out.put(none, 0, none.length);
        } else {
            number(out, (int) year, 4);
        }
    }

    private static byte[] suffix(int day) {
        String suffix = switch (day) {
            case 1, 21, 31 -> "st";
            case 2, 22 -> "nd";
            case 3, 23 -> "rd";
            default -> "th";
        };
        return suffix.getBytes(StandardCharsets.US_ASCII);
    }

    /** Bytes of a month's name. */
    static int monthNameLength(int month) {
        return MONTH_BYTES[month - 1].length;
    }

    /** Month whose name a text starts with, in any case, or 0. @param abbreviated three letters */
    static int monthAt(byte[] text, int at, int end, boolean abbreviated) {
        for (int i = 0; i < MONTHS.length; i++) {
            byte[] name = MONTH_BYTES[i];
            int length = abbreviated ? ABBREVIATION : name.length;
            boolean matches = end - at >= length;
            for (int k = 0; matches && k < length; k++) {
                matches = (text[at + k] | 0x20) == (name[k] | 0x20);
            }
            if (matches) {
                return i + 1;
            }
        }
        return 0;
    }
}
