package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalType;
import io.coplane.types.column.Column;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;

/**
 * Comparisons (expressions.md 8.2): each type writes the order of its rows as -1, 0, 1, then one pass turns that into the operator's answer.
 */
final class CompareKernels {
    static final long LESS = 0b001;
    static final long EQUAL = 0b010;
    static final long GREATER = 0b100;

    /** Writes the order of each row; rows where an argument is NULL may hold anything. */
    @FunctionalInterface
    interface Order {
        void order(KernelContext ctx, Column[] args, int rows, long[] out);
    }

    private CompareKernels() {}

    static void declare(SignatureTable table) {
        declare(
                table,
                EvalType.INT,
                CompareKernels::orderInt,
                ScalarFuncSig.LTInt,
                ScalarFuncSig.LEInt,
                ScalarFuncSig.GTInt,
                ScalarFuncSig.GEInt,
                ScalarFuncSig.EQInt,
                ScalarFuncSig.NEInt,
                ScalarFuncSig.NullEQInt);
        declare(
                table,
                EvalType.REAL,
                CompareKernels::orderReal,
                ScalarFuncSig.LTReal,
                ScalarFuncSig.LEReal,
                ScalarFuncSig.GTReal,
                ScalarFuncSig.GEReal,
                ScalarFuncSig.EQReal,
                ScalarFuncSig.NEReal,
                ScalarFuncSig.NullEQReal);
        declare(
                table,
                EvalType.DATE_TIME,
                CompareKernels::orderTime,
                ScalarFuncSig.LTTime,
                ScalarFuncSig.LETime,
                ScalarFuncSig.GTTime,
                ScalarFuncSig.GETime,
                ScalarFuncSig.EQTime,
                ScalarFuncSig.NETime,
                ScalarFuncSig.NullEQTime);
        declare(
                table,
                EvalType.DURATION,
                CompareKernels::orderDuration,
                ScalarFuncSig.LTDuration,
                ScalarFuncSig.LEDuration,
                ScalarFuncSig.GTDuration,
                ScalarFuncSig.GEDuration,
                ScalarFuncSig.EQDuration,
                ScalarFuncSig.NEDuration,
                ScalarFuncSig.NullEQDuration);
    }

    /** @param sigs in the order LT, LE, GT, GE, EQ, NE, NullEQ */
    static void declare(SignatureTable table, EvalType type, Order order, ScalarFuncSig... sigs) {
        long[] masks = {LESS, LESS | EQUAL, GREATER, GREATER | EQUAL, EQUAL, LESS | GREATER};
        for (int i = 0; i < masks.length; i++) {
            long mask = masks[i];
            table.add(sigs[i]).takes(type, type).returns(EvalType.INT).runs((ctx, args, rows, out) -> {
                long[] values = ((LongColumn) out).values();
                order.order(ctx, args, rows, values);
                answer(values, rows, mask);
            });
        }
        table.add(sigs[masks.length])
                .takes(type, type)
                .returns(EvalType.INT)
                .seesNulls()
                .runs((ctx, args, rows, out) -> {
                    long[] values = ((LongColumn) out).values();
                    order.order(ctx, args, rows, values);
                    answer(values, rows, EQUAL);
                    nullSafe(args[0], args[1], rows, values);
                });
    }

    static void answer(long[] values, int rows, long mask) {
        for (int i = 0; i < rows; i++) {
            values[i] = mask >>> (values[i] + 1) & 1;
        }
    }

    static void nullSafe(Column left, Column right, int rows, long[] values) {
        if (!left.mayHaveNulls() && !right.mayHaveNulls()) {
            return;
        }
        for (int i = 0; i < rows; i++) {
            boolean leftNull = left.isNull(i);
            boolean rightNull = right.isNull(i);
            if (leftNull || rightNull) {
                values[i] = leftNull == rightNull ? 1 : 0;
            }
        }
    }

    private static void orderInt(KernelContext ctx, Column[] args, int rows, long[] out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        boolean leftUnsigned = ctx.isUnsigned(0);
        boolean rightUnsigned = ctx.isUnsigned(1);
        if (leftUnsigned == rightUnsigned) {
            orderLongs(left, right, leftUnsigned ? Long.MIN_VALUE : 0, rows, out);
        } else if (rightUnsigned) {
            for (int i = 0; i < rows; i++) {
                out[i] = (left[i] | right[i]) < 0 ? -1 : Long.compare(left[i], right[i]);
            }
        } else {
            for (int i = 0; i < rows; i++) {
                out[i] = (left[i] | right[i]) < 0 ? 1 : Long.compare(left[i], right[i]);
            }
        }
    }

    /** @param bias Long.MIN_VALUE for unsigned order, 0 for signed */
    private static void orderLongs(long[] left, long[] right, long bias, int rows, long[] out) {
        for (int i = 0; i < rows; i++) {
            long l = left[i] ^ bias;
            long r = right[i] ^ bias;
            out[i] = (l > r ? 1L : 0L) - (l < r ? 1L : 0L);
        }
    }

    private static void orderReal(KernelContext ctx, Column[] args, int rows, long[] out) {
        double[] left = ((DoubleColumn) args[0]).values();
        double[] right = ((DoubleColumn) args[1]).values();
        for (int i = 0; i < rows; i++) {
            out[i] = (left[i] > right[i] ? 1L : 0L) - (left[i] < right[i] ? 1L : 0L);
        }
    }

    /** By fields; the low four bits (fsp and type) don't count. */
    private static void orderTime(KernelContext ctx, Column[] args, int rows, long[] out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        for (int i = 0; i < rows; i++) {
            long l = left[i] >>> 4;
            long r = right[i] >>> 4;
            out[i] = (l > r ? 1L : 0L) - (l < r ? 1L : 0L);
        }
    }

    private static void orderDuration(KernelContext ctx, Column[] args, int rows, long[] out) {
        orderLongs(((LongColumn) args[0]).values(), ((LongColumn) args[1]).values(), 0, rows, out);
    }
}
