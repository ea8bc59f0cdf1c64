package io.coplane.cop.expr.kernel;

/** Casts to DateTime and Duration (expressions.md 7.6, 7.7). */
final class CastToTimes {
    private CastToTimes() {}

    static void declare(CastKernels casts) {}
}
