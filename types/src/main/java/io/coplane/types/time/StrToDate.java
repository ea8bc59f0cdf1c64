package io.coplane.types.time;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.text.Utf8;

/** STR_TO_DATE (expressions.md 6.13). Reused; one thread. */
public final class StrToDate {
    private static final int DATA_TRUNCATED = 1265;
    private static final int NONE = 0;
    private static final int AM = 1;
    private static final int PM = 2;

    private final TimeParts parts = new TimeParts();
    private byte[] date;
    private int at;
    private int end;
    private int half;
    private boolean sawHour24;
    private boolean sawHour12;

    /** Ready for any number of texts. */
    public StrToDate() {}

    /**
     * Reads a date by a format.
     *
     * @return a DATE_TIME with fsp 0 but all microseconds, or {@link Times#NONE}; then {@link #partialText()} shows what was read
     */
    public long parse(
            EvalContext context,
            byte[] text,
            int offset,
            int length,
            byte[] format,
            int formatOffset,
            int formatLength) {
        date = text;
        at = offset;
        end = offset + length;
        half = NONE;
        sawHour24 = false;
        sawHour12 = false;
        parts.clear();
        int formatAt = formatOffset;
        int formatEnd = formatOffset + formatLength;
        while (true) {
            at = Utf8.skipWhiteSpace(date, at, end);
            end = Utf8.trimEnd(date, at, end);
            formatAt = Utf8.skipWhiteSpace(format, formatAt, formatEnd);
            formatEnd = Utf8.trimEnd(format, formatAt, formatEnd);
            if (formatAt == formatEnd) {
                if (at < end) {
                    context.warn(EvalException.coded(DATA_TRUNCATED, "Data Truncated"));
                }
                break;
            }
            boolean token = format[formatAt] == '%';
            if (token && formatEnd - formatAt < 2) {
                return Times.NONE;
            }
            byte c = token ? format[formatAt + 1] : 0;
            if (at == end) {
                note(c);
                break;
            }
            boolean matched = token ? take(format, formatAt) : takeLiteral(format[formatAt]);
            if (!matched) {
                return Times.NONE;
            }
            formatAt += token ? 2 : 1;
        }
        return adjustHour() ? finish(context) : Times.NONE;
    }

    /** What was read so far as a time, however wrong. */
    public String partialText() {
        return Times.text(parts.unchecked(FieldType.DATE_TIME, 0));
    }

    private long finish(EvalContext context) {
        int year = parts.year;
        int month = parts.month;
        int day = parts.day;
        int hour = parts.hour;
        int minute = parts.minute;
        int second = parts.second;
        int micros = parts.micros;
        long checked = parts.validate(context, FieldType.DATE_TIME, 0);
        parts.set(year, month, day, hour, minute, second, micros);
        return checked == Times.NONE ? Times.NONE : parts.unchecked(FieldType.DATE_TIME, 0);
    }

    private void note(byte c) {
        switch (c) {
            case 'H', 'k' -> sawHour24 = true;
            case 'h', 'I', 'l' -> sawHour12 = true;
            case 'p' -> half = half == NONE ? AM : half;
            default -> {}
        }
    }

    private boolean adjustHour() {
        if (half == NONE) {
            if (sawHour12 && parts.hour == 12) {
                parts.hour = 0;
            }
            return true;
        }
        if (sawHour24 || parts.hour == 0) {
            return false;
        }
        if (parts.hour == 12) {
            parts.hour = half == AM ? 0 : 12;
        } else if (half == PM) {
            parts.hour += 12;
        }
        return true;
    }

    private boolean takeLiteral(byte c) {
        if (date[at] != c) {
            return false;
        }
        at++;
        return true;
    }

    /** A number of up to {@code most} digits, or -1 if there is none. */
    private int digits(int most) {
        int start = at;
        int value = 0;
        while (at < end && at - start < most && date[at] >= '0' && date[at] <= '9') {
            value = value * 10 + date[at++] - '0';
        }
        return at == start ? -1 : value;
    }

    private static int adjustYear(int year) {
        return year >= 70 ? year + 1900 : year + 2000;
    }

    private boolean take(byte[] format, int formatAt) {
        byte c = format[formatAt + 1];
        switch (c) {
            case 'b', 'M' -> {
                int month = TimeFormat.monthAt(date, at, end, c == 'b');
                parts.month = month;
                at += month == 0 ? 0 : c == 'b' ? 3 : TimeFormat.monthNameLength(month);
                return month > 0;
            }
            case 'c', 'm' -> {
                parts.month = digits(2);
                return parts.month >= 0 && parts.month <= 12 || reset();
            }
            case 'd', 'e' -> {
                parts.day = digits(2);
                return parts.day >= 0 && parts.day <= 31 || reset();
            }
            case 'Y' -> {
                return takeYear(4);
            }
            case 'y' -> {
                return takeYear(2);
            }
            case 'H', 'k' -> {
                sawHour24 = true;
                parts.hour = digits(2);
                return parts.hour >= 0 && parts.hour <= 23 || reset();
            }
            case 'h', 'I', 'l' -> {
                sawHour12 = true;
                parts.hour = digits(2);
                return parts.hour >= 1 && parts.hour <= 12 || reset();
            }
            case 'i' -> {
                parts.minute = digits(2);
                return parts.minute >= 0 && parts.minute < 60 || reset();
            }
            case 's', 'S' -> {
                parts.second = digits(2);
                return parts.second >= 0 && parts.second < 60 || reset();
            }
            default -> {
                return takeOther(format, formatAt);
            }
        }
    }

