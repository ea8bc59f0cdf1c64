package io.coplane.cop.expr.kernel;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Text of reals in error messages (expressions.md 5.1). Not hot. */
final class Reals {
    private Reals() {}

    /** Shortest digits that round-trip, positional, no trailing {@code .0}. */
    static String text(double value) {
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return 1 / value < 0 ? "-0" : "0";
        }
        BigDecimal digits = new BigDecimal(Double.toString(value)).stripTrailingZeros();
        if (digits.precision() == 2) {
            // Double.toString never gives less than two digits, so one may do: 4.9E-324 is 5E-324
            BigDecimal one = digits.round(new MathContext(1, RoundingMode.HALF_UP));
            if (one.doubleValue() == value) {
                digits = one.stripTrailingZeros();
            }
        }
        return digits.toPlainString();
    }
}
