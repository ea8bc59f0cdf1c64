package io.coplane.types.decimal;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;

/** What happened to a value on its way through an operation (expressions.md 5.4.1). */
public enum DecimalStatus {
    /** Exact, or rounded as asked. */
    OK,
    /** Digits behind the point were lost. */
    TRUNCATED,
    /** The number needs more than 81 digits before the point. */
    OVERFLOW;

    private static final int DATA_TRUNCATED = 1265;
    private static final int OUT_OF_RANGE = 1690;

    /** Fails unless OK: the plain way, which no flag softens. */
    public void orThrow() {
        if (this == TRUNCATED) {
            throw EvalException.coded(DATA_TRUNCATED, "Data Truncated");
        }
        orThrowOverflow();
    }

    /** Fails on overflow the plain way. */
    public void orThrowOverflow() {
        if (this == OVERFLOW) {
            throw EvalException.coded(OUT_OF_RANGE, " value is out of range in ''");
        }
    }

    /** Reports the status to the handlers of the context, with the text for no expression in particular. */
    public void report(EvalContext context) {
        if (this == TRUNCATED) {
            context.truncated();
        } else if (this == OVERFLOW) {
            context.overflow(EvalException.coded(OUT_OF_RANGE, "DECIMAL value is out of range in ''"));
        }
    }
}
