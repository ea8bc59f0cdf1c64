package io.coplane.types.time;

/** Day numbers of the proleptic Gregorian calendar: 1 is 0000-01-01 there, 719528 is 1970-01-01 (expressions.md 6.6). */
final class Days {
    /** Day number of 1970-01-01. */
    static final long EPOCH = 719_528;

    private static final int DAYS_PER_400_YEARS = 146_097;

    private Days() {}

    /** True day number of a date of the calendar; year 0 has 366 days. */
    static long number(int year, int month, int day) {
        long y = month <= 2 ? year - 1L : year;
        long era = Math.floorDiv(y, 400L);
        long yearOfEra = y - era * 400;
        long dayOfYear = (153L * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
        long dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
        return era * DAYS_PER_400_YEARS + dayOfEra + 60; // 0000-03-01 has number 60
    }

    /** Sets year, month and day. */
    static void set(long number, TimeParts out) {
        long date = date(number);
        out.year = (int) (date >> 9);
        out.month = (int) date >> 5 & 0xf;
        out.day = (int) date & 0x1f;
    }

    /** Date of a day number: year, four bits of month, five bits of day; the year may be negative. */
    static long date(long number) {
        long shifted = number - 60;
        long era = Math.floorDiv(shifted, (long) DAYS_PER_400_YEARS);
        long dayOfEra = shifted - era * DAYS_PER_400_YEARS;
        long yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
        long dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
        long shiftedMonth = (5 * dayOfYear + 2) / 153;
        long day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1;
        long month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
        long year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
        return year << 9 | month << 5 | day;
    }

    /** MySQL's day number: any fields; 0 for year 0 and month 0. */
    static int mysqlNumber(int year, int month, int day) {
        if (year == 0 && month == 0) {
            return 0;
        }
        int y = year;
        int sum = 365 * y + 31 * (month - 1) + day;
        if (month <= 2) {
            y--;
        } else {
            sum -= (4 * month + 23) / 10;
        }
        return sum + y / 4 - (y / 100 + 1) * 3 / 4;
    }
}
