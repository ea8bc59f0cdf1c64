package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.Column;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.number.RealText;

/**
 * Integer arithmetic (expressions.md 8.1, 5.2).
 *
 * <p>Loops compute all rows and fold the overflow of each into a flag; only if it is set, a second pass looks for the first row that is not
 * NULL and overflows, to name it.
 */
final class ArithmeticKernels {
    private static final int OUT_OF_RANGE = 1690;

    /** Both rows' values: true if the operation has no result. */
    @FunctionalInterface
    private interface Overflows {
        boolean test(long left, long right);
    }

    private ArithmeticKernels() {}

    static void declare(SignatureTable table) {
        bySign(table, ScalarFuncSig.PlusInt, ArithmeticKernels::plusInt);
        forced(table, ScalarFuncSig.PlusIntUnsignedUnsigned, ArithmeticKernels::plusInt, true, true);
        forced(table, ScalarFuncSig.PlusIntUnsignedSigned, ArithmeticKernels::plusInt, true, false);
        forced(table, ScalarFuncSig.PlusIntSignedUnsigned, ArithmeticKernels::plusInt, false, true);
        forced(table, ScalarFuncSig.PlusIntSignedSigned, ArithmeticKernels::plusInt, false, false);
        bySign(table, ScalarFuncSig.MinusInt, ArithmeticKernels::minusInt);
        bySign(table, ScalarFuncSig.MultiplyInt, ArithmeticKernels::multiplyInt);
        forced(table, ScalarFuncSig.MultiplyIntUnsigned, ArithmeticKernels::multiplyInt, true, true);
        bySign(table, ScalarFuncSig.IntDivideInt, ArithmeticKernels::intDivideInt);
        bySign(table, ScalarFuncSig.ModInt, ArithmeticKernels::modInt);
        forced(table, ScalarFuncSig.ModIntUnsignedUnsigned, ArithmeticKernels::modInt, true, true);
        forced(table, ScalarFuncSig.ModIntUnsignedSigned, ArithmeticKernels::modInt, true, false);
        forced(table, ScalarFuncSig.ModIntSignedUnsigned, ArithmeticKernels::modInt, false, true);
        forced(table, ScalarFuncSig.ModIntSignedSigned, ArithmeticKernels::modInt, false, false);
        real(table, ScalarFuncSig.PlusReal, ArithmeticKernels::plusReal);
        real(table, ScalarFuncSig.MinusReal, ArithmeticKernels::minusReal);
        real(table, ScalarFuncSig.MultiplyReal, ArithmeticKernels::multiplyReal);
        real(table, ScalarFuncSig.DivideReal, ArithmeticKernels::divideReal);
        real(table, ScalarFuncSig.ModReal, ArithmeticKernels::modReal);
    }

    @FunctionalInterface
    private interface SignedKernel {
        void eval(boolean leftUnsigned, boolean rightUnsigned, Column[] args, int rows, Column out);
    }

    private static void bySign(SignatureTable table, ScalarFuncSig sig, SignedKernel kernel) {
        table.add(sig)
                .takes(EvalType.INT, EvalType.INT)
                .returns(EvalType.INT)
                .runs((ctx, args, rows, out) -> kernel.eval(ctx.isUnsigned(0), ctx.isUnsigned(1), args, rows, out));
    }

    private static void forced(
            SignatureTable table, ScalarFuncSig sig, SignedKernel kernel, boolean leftUnsigned, boolean rightUnsigned) {
        table.add(sig)
                .takes(EvalType.INT, EvalType.INT)
                .returns(EvalType.INT)
                .runs((ctx, args, rows, out) -> kernel.eval(leftUnsigned, rightUnsigned, args, rows, out));
    }