    /** A field that failed reads as zero. */
    private boolean reset() {
        parts.month = Math.max(0, parts.month);
        parts.day = Math.max(0, parts.day);
        parts.hour = Math.max(0, parts.hour);
        parts.minute = Math.max(0, parts.minute);
        parts.second = Math.max(0, parts.second);
        return false;
    }

    private boolean takeYear(int most) {
        int start = at;
        int year = digits(most);
        if (year < 0) {
            return false;
        }
        parts.year = at - start <= 2 ? adjustYear(year) : year;
        return true;
    }

    private boolean takeOther(byte[] format, int formatAt) {
        switch (format[formatAt + 1]) {
            case 'f' -> {
                int start = at;
                int value = Math.max(0, digits(6));
                for (int i = at - start; i < 6 && at > start; i++) {
                    value *= 10;
                }
                parts.micros = value;
                return true;
            }
            case 'p' -> {
                return takeHalf();
            }
            case 'j' -> {
                return digits(3) > 0;
            }
            case 'T' -> {
                return takeClock(0, 23) != FAILED;
            }
            case 'r' -> {
                return takeClock12();
            }
            case '#' -> {
                while (at < end && date[at] >= '0' && date[at] <= '9') {
                    at++;
                }
                return true;
            }
            case '.' -> {
                while (at < end && isPunctuation(date[at])) {
                    at++;
                }
                return true;
            }
            case '@' -> {
                skipLetters();
                return true;
            }
            default -> {
                // not in the table: matches its own text
                if (end - at < 2 || date[at] != '%' || date[at + 1] != format[formatAt + 1]) {
                    return false;
                }
                at += 2;
                return true;
            }
        }
    }

    private static boolean isPunctuation(byte b) {
        return b > ' ' && b < 0x7f && (b < '0' || b > '9') && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z');
    }

    private void skipLetters() {
        while (at < end) {
            int width = Utf8.sequenceLength(date, at, end);
            if (width == 0 || !Character.isAlphabetic(Utf8.codePoint(date, at, width))) {
                return;
            }
            at += width;
        }
    }

    private boolean takeHalf() {
        if (end - at < 2 || (date[at + 1] | 0x20) != 'm') {
            return false;
        }
        int letter = date[at] | 0x20;
        half = letter == 'a' ? AM : letter == 'p' ? PM : half;
        if (letter != 'a' && letter != 'p') {
            return false;
        }
        at += 2;
        return true;
    }

    private static final int FAILED = -1;
    private static final int ENDED = 0;
    private static final int COMPLETE = 1;

    /** {@code H[:M[:S]]}; may end behind any part or colon. */
    private int takeClock(int least, int most) {
        parts.hour = digits(2);
        if (parts.hour < least || parts.hour > most) {
            reset();
            return FAILED;
        }
        int colon = colon();
        if (colon != COMPLETE) {
            return colon;
        }
        parts.minute = digits(2);
        if (parts.minute < 0 || parts.minute > 59) {
            reset();
            return FAILED;
        }
        colon = colon();
        if (colon != COMPLETE) {
            return colon;
        }
        parts.second = digits(2);
        if (parts.second < 0 || parts.second > 59) {
            reset();
            return FAILED;
        }
        return COMPLETE;
    }

    /** A colon with white space around: ended if the text ends before or behind it. */
    private int colon() {
        at = Utf8.skipWhiteSpace(date, at, end);
        if (at == end) {
            return ENDED;
        }
        if (date[at] != ':') {
            return FAILED;
        }
        at = Utf8.skipWhiteSpace(date, at + 1, end);
        return at == end ? ENDED : COMPLETE;
    }

    private boolean takeClock12() {
        int taken = takeClock(1, 12);
        if (taken == FAILED) {
            return false;
        }
        if (taken == COMPLETE) {
            at = Utf8.skipWhiteSpace(date, at, end);
            if (at < end) {
                int before = half;
                half = NONE;
                boolean found = takeHalf();
                int which = half;
                half = before;
                if (!found) {
                    return false;
                }
                if (parts.hour == 12) {
                    parts.hour = which == AM ? 0 : 12;
                } else if (which == PM) {
                    parts.hour += 12;
                }
                return true;
            }
        }
        if (parts.hour == 12) {
            parts.hour = 0;
        }
        return true;
    }
}
