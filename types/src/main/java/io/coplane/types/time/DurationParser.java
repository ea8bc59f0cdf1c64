package io.coplane.types.time;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.text.Utf8;

/** Texts and numbers to durations (expressions.md 6.7). The result stands in {@link #nanos()}. Reused; one thread. */
public final class DurationParser {
    private static final int WRONG_VALUE = 1292;
    private static final int OUT_OF_RANGE = 1690;
    private static final long MOST_NUMBER = 8_385_959;
    private static final long FIRST_DATETIME = 10_000_000_000L;
    private static final int LONG_TEXT = 12;
    private static final long UINT32 = 0xffffffffL;
    private static final long[] POW10 = {
        1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1
    };

    private final TimeParser times = new TimeParser();
    private final TimeMath math = new TimeMath();
    private byte[] data;
    private int at;
    private int end;
    private long hours;
    private long minutes;
    private long seconds;
    private long nanos;

    /** Ready for any number of texts. */
    public DurationParser() {}

    /** The duration found last. */
    public long nanos() {
        return nanos;
    }

    /** 1292 for a text that is no duration. */
    public static EvalException incorrect(String text) {
        return EvalException.coded(WRONG_VALUE, "Truncated incorrect TIME value: '" + text + "'");
    }

    /**
     * Parses a text.
     *
     * @param fallback a text of the shape of a datetime may be one
     * @param overflowAsNull out of range is a failure without a handler
     * @return false on failure
     * @throws EvalException from handlers
     */
    public boolean parse(
            EvalContext context,
            byte[] text,
            int offset,
            int length,
            int fsp,
            boolean fallback,
            boolean overflowAsNull) {
        data = text;
        at = Utf8.skipWhiteSpace(text, offset, offset + length);
        end = Utf8.trimEnd(text, at, offset + length);
        if (at == end) {
            return false;
        }
        boolean negative = text[at] == '-';
        if (negative) {
            at++;
        }
        skipBlanks();
        int start = at;
        boolean datetime = hasDatetimeShape();
        boolean matched = matchClock();
        long fraction = matched ? matchFraction(fsp) : 0;
        boolean truncated = false;
        if (matched && fraction >= 0 && at < end) {
            if (end - start >= LONG_TEXT) {
                matched = false;
            } else {
                truncated = true;
            }
        }
        if (matched && fraction < 0) {
            return false;
        }
        if (!matched || truncated && datetime && fallback) {
            return datetime && fallback && parseTime(context, start, fsp);
        }
        return finish(context, negative, fraction, fsp, truncated, overflowAsNull);
    }

    private boolean finish(
            EvalContext context, boolean negative, long fraction, int fsp, boolean truncated, boolean overflowAsNull) {
        try {
            nanos = Durations.ofParts(negative, hours, minutes, seconds, fraction, fsp);
        } catch (EvalException e) {
            if (e.mysqlCode() != OUT_OF_RANGE || overflowAsNull) {
                return false;
            }
            if (!context.hasFlag(EvalContext.OVERFLOW_AS_WARNING)) {
                return false;
            }
            context.overflow(e);
            nanos = negative ? -Durations.MAX_NANOS : Durations.MAX_NANOS;
            return true;
        }
        if (truncated
                && !context.hasFlag(EvalContext.IGNORE_TRUNCATE)
                && context.hasFlag(EvalContext.TRUNCATE_AS_WARNING)) {
            context.truncated(); // its failure is ignored, so only the warning counts
        }
        return true;
    }

    private boolean parseTime(EvalContext context, int start, int fsp) {
        long core = times.parse(context, data, start, end - start, FieldType.DATE_TIME, fsp, true);
        if (core == Times.NONE) {
            return false;
        }
        nanos = Durations.ofTime(core);
        return true;
    }

    private static boolean isDigit(byte b) {
        return b >= '0' && b <= '9';
    }

    private void skipBlanks() {
        while (at < end && (data[at] == ' ' || data[at] == '\t')) {
            at++;
        }
    }

    private int digitsFrom(int from) {
        int i = from;
        while (i < end && isDigit(data[i])) {
            i++;
        }
        return i;
    }

