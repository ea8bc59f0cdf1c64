package io.coplane.cop.expr.kernel;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;

/**
 * Transcendental functions, rounded to the nearest double but for a few cases in a billion. The reference calls the C library, which is right to
 * 0.51 to 0.55 units in the last place; Java's {@code Math} only to one or two, so sums, groups and texts of its results would differ (expressions.md
 * 8.6). Each function corrects Java's result by one step of Newton's method in {@link DoubleDouble}. One thread.
 */
final class PreciseMath {
    private static final double LN2_HIGH = 0x1.62e42fefa39efp-1;
    private static final double LN2_LOW = 0x1.abc9e3b39803fp-56;
    private static final double HALF_PI = Math.PI / 2;
    private static final double[] HALF_PI_PARTS = parts(new BigDecimal(pi(400)).divide(BigDecimal.TWO.pow(401)));

    private static final int TERMS = 30;
    /** 1 / n!, high and low part. */
    private static final double[] FACTORIAL_HIGH = new double[TERMS];

    private static final double[] FACTORIAL_LOW = new double[TERMS];

    /** Below, the logarithm's own series is short. */
    private static final double NEAR_ONE = 0x1p-11;

    private static final int SERIES = 10;
    private static final double SMALL = 0x1p-26;
    private static final double EASY_ANGLE = 1e5;
    private static final double LARGE = 0x1p500;
    private static final double LEAST_NORMAL = 0x1p-900;

    /** The parts of log10(2) and 1 / ln(10) that C libraries use. */
    private static final double LOG10_2_HIGH = 0x1.34413509f6p-2;

    private static final double LOG10_2_LOW = 0x1.9fef311f12b36p-42;
    private static final double INVERSE_LN10 = 0x1.bcb7b1526e50ep-2;

    static {
        BigDecimal factorial = BigDecimal.ONE;
        for (int n = 0; n < TERMS; n++) {
            factorial = n == 0 ? factorial : factorial.multiply(BigDecimal.valueOf(n));
            BigDecimal inverse = BigDecimal.ONE.divide(factorial, new MathContext(80));
            FACTORIAL_HIGH[n] = inverse.doubleValue();
            FACTORIAL_LOW[n] =
                    inverse.subtract(new BigDecimal(FACTORIAL_HIGH[n])).doubleValue();
        }
    }

    private final DoubleDouble result = new DoubleDouble();
    private final DoubleDouble power = new DoubleDouble();
    private final DoubleDouble sine = new DoubleDouble();
    private final DoubleDouble cosine = new DoubleDouble();
    private final DoubleDouble angle = new DoubleDouble();
    private final DoubleDouble square = new DoubleDouble();
    private final DoubleDouble scratch = new DoubleDouble();
    private final DoubleDouble logarithm = new DoubleDouble();

    /** Pi times 2^bits, by Machin's formula. */
    private static BigInteger pi(int bits) {
        int guard = bits + 32;
        BigInteger fifth = inverseArcTangent(5, guard);
        BigInteger far = inverseArcTangent(239, guard);
        return fifth.shiftLeft(4).subtract(far.shiftLeft(2)).shiftRight(32);
    }

    private static BigInteger inverseArcTangent(int n, int bits) {
        BigInteger term = BigInteger.ONE.shiftLeft(bits).divide(BigInteger.valueOf(n));
        BigInteger squared = BigInteger.valueOf((long) n * n);
        BigInteger sum = term;
        for (long k = 3; term.signum() != 0; k += 2) {
            term = term.divide(squared);
            BigInteger share = term.divide(BigInteger.valueOf(k));
            sum = (k & 2) != 0 ? sum.subtract(share) : sum.add(share);
        }
        return sum;
    }

    private static double[] parts(BigDecimal value) {
        double[] parts = new double[4];
        BigDecimal rest = value;
        for (int i = 0; i < parts.length; i++) {
            parts[i] = rest.doubleValue();
            rest = rest.subtract(new BigDecimal(parts[i]));
        }
        return parts;
    }

    private static boolean isTame(double x) {
        double magnitude = Math.abs(x);
        return magnitude > LEAST_NORMAL && magnitude < LARGE;
    }