    private static void real(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig)
                .takes(EvalType.REAL, EvalType.REAL)
                .returns(EvalType.REAL)
                .runs(kernel);
    }

    private static void plusInt(boolean leftUnsigned, boolean rightUnsigned, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        long overflow = 0; // its sign bit
        if (!leftUnsigned && !rightUnsigned) {
            for (int i = 0; i < rows; i++) {
                long sum = left[i] + right[i];
                overflow |= (left[i] ^ sum) & (right[i] ^ sum);
                values[i] = sum;
            }
            if (overflow < 0) {
                fail(left, right, rows, out, "BIGINT", '+', (l, r) -> ((l ^ l + r) & (r ^ l + r)) < 0);
            }
        } else if (leftUnsigned && rightUnsigned) {
            for (int i = 0; i < rows; i++) {
                long sum = left[i] + right[i];
                overflow |= left[i] & right[i] | (left[i] | right[i]) & ~sum; // carry out
                values[i] = sum;
            }
            if (overflow < 0) {
                fail(left, right, rows, out, "BIGINT UNSIGNED", '+', (l, r) -> (l & r | (l | r) & ~(l + r)) < 0);
            }
        } else if (leftUnsigned) {
            for (int i = 0; i < rows; i++) {
                long sum = left[i] + right[i];
                overflow |= mixedOverflow(left[i], right[i], sum);
                values[i] = sum;
            }
            if (overflow < 0) {
                // the reference adds the other way round here, and its message shows it
                fail(right, left, rows, out, "BIGINT UNSIGNED", '+', (r, l) -> mixedOverflow(l, r, l + r) < 0);
            }
        } else {
            for (int i = 0; i < rows; i++) {
                long sum = left[i] + right[i];
                overflow |= mixedOverflow(right[i], left[i], sum);
                values[i] = sum;
            }
            if (overflow < 0) {
                fail(left, right, rows, out, "BIGINT UNSIGNED", '+', (l, r) -> mixedOverflow(r, l, l + r) < 0);
            }
        }
    }

    /** Sign bit set if unsigned + signed leaves 0 .. 2^64-1: a carry for a positive, no carry (a borrow) for a negative one. */
    private static long mixedOverflow(long unsigned, long signed, long sum) {
        long carry = unsigned & signed | (unsigned | signed) & ~sum;
        return carry ^ signed;
    }

    private static void minusInt(boolean leftUnsigned, boolean rightUnsigned, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        Overflows overflows;
        if (!leftUnsigned && !rightUnsigned) {
            overflows = (l, r) -> ((l ^ r) & (l ^ l - r)) < 0;
        } else if (leftUnsigned && rightUnsigned) {
            overflows = (l, r) -> Long.compareUnsigned(l, r) < 0;
        } else if (rightUnsigned) {
            overflows = (l, r) -> l < 0 || Long.compareUnsigned(l, r) < 0;
        } else {
            // unsigned - signed: l - r >= 0 and < 2^64
            overflows = (l, r) -> r >= 0 ? Long.compareUnsigned(l, r) < 0 : Long.compareUnsigned(l - r, l) < 0;
        }
        boolean unsignedName = leftUnsigned && rightUnsigned;
        boolean failed = false;
        if (!leftUnsigned && !rightUnsigned) {
            long overflow = 0;
            for (int i = 0; i < rows; i++) {
                long difference = left[i] - right[i];
                overflow |= (left[i] ^ right[i]) & (left[i] ^ difference);
                values[i] = difference;
            }
            failed = overflow < 0;
        } else {
            for (int i = 0; i < rows; i++) {
                values[i] = left[i] - right[i];
                failed |= overflows.test(left[i], right[i]);
            }
        }
        if (failed) {
            fail(left, right, rows, out, unsignedName ? "BIGINT UNSIGNED" : "BIGINT", '-', overflows);
        }
    }

    private static void multiplyInt(boolean leftUnsigned, boolean rightUnsigned, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        boolean failed = false;
        if (!leftUnsigned && !rightUnsigned) {
            for (int i = 0; i < rows; i++) {
                long product = left[i] * right[i];
                failed |= Math.multiplyHigh(left[i], right[i]) != product >> 63;
                values[i] = product;
            }
            if (failed) {
                fail(left, right, rows, out, "BIGINT", '*', (l, r) -> Math.multiplyHigh(l, r) != l * r >> 63);
            }
            return;
        }
        for (int i = 0; i < rows; i++) {
            failed |= Math.unsignedMultiplyHigh(left[i], right[i]) != 0
                    || !leftUnsigned && left[i] < 0
                    || !rightUnsigned && right[i] < 0;
            values[i] = left[i] * right[i];
        }
        if (failed) {
            fail(
                    left,
                    right,
                    rows,
                    out,
                    "BIGINT UNSIGNED",
                    '*',
                    (l, r) ->
                            Math.unsignedMultiplyHigh(l, r) != 0 || !leftUnsigned && l < 0 || !rightUnsigned && r < 0);
        }
    }

    private static void intDivideInt(boolean leftUnsigned, boolean rightUnsigned, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long l = left[i];
            long r = right[i];
            if (r == 0) {
                out.setNull(i);
            } else if (leftUnsigned && rightUnsigned) {
                values[i] = Long.divideUnsigned(l, r);
            } else if (leftUnsigned) {
                if (r < 0 && l != 0 && Long.compareUnsigned(-r, l) <= 0) {
                    throw divisionOverflow(Long.toUnsignedString(l), Long.toString(r));
                }
                values[i] = r < 0 ? 0 : Long.divideUnsigned(l, r);
            } else if (rightUnsigned) {
                if (l < 0 && Long.compareUnsigned(-l, r) >= 0) {
                    throw divisionOverflow(Long.toString(l), Long.toUnsignedString(r));
                }
                values[i] = l < 0 ? 0 : Long.divideUnsigned(l, r);
            } else {
                if (l == Long.MIN_VALUE && r == -1) {
                    throw divisionOverflow(Long.toString(l), Long.toString(r));
                }
                values[i] = l / r;
            }
        }
    }

    private static EvalException divisionOverflow(String left, String right) {
        return EvalException.coded(
                OUT_OF_RANGE, "UNSIGNED BIGINT value is out of range in '(" + left + " / " + right + ")'");
    }

    private static void modInt(boolean leftUnsigned, boolean rightUnsigned, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            long l = left[i];
            long r = right[i];
            if (r == 0) {
                out.setNull(i);
            } else if (leftUnsigned) {
                values[i] = Long.remainderUnsigned(l, rightUnsigned ? r : Math.abs(r));
            } else if (rightUnsigned) {
                values[i] = l > 0 ? Long.remainderUnsigned(l, r) : -Long.remainderUnsigned(-l, r);
            } else {
                values[i] = l % r;
            }
        }
    }

    /** Throws for the first row that is not NULL and overflows; returns if there is none. */
    private static void fail(
            long[] left, long[] right, int rows, Column out, String type, char operator, Overflows overflows) {
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i) && overflows.test(left[i], right[i])) {
                throw EvalException.coded(
                        OUT_OF_RANGE,
                        type + " value is out of range in '(" + left[i] + " " + operator + " " + right[i] + ")'");
            }
        }
    }

    private static void plusReal(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] left = ((DoubleColumn) args[0]).values();
        double[] right = ((DoubleColumn) args[1]).values();
        double[] values = ((DoubleColumn) out).values();
        boolean finite = true;
        for (int i = 0; i < rows; i++) {
            double sum = left[i] + right[i];
            finite &= Math.abs(sum) <= Double.MAX_VALUE;
            values[i] = sum;
        }
        if (!finite) {
            failReal(left, right, rows, out, "DOUBLE", '+');
        }
    }

    private static void minusReal(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] left = ((DoubleColumn) args[0]).values();
        double[] right = ((DoubleColumn) args[1]).values();
        double[] values = ((DoubleColumn) out).values();
        boolean finite = true;
        for (int i = 0; i < rows; i++) {
            double difference = left[i] - right[i];
            finite &= Math.abs(difference) <= Double.MAX_VALUE;
            values[i] = difference;
        }
        if (!finite) {
            failReal(left, right, rows, out, "DOUBLE", '-');
        }
    }

    private static void multiplyReal(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] left = ((DoubleColumn) args[0]).values();
        double[] right = ((DoubleColumn) args[1]).values();
        double[] values = ((DoubleColumn) out).values();
        boolean finite = true;
        for (int i = 0; i < rows; i++) {
            double product = left[i] * right[i];
            finite &= Math.abs(product) <= Double.MAX_VALUE;
            values[i] = product;
        }
        if (!finite) {
            failReal(left, right, rows, out, "REAL", '*');
        }
    }

    /** Throws for the first row that is not NULL and whose result is not finite; values of NULL rows are made harmless. */
    private static void failReal(double[] left, double[] right, int rows, Column out, String type, char operator) {
        double[] values = ((DoubleColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (Math.abs(values[i]) <= Double.MAX_VALUE) {
                continue;
            }
            if (!out.isNull(i)) {
                throw EvalException.coded(
                        OUT_OF_RANGE,
                        type + " value is out of range in '(" + RealText.of(left[i]) + " " + operator + " "
                                + RealText.of(right[i]) + ")'");
            }
            values[i] = 0;
        }
    }

    private static void divideReal(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] left = ((DoubleColumn) args[0]).values();
        double[] right = ((DoubleColumn) args[1]).values();
        double[] values = ((DoubleColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                values[i] = 0;
                continue;
            }
            values[i] = 0;
            if (right[i] == 0) {
                ctx.eval().divisionByZero();
                out.setNull(i);
                continue;
            }
            double quotient = left[i] / right[i];
            if (Double.isInfinite(quotient)) {
                ctx.eval()
                        .overflow(EvalException.coded(
                                OUT_OF_RANGE,
                                "DOUBLE value is out of range in '" + RealText.of(left[i]) + " / "
                                        + RealText.of(right[i]) + "'"));
                out.setNull(i);
            } else if (Double.isNaN(quotient)) {
                out.setNull(i);
            } else {
                values[i] = quotient;
            }
        }
    }

    private static void modReal(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] left = ((DoubleColumn) args[0]).values();
        double[] right = ((DoubleColumn) args[1]).values();
        double[] values = ((DoubleColumn) out).values();
        for (int i = 0; i < rows; i++) {
            double remainder = left[i] % right[i];
            if (right[i] == 0) {
                out.setNull(i);
                remainder = 0;
            } else if (Double.isNaN(remainder)) {
                if (!out.isNull(i)) {
                    throw EvalException.coded(
                            OUT_OF_RANGE,
                            "DOUBLE value is out of range in '(" + RealText.of(left[i]) + " % " + RealText.of(right[i])
                                    + ")'");
                }
                remainder = 0;
            }
            values[i] = remainder;
        }
    }
}
