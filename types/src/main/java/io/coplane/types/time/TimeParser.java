package io.coplane.types.time;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.number.TextNumbers;
import io.coplane.types.text.Utf8;
import java.time.ZoneOffset;

/** Texts and numbers to times (expressions.md 6.4, 6.5). Reused; one thread. Failure is {@link Times#NONE}. */
public final class TimeParser {
    /** The type follows from the text. */
    public static final int ANY_TYPE = -1;

    private static final int MOST_RUNS = 10;
    private static final int NO_ZONE = Integer.MIN_VALUE;
    private static final int[] POW10 = {1, 10, 100, 1_000, 10_000, 100_000, 1_000_000};

    private final TimeParts parts = new TimeParts();
    private final int[] runStarts = new int[MOST_RUNS];
    private final int[] runEnds = new int[MOST_RUNS];
    private final int[] separatorStarts = new int[MOST_RUNS];
    private final int[] separatorEnds = new int[MOST_RUNS];
    private byte[] data;
    private int runs;
    private int separators;
    private int zoneSeconds;

    /** Ready for any number of texts. */
    public TimeParser() {}

    /**
     * Parses a text.
     *
     * @param type DATE, DATE_TIME, TIMESTAMP or {@link #ANY_TYPE}
     * @param fsp 0 .. 6
     * @param round more digits than fsp round the last, else they are cut
     */
    public long parse(EvalContext context, byte[] text, int offset, int length, int type, int fsp, boolean round) {
        if (!split(text, offset, length) || !takeZone() || !dotBeforeFraction()) {
            return Times.NONE;
        }
        int target = type == ANY_TYPE ? typeOfText() : type;
        boolean filled = runs <= 2 ? fillCompact(fsp, round) : fillRuns(fsp, round);
        if (!filled || !parts.carry()) {
            return Times.NONE;
        }
        long core = parts.validate(context, target, target == FieldType.DATE ? 0 : fsp);
        if (core == Times.NONE || zoneSeconds == NO_ZONE) {
            return core;
        }
        return fromZone(context, core, target, fsp);
    }

    private long fromZone(EvalContext context, long core, int type, int fsp) {
        long instant = parts.set(core).epochSecond(ZoneTable.of(ZoneOffset.ofTotalSeconds(zoneSeconds)));
        if (instant == TimeParts.NO_INSTANT) {
            return Times.NONE;
        }
        parts.setEpochSecond(instant, context.zoneTable());
        return parts.validate(context, type, fsp);
    }

    private static boolean isDigit(byte b) {
        return b >= '0' && b <= '9';
    }

    private static boolean isPunctuation(byte b) {
        return b > ' ' && b < 0x7f && !isDigit(b) && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z');
    }

    private boolean split(byte[] text, int offset, int length) {
        data = text;
        runs = 0;
        separators = 0;
        int at = Utf8.skipWhiteSpace(text, offset, offset + length);
        int end = Utf8.trimEnd(text, at, offset + length);
        while (at < end) {
            int start = at;
            while (at < end && isDigit(text[at])) {
                at++;
            }
            if (start == at || runs == MOST_RUNS) {
                return false;
            }
            runStarts[runs] = start;
            runEnds[runs++] = at;
            if (at == end) {
                return true;
            }
            int stop = separatorEnd(text, at, end);
            if (stop < 0 || separators == MOST_RUNS) {
                return false;
            }
            separatorStarts[separators] = at;
            separatorEnds[separators++] = stop;
            at = stop;
        }
        return runs > 0;
    }

    /** Index behind the separator at {@code at}, or -1 if it is none here. */
    private int separatorEnd(byte[] text, int at, int end) {
        byte b = text[at];
        if (b == 'T') {
            return runs == 3 && at + 1 < end ? at + 1 : -1;
        }
        if (b == 'Z') {
            return runs == 6 || runs == 7 ? at + 1 : -1;
        }
        if (isPunctuation(b)) {
            int stop = at;
            while (stop < end && isPunctuation(text[stop])) {
                stop++;
            }
            return stop < end ? stop : -1;
        }
        int stop = Utf8.skipWhiteSpace(text, at, end);
        return stop > at && runs == 3 ? stop : -1;
    }

    private boolean isSeparator(int index, char c) {
        return separatorEnds[index] - separatorStarts[index] == 1 && data[separatorStarts[index]] == c;
    }

    private boolean isSign(int index) {
        return isSeparator(index, '+') || isSeparator(index, '-');
    }