    // ---- exponents and logarithms

    /** Sets {@link #result} to e^(high + low), |high| below 700. */
    private void expOf(double high, double low) {
        double k = Math.rint(high / LN2_HIGH);
        result.set(high, low);
        power.set(LN2_HIGH, LN2_LOW).multiply(-k);
        result.add(power);
        power.set(result).multiply(0x1p-6);
        result.set(FACTORIAL_HIGH[12], FACTORIAL_LOW[12]);
        for (int n = 11; n >= 0; n--) {
            result.multiply(power).add(FACTORIAL_HIGH[n], FACTORIAL_LOW[n]);
        }
        for (int i = 0; i < 6; i++) {
            power.set(result);
            result.multiply(power);
        }
        double scale = Math.scalb(1.0, (int) k);
        result.set(result.high() * scale, result.low() * scale);
    }

    double exp(double x) {
        double near = Math.exp(x);
        if (Math.abs(x) > 690 || Math.abs(x) < SMALL) {
            return near;
        }
        expOf(x, 0);
        return result.value();
    }

    /** Sets {@link #logarithm} to ln(x), x normal and positive. */
    private void logOf(double x) {
        int exponent = Math.getExponent(x);
        double mantissa = Math.scalb(x, -exponent);
        if (mantissa > 1.5) {
            mantissa /= 2;
            exponent++;
        }
        double above = mantissa - 1; // exact
        if (Math.abs(above) < NEAR_ONE) {
            scratch.set(1, 0).divide(power.set(SERIES, 0));
            for (int n = SERIES - 1; n > 0; n--) {
                result.set(1, 0).divide(power.set(n, 0));
                scratch.multiply(-above).add(result);
            }
            scratch.multiply(above);
            logarithm.set(LN2_HIGH, LN2_LOW).multiply(exponent).add(scratch);
            return;
        }
        double near = Math.log(mantissa);
        expOf(-near, 0);
        result.multiply(mantissa).add(-1);
        double error = result.value();
        scratch.set(result).add(-0.5 * error * error);
        logarithm.set(LN2_HIGH, LN2_LOW).multiply(exponent).add(near).add(scratch);
    }

    private static boolean isLogTame(double x) {
        return x >= Double.MIN_NORMAL && x <= Double.MAX_VALUE;
    }

    double log(double x) {
        if (!isLogTame(x) || x == 1) {
            return Math.log(x);
        }
        logOf(x);
        return logarithm.value();
    }

    double log2(double x) {
        if (!isLogTame(x)) {
            return Math.log(x) / LN2_HIGH;
        }
        logOf(x);
        return logarithm.divide(scratch.set(LN2_HIGH, LN2_LOW)).value();
    }

    /** As C libraries do it, with the error that they make: the exponent and the mantissa apart. */
    double log10(double x) {
        if (!isLogTame(x)) {
            return Math.log10(x);
        }
        int exponent = Math.getExponent(x);
        double whole = exponent < 0 ? exponent + 1 : exponent;
        double mantissa = Math.scalb(x, (int) -whole);
        double rest = whole * LOG10_2_LOW + INVERSE_LN10 * log(mantissa);
        return rest + whole * LOG10_2_HIGH;
    }

    /** C's pow: unlike Java's, 1 to any power and -1 to an infinite power are 1. */
    double pow(double x, double y) {
        if (x == 1 || x == -1 && Double.isInfinite(y)) {
            return 1;
        }
        double near = Math.pow(x, y);
        double magnitude = Math.abs(x);
        if (!isTame(near) || near == Math.rint(near) && Math.abs(near) < 0x1p53 || !isLogTame(magnitude) || y == 1) {
            return near;
        }
        logOf(magnitude);
        logarithm.multiply(y);
        if (Math.abs(logarithm.high()) < SMALL * SMALL) {
            return near;
        }
        expOf(logarithm.high(), logarithm.low());
        return near < 0 ? -result.value() : result.value();
    }

    // ---- angles

