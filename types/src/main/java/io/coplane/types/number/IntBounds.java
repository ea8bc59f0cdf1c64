package io.coplane.types.number;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;

/** Integers in the bounds of an integer column type (expressions.md 5.2, 5.3 "range check"). */
public final class IntBounds {
    private static final int OUT_OF_RANGE = 1690;

    private IntBounds() {}

    /** Bits of an integer type; 64 for Bit, Set, Enum and all that is no integer. */
    public static int bits(int tp) {
        return switch (tp) {
            case FieldType.TINY -> 8;
            case FieldType.SHORT -> 16;
            case FieldType.INT24 -> 24;
            case FieldType.LONG -> 32;
            default -> 64;
        };
    }

    /** Least signed value. */
    public static long min(int tp) {
        return -1L << bits(tp) - 1;
    }

    /** Greatest signed value. */
    public static long max(int tp) {
        return ~min(tp);
    }

    /** Greatest unsigned value, as a bit pattern. */
    public static long maxUnsigned(int tp) {
        return -1L >>> 64 - bits(tp);
    }

    /** int64 to a signed type: clipped through the overflow handler. */
    public static long signed(long value, int tp, EvalContext context) {
        if (value < min(tp)) {
            context.overflow(constant(Long.toString(value), tp));
            return min(tp);
        }
        if (value > max(tp)) {
            context.overflow(constant(Long.toString(value), tp));
            return max(tp);
        }
        return value;
    }

    /** int64 to an unsigned type. */
    public static long signedToUnsigned(long value, int tp, EvalContext context) {
        if (value < 0 && context.clipsToZero()) {
            context.overflow(constant(Long.toString(value), tp));
            return 0;
        }
        if (Long.compareUnsigned(value, maxUnsigned(tp)) > 0) {
            context.overflow(constant(Long.toString(value), tp));
            return maxUnsigned(tp);
        }
        return value;
    }

    /** uint64 to a signed type. */
    public static long unsignedToSigned(long value, int tp, EvalContext context) {
        if (Long.compareUnsigned(value, max(tp)) > 0) {
            context.overflow(constant(Long.toUnsignedString(value), tp));
            return max(tp);
        }
        return value;
    }

    /** uint64 to an unsigned type. */
    public static long unsigned(long value, int tp, EvalContext context) {
        if (Long.compareUnsigned(value, maxUnsigned(tp)) > 0) {
            context.overflow(constant(Long.toUnsignedString(value), tp));
            return maxUnsigned(tp);
        }
        return value;
    }

    /** double to a signed type: rounded half to even. */
    public static long fromReal(double value, int tp, EvalContext context) {
        double rounded = Math.rint(value);
        if (rounded < min(tp)) {
            context.overflow(constant(RealText.of(rounded), tp));
            return min(tp);
        }
        if (rounded >= (double) max(tp)) {
            if (rounded != (double) max(tp)) {
                context.overflow(constant(RealText.of(rounded), tp));
            }
            return max(tp);
        }
        return (long) rounded;
    }

    /** double to an unsigned type: rounded half away from zero. */
    public static long fromRealUnsigned(double value, int tp, EvalContext context) {
        double rounded = Reals.roundHalfAway(value);
        if (rounded < 0) {
            context.overflow(constant(RealText.of(rounded), tp));
            return context.clipsToZero() ? 0 : (long) rounded;
        }
        double bound = toReal(maxUnsigned(tp));
        if (rounded >= bound) {
            if (rounded != bound) {
                context.overflow(constant(RealText.of(rounded), tp));
            }
            return maxUnsigned(tp);
        }
        return rounded < 0x1p63 ? (long) rounded : (long) (rounded - 0x1p63) ^ Long.MIN_VALUE;
    }

    /** uint64 to the nearest double. */
    public static double toReal(long unsigned) {
        if (unsigned >= 0) {
            return unsigned;
        }
        // halve with a sticky low bit, so that the one rounding is right
        return (double) (unsigned >>> 1 | unsigned & 1) * 2;
    }

    static EvalException constant(String value, int tp) {
        return EvalException.coded(OUT_OF_RANGE, "constant " + value + " overflows " + FieldType.name(tp));
    }
}
