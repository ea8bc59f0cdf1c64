package io.coplane.cop.expr.kernel;

/** Fields of a time core (expressions.md 6.1). */
final class Times {
    private static final int DATE_BITS = 0b1110;

    private Times() {}

    static boolean isDate(long core) {
        return (core & 0xf) == DATE_BITS;
    }

    static boolean isTimestamp(long core) {
        return !isDate(core) && (core & 1) != 0;
    }

    static int fsp(long core) {
        return isDate(core) ? 0 : (int) core >>> 1 & 7;
    }

    static int year(long core) {
        return (int) (core >>> 50);
    }

    static int month(long core) {
        return (int) (core >>> 46) & 0xf;
    }

    static int day(long core) {
        return (int) (core >>> 41) & 0x1f;
    }

    static int hour(long core) {
        return (int) (core >>> 36) & 0x1f;
    }

    static int minute(long core) {
        return (int) (core >>> 30) & 0x3f;
    }

    static int second(long core) {
        return (int) (core >>> 24) & 0x3f;
    }

    static int micros(long core) {
        return (int) (core >>> 4) & 0xfffff;
    }

    /** All fields zero. */
    static boolean isZero(long core) {
        return core >>> 4 == 0;
    }

    /** Month or day zero. */
    static boolean isInvalidZero(long core) {
        return month(core) == 0 || day(core) == 0;
    }
}