    /** Sets {@link #sine} and {@link #cosine} to those of x, finite. */
    private void circle(double x) {
        int quadrant = reduce(x);
        square.set(angle).multiply(angle);
        sine.set(FACTORIAL_HIGH[27], FACTORIAL_LOW[27]);
        cosine.set(FACTORIAL_HIGH[28], FACTORIAL_LOW[28]);
        for (int n = 26; n >= 0; n -= 2) {
            cosine.multiply(square).multiply(-1).add(FACTORIAL_HIGH[n], FACTORIAL_LOW[n]);
        }
        for (int n = 25; n >= 1; n -= 2) {
            sine.multiply(square).multiply(-1).add(FACTORIAL_HIGH[n], FACTORIAL_LOW[n]);
        }
        sine.multiply(angle);
        if ((quadrant & 1) != 0) {
            scratch.set(sine);
            sine.set(cosine);
            cosine.set(scratch).multiply(-1);
        }
        if ((quadrant & 2) != 0) {
            sine.multiply(-1);
            cosine.multiply(-1);
        }
    }

    /** Sets {@link #angle} to x less a multiple of pi / 2. Returns that multiple, modulo 4. */
    private int reduce(double x) {
        if (Math.abs(x) <= Math.PI / 4) {
            angle.set(x, 0);
            return 0;
        }
        if (Math.abs(x) > EASY_ANGLE) {
            return reduceLarge(x);
        }
        double k = Math.rint(x / HALF_PI);
        angle.set(x, 0);
        for (double part : HALF_PI_PARTS) {
            double product = k * part;
            angle.add(-product, -Math.fma(k, part, -product));
        }
        return (int) k & 3;
    }

    private int reduceLarge(double x) {
        int bits = Math.getExponent(x) + 200;
        BigInteger halfPi = pi(bits).shiftRight(1);
        BigInteger scaled = new BigDecimal(x)
                .multiply(new BigDecimal(BigInteger.ONE.shiftLeft(bits)))
                .toBigInteger();
        BigInteger[] quotient = scaled.divideAndRemainder(halfPi);
        BigDecimal rest = new BigDecimal(quotient[1]).divide(new BigDecimal(BigInteger.ONE.shiftLeft(bits)));
        double high = rest.doubleValue();
        angle.set(high, rest.subtract(new BigDecimal(high)).doubleValue());
        return quotient[0].and(BigInteger.valueOf(3)).intValue();
    }

    double sin(double x) {
        if (!Double.isFinite(x) || Math.abs(x) < SMALL) {
            return Math.sin(x);
        }
        circle(x);
        return sine.value();
    }

    double cos(double x) {
        if (!Double.isFinite(x)) {
            return Double.NaN;
        }
        circle(x);
        return cosine.value();
    }

    double tan(double x) {
        if (!Double.isFinite(x) || Math.abs(x) < SMALL) {
            return Math.tan(x);
        }
        circle(x);
        return sine.divide(cosine).value();
    }

    double asin(double x) {
        double near = Math.asin(x);
        if (!(Math.abs(x) < 1) || Math.abs(x) < SMALL) {
            return near;
        }
        circle(near);
        return result.set(sine).multiply(-1).add(x).divide(cosine).add(near).value();
    }

    double acos(double x) {
        double near = Math.acos(x);
        if (!(Math.abs(x) < 1)) {
            return near;
        }
        circle(near);
        return result.set(cosine).add(-x).divide(sine).add(near).value();
    }

    double atan(double x) {
        return Math.abs(x) < SMALL ? Math.atan(x) : atan2(x, 1);
    }

    double atan2(double y, double x) {
        double near = Math.atan2(y, x);
        if (!isTame(y) || !isTame(x) || Math.abs(near) < SMALL) {
            return near;
        }
        int exponent = -Math.max(Math.getExponent(x), Math.getExponent(y));
        double scaledY = Math.scalb(y, exponent);
        double scaledX = Math.scalb(x, exponent);
        circle(near);
        angle.set(cosine).multiply(scaledY);
        result.set(sine).multiply(-scaledX).add(angle);
        double length = scaledX * cosine.high() + scaledY * sine.high();
        return result.multiply(1 / length).add(near).value();
    }
}
