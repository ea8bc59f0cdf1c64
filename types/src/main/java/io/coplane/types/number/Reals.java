package io.coplane.types.number;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;

/** Rounding of reals and reals in the bounds of a column type (expressions.md 5.5). */
public final class Reals {
    private static final int OUT_OF_RANGE = 1690;
    private static final int MAX_DIGITS = 255;

    private Reals() {}

    /** Nearest integer, halves away from zero. */
    public static double roundHalfAway(double value) {
        double magnitude = Math.abs(value);
        if (!(magnitude < 0x1p52)) {
            return value; // already an integer, or infinite
        }
        double whole = (double) (long) magnitude;
        if (magnitude - whole >= 0.5) {
            whole += 1;
        }
        return Math.copySign(whole, value);
    }

    /** 10 to an integer power by square and multiply, with the errors that makes (expressions.md 8.6). */
    public static double powerOfTen(int exponent) {
        double result = 1;
        double factor = 10;
        int n = exponent;
        while (true) {
            if ((n & 1) != 0) {
                result *= factor;
            }
            n /= 2;
            if (n == 0) {
                break;
            }
            factor *= factor;
        }
        return exponent < 0 ? 1 / result : result;
    }

    /** Fits a real to {@code type}: rounds to its digits, clips to its width, and to zero where it is unsigned. */
    public static double fit(double value, FieldType type, EvalContext context) {
        double fitted = value;
        if (type.flen() != FieldType.UNSPECIFIED_LENGTH && type.decimal() != FieldType.UNSPECIFIED_LENGTH) {
            double max = greatest(type.flen(), type.decimal());
            fitted = truncate(value, type.flen(), type.decimal());
            if (Double.isNaN(value) || fitsNot(value, type.decimal(), max)) {
                context.overflow(
                        EvalException.coded(OUT_OF_RANGE, RealText.of(value) + " value is out of range in 'DOUBLE'"));
            }
        }
        if (type.isUnsigned() && fitted < 0) {
            context.overflow(IntBounds.constant(RealText.of(fitted), type.tp()));
            return 0;
        }
        return fitted;
    }

    /** Rounds half away from zero at {@code decimal} digits and clips to {@code flen} digits; NaN gives 0. */
    public static double truncate(double value, int flen, int decimal) {
        if (Double.isNaN(value)) {
            return 0;
        }
        double max = greatest(flen, decimal);
        double rounded = round(value, decimal);
        return rounded > max ? max : rounded < -max ? -max : rounded;
    }

    private static boolean fitsNot(double value, int decimal, double max) {
        return Math.abs(round(value, decimal)) > max;
    }

    private static double round(double value, int decimal) {
        double power = powerOfTen(decimal);
        double scaled = value * power;
        return Double.isInfinite(scaled) ? value : roundHalfAway(scaled) / power;
    }

    private static double greatest(int flen, int decimal) {
        if (flen < 0 || flen >= MAX_DIGITS || decimal < 0 || decimal >= MAX_DIGITS) {
            throw EvalException.uncoded("invalid width of a real: flen=" + flen + " decimal=" + decimal);
        }
        return powerOfTen(flen - decimal) - powerOfTen(-decimal);
    }
}