    /** Takes a zone suffix off the runs. */
    private boolean takeZone() {
        zoneSeconds = NO_ZONE;
        if (runs == 9) {
            if (separators != 8 || !isSign(6) || !isSeparator(7, ':')) {
                return false;
            }
            return zone(6, 7, 8);
        }
        if (runs == 8) {
            if (separators != 7) {
                return false;
            }
            if (isSign(6) && isSeparator(5, '.')) {
                return zone(6, 7, -1);
            }
            return isSign(5) && isSeparator(6, ':') && zone(5, 6, 7);
        }
        if (runs == 7) {
            if (separators == 7) {
                zoneSeconds = 0;
                return isSeparator(6, 'Z');
            }
            return !isSign(5) || zone(5, 6, -1);
        }
        if (runs == 6 && separators == 6) {
            zoneSeconds = 0;
            return isSeparator(5, 'Z');
        }
        return runs <= 7 && separators == runs - 1;
    }

    /** @param minuteRun -1 if the minute may stand in the hour's run */
    private boolean zone(int sign, int hourRun, int minuteRun) {
        int hourStart = runStarts[hourRun];
        int hourEnd = runEnds[hourRun];
        int minuteStart = minuteRun < 0 ? hourEnd : runStarts[minuteRun];
        int minuteEnd = minuteRun < 0 ? hourEnd : runEnds[minuteRun];
        if (hourEnd - hourStart == 4 && minuteRun < 0) {
            hourEnd -= 2;
            minuteStart = hourEnd;
        }
        boolean noMinute = minuteStart == minuteEnd;
        if (hourEnd - hourStart != 2 || !noMinute && minuteEnd - minuteStart != 2) {
            return false;
        }
        int hours = (int) number(hourStart, hourEnd);
        int minutes = noMinute ? 0 : (int) number(minuteStart, minuteEnd);
        boolean negative = isSeparator(sign, '-');
        int seconds = hours * 3600 + minutes * 60;
        if (hours > 14 || minutes > 59 || seconds > 14 * 3600 || negative && seconds == 0) {
            return false;
        }
        zoneSeconds = negative ? -seconds : seconds;
        runs = hourRun;
        return true;
    }

    private boolean dotBeforeFraction() {
        return runs != 2 && runs != 7 || isSeparator(runs - 2, '.');
    }

    private int typeOfText() {
        int width = runEnds[0] - runStarts[0];
        boolean date = runs == 3 || runs == 1 && (width == 8 || width == 6 || width == 5);
        return date ? FieldType.DATE : FieldType.DATE_TIME;
    }

    /** A number that fits uint32, or -1. */
    private long number(int start, int end) {
        long value = 0;
        for (int i = start; i < end; i++) {
            value = value * 10 + data[i] - '0';
            if (value > 0xffffffffL) {
                return -1;
            }
        }
        return value;
    }

    private static int adjustYear(int year) {
        return year <= 69 ? year + 2000 : year <= 99 ? year + 1900 : year;
    }

