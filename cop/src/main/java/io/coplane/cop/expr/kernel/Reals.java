package io.coplane.cop.expr.kernel;

import java.math.BigDecimal;

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
        return digits.toPlainString();
    }
}