    private static boolean isPunctuation(byte b) {
        return b > ' ' && b < 0x7f && !isDigit(b) && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z');
    }

    private boolean hasDatetimeShape() {
        int first = digitsFrom(at);
        if (first - at == 12 || first - at == 14) {
            return true;
        }
        if (first == at || first == end || !isPunctuation(data[first])) {
            return false;
        }
        int second = digitsFrom(first + 1);
        if (second == first + 1 || second == end || !isPunctuation(data[second])) {
            return false;
        }
        int third = digitsFrom(second + 1);
        return third > second + 1 && third < end && (data[third] == 'T' || data[third] == ' ');
    }

    /** Reads a number that fits uint32. @return -1 if there is none; then nothing is consumed */
    private long number() {
        int stop = digitsFrom(at);
        if (stop == at) {
            return -1;
        }
        long value = 0;
        for (int i = at; i < stop; i++) {
            value = value * 10 + data[i] - '0';
            if (value > UINT32) {
                return -1;
            }
        }
        at = stop;
        return value;
    }

    /** Reads {@code :number} with blanks around the colon. @return -1 if there is none; then nothing is consumed */
    private long colonNumber() {
        int start = at;
        skipBlanks();
        if (at < end && data[at] == ':') {
            at++;
            skipBlanks();
            long value = number();
            if (value >= 0) {
                return value;
            }
        }
        at = start;
        return -1;
    }

    /** The first of the forms {@code D HH[:MM[:SS]]}, {@code HH:MM[:SS]}, a single number. */
    private boolean matchClock() {
        int start = at;
        long first = number();
        if (first < 0) {
            return false;
        }
        int behindFirst = at;
        skipBlanks();
        if (at > behindFirst && at < end && isDigit(data[at])) {
            long hour = number();
            if (hour >= 0 && first * 24 + hour <= UINT32) {
                hours = first * 24 + hour;
                long minute = colonNumber();
                minutes = Math.max(0, minute);
                seconds = minute < 0 ? 0 : Math.max(0, colonNumber());
                return true;
            }
        }
        at = behindFirst;
        long minute = colonNumber();
        if (minute >= 0) {
            hours = first;
            minutes = minute;
            seconds = Math.max(0, colonNumber());
            return true;
        }
        at = start;
        long number = number();
        hours = number / 10_000;
        minutes = number / 100 % 100;
        seconds = number % 100;
        return true;
    }

    /** Nanoseconds of an optional fraction; -1 for a dot without digits. */
    private long matchFraction(int fsp) {
        skipBlanks();
        if (at == end || data[at] != '.') {
            return 0;
        }
        at++;
        int stop = digitsFrom(at);
        if (stop == at) {
            return -1;
        }
        int count = Math.min(stop - at, fsp + 1);
        long value = 0;
        for (int i = at; i < at + count; i++) {
            value = value * 10 + data[i] - '0';
        }
        at = stop;
        return value * POW10[count];
    }

    /**
     * A number HHMMSS to a duration.
     *
     * @throws EvalException 1690 or 1292
     */
    public long fromInt(EvalContext context, long number, int fsp) {
        if (number > MOST_NUMBER || number < -MOST_NUMBER) {
            if (number >= FIRST_DATETIME) {
                long core = times.fromInt(context, number, FieldType.DATE_TIME, fsp);
                if (core != Times.NONE) {
                    return Durations.ofTime(core);
                }
            }
            throw EvalException.coded(OUT_OF_RANGE, "Duration value is out of range in '" + number + "'");
        }
        long magnitude = Math.abs(number);
        long minute = magnitude / 100 % 100;
        long second = magnitude % 100;
        if (minute > 59 || second > 59) {
            throw EvalException.coded(WRONG_VALUE, "Truncated incorrect time value: '" + number + "'");
        }
        return Durations.ofParts(number < 0, magnitude / 10_000, minute, second, 0, fsp);
    }

    /** Arithmetic for those who share this parser. */
    public TimeMath math() {
        return math;
    }
}