    private boolean fillCompact(int fsp, boolean round) {
        parts.clear();
        int at = runStarts[0];
        int end = runEnds[0];
        int width = end - at;
        int yearDigits = width == 14 || width == 8 ? 4 : width >= 9 && width <= 12 || width >= 5 && width <= 7 ? 2 : 0;
        if (yearDigits == 0) {
            return false;
        }
        int[] fields = new int[6];
        fields[0] = (int) number(at, at + yearDigits);
        at += yearDigits;
        for (int i = 1; at < end; i++) {
            int next = Math.min(at + 2, end);
            fields[i] = (int) number(at, next);
            at = next;
        }
        if (yearDigits == 2) {
            fields[0] = adjustYear(fields[0]);
        }
        parts.set(fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], 0);
        if (runs == 2) {
            if (width != 10 && width != 12 && width != 14) {
                return false;
            }
            fraction(runStarts[1], runEnds[1], fsp, round);
        }
        return true;
    }

    private boolean fillRuns(int fsp, boolean round) {
        parts.clear();
        if (runs > 7) {
            return false;
        }
        long[] fields = new long[6];
        for (int i = 0; i < Math.min(runs, 6); i++) {
            fields[i] = number(runStarts[i], runEnds[i]);
            if (fields[i] < 0) {
                return false;
            }
        }
        if (runs == 7) {
            fraction(runStarts[6], runEnds[6], fsp, round);
        }
        int micros = parts.micros;
        for (int i = 0; i < fields.length; i++) {
            fields[i] = Math.min(fields[i], Integer.MAX_VALUE / 2); // out of range anyway
        }
        parts.set(
                (int) fields[0],
                (int) fields[1],
                (int) fields[2],
                (int) fields[3],
                (int) fields[4],
                (int) fields[5],
                micros);
        if (runEnds[0] - runStarts[0] == 2 && !parts.isZero()) {
            parts.year = adjustYear(parts.year);
        }
        return true;
    }

    /** Sets the microseconds; they may reach a whole second. */
    private void fraction(int start, int end, int fsp, boolean round) {
        int kept = Math.min(end - start, fsp + (round ? 1 : 0));
        int value = (int) number(start, start + kept);
        int micros = kept < Times.MAX_FSP ? value * POW10[Times.MAX_FSP - kept] : value;
        if (round) {
            if (kept > Times.MAX_FSP) {
                // seven digits below a million are taken as they are: a quirk of the reference (6.4, step 7)
                micros = value >= 1_000_000 ? (value + 5) / 10 : value;
            } else {
                int unit = POW10[Times.MAX_FSP - fsp];
                micros = (micros + unit / 2) / unit * unit;
            }
        }
        parts.micros = micros;
    }

    /** A number to a time of a type. */
    public long fromInt(EvalContext context, long number, int type, int fsp) {
        if (!fill(number)) {
            return Times.NONE;
        }
        return parts.validate(context, type, fsp);
    }

    /** Sets the fields of a number YYYYMMDD[hhmmss] and its short forms. */
    private boolean fill(long number) {
        if (number == 0) {
            parts.clear();
            return true;
        }
        long aligned = align(number);
        if (aligned < 0) {
            return false;
        }
        long ymd = aligned / 1_000_000 & 0xffffffffL;
        int hms = (int) (aligned % 1_000_000);
        parts.set(
                (int) (ymd / 10_000),
                (int) (ymd / 100 % 100),
                (int) (ymd % 100),
                hms / 10_000,
                hms / 100 % 100,
                hms % 100,
                0);
        return true;
    }

    private static long align(long n) {
        if (n < 101) {
            return -1;
        }
        if (n <= 691_231) {
            return (n + 20_000_000) * 1_000_000;
        }
        if (n < 700_101) {
            return -1;
        }
        if (n <= 991_231) {
            return (n + 19_000_000) * 1_000_000;
        }
        if (n <= 99_991_231) {
            return n * 1_000_000;
        }
        if (n < 101_000_000) {
            return -1;
        }
        if (n <= 691_231_235_959L) {
            return n + 20_000_000_000_000L;
        }
        if (n < 700_101_000_000L) {
            return -1;
        }
        if (n <= 991_231_235_959L) {
            return n + 19_000_000_000_000L;
        }
        return n < 1_000_000_000_000L ? -1 : n;
    }

    /**
     * The text of a real or decimal to a time of a type.
     *
     * @throws EvalException if the integer part is no int64 and that is an error
     */
    public long fromFloatText(
            EvalContext context, byte[] text, int offset, int length, int type, int fsp, boolean round) {
        if (!split(text, offset, length) || runs > 2 || separators != runs - 1 || !dotBeforeFraction()) {
            return Times.NONE;
        }
        long number = TextNumbers.toInt(data, runStarts[0], runEnds[0] - runStarts[0], FieldType.LONG_LONG, context);
        if (!fill(number)) {
            return Times.NONE;
        }
        int width = runEnds[0] - runStarts[0];
        if (runs == 2 && width >= 9 && width <= 14 && !parts.isZero()) {
            fraction(runStarts[1], runEnds[1], fsp, round);
        }
        if (!parts.carry()) {
            return Times.NONE;
        }
        return parts.validate(context, type, fsp);
    }

    /** A number without a target type: DATE, or DATE_TIME from 101000000 on; fsp 0. */
    public long fromIntDefault(EvalContext context, long number) {
        return fromInt(context, number, number >= 101_000_000 ? FieldType.DATE_TIME : FieldType.DATE, 0);
    }

    /** A real without a target type. */
    public long fromRealDefault(EvalContext context, double number) {
        long core = fromIntDefault(context, (long) number);
        if (core == Times.NONE || Times.isDate(core)) {
            return core;
        }
        double fraction = Math.abs(number - (long) number) * 1e6;
        long micros = (long) Math.floor(fraction + 0.5) & 0xfffff;
        return Times.withFsp(core & ~(0xfffffL << 4) | micros << 4, Times.MAX_FSP);
    }

    /** The fields y-00-00 as a time of a type. */
    public long fromYear(EvalContext context, int year, int type, int fsp) {
        return parts.set(year, 0, 0, 0, 0, 0, 0).validate(context, type, fsp);
    }
}
