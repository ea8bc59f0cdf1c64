package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import java.util.Arrays;

/** GREATEST, LEAST, INTERVAL, FIELD of numbers (expressions.md 8.2, 8.7). */
final class ExtremeKernels {
    /** Order of two arguments in a row. */
    @FunctionalInterface
    interface RowOrder {
        int compare(Column left, Column right, int row);
    }

    private ExtremeKernels() {}

    static void declare(SignatureTable table) {
        extremes(table, EvalType.INT, ExtremeKernels::longs, ScalarFuncSig.GreatestInt, ScalarFuncSig.LeastInt);
        extremes(table, EvalType.REAL, ExtremeKernels::doubles, ScalarFuncSig.GreatestReal, ScalarFuncSig.LeastReal);
        extremes(table, EvalType.BYTES, ExtremeKernels::bytes, ScalarFuncSig.GreatestString, ScalarFuncSig.LeastString);
        extremes(table, EvalType.DATE_TIME, ExtremeKernels::times, ScalarFuncSig.GreatestTime, ScalarFuncSig.LeastTime);
        extremes(table, EvalType.DATE_TIME, ExtremeKernels::times, ScalarFuncSig.GreatestDate, ScalarFuncSig.LeastDate);
        extremes(
                table,
                EvalType.DURATION,
                ExtremeKernels::longs,
                ScalarFuncSig.GreatestDuration,
                ScalarFuncSig.LeastDuration);
        numbers(table, EvalType.INT, ExtremeKernels::longs, ScalarFuncSig.IntervalInt, ScalarFuncSig.FieldInt);
        numbers(table, EvalType.REAL, ExtremeKernels::doubles, ScalarFuncSig.IntervalReal, ScalarFuncSig.FieldReal);
    }

    static void extremes(
            SignatureTable table, EvalType type, RowOrder order, ScalarFuncSig greatest, ScalarFuncSig least) {
        table.add(greatest)
                .takesMany(2, type)
                .returns(type)
                .seesNulls()
                .runs((ctx, args, rows, out) -> extreme(ctx, args, rows, out, order, 1));
        table.add(least)
                .takesMany(2, type)
                .returns(type)
                .seesNulls()
                .runs((ctx, args, rows, out) -> extreme(ctx, args, rows, out, order, -1));
    }

    private static void numbers(
            SignatureTable table, EvalType type, RowOrder order, ScalarFuncSig interval, ScalarFuncSig field) {
        table.add(interval)
                .takesMany(2, type)
                .returns(EvalType.INT)
                .seesNulls()
                .runs((ctx, args, rows, out) -> interval(args, rows, (LongColumn) out, order));
        table.add(field)
                .takesMany(1, type)
                .returns(EvalType.INT)
                .seesNulls()
                .runs((ctx, args, rows, out) -> field(args, rows, (LongColumn) out, order));
    }

    private static int longs(Column left, Column right, int row) {
        return Long.compare(((LongColumn) left).values()[row], ((LongColumn) right).values()[row]);
    }

    private static int times(Column left, Column right, int row) {
        return Long.compare(((LongColumn) left).values()[row] >>> 4, ((LongColumn) right).values()[row] >>> 4);
    }

    private static int doubles(Column left, Column right, int row) {
        double l = ((DoubleColumn) left).values()[row];
        double r = ((DoubleColumn) right).values()[row];
        return l < r ? -1 : l > r ? 1 : 0;
    }

    private static int bytes(Column left, Column right, int row) {
        BytesColumn l = (BytesColumn) left;
        BytesColumn r = (BytesColumn) right;
        int leftStart = l.starts()[row];
        int rightStart = r.starts()[row];
        return Arrays.compareUnsigned(
                l.data(), leftStart, leftStart + l.lengths()[row], r.data(), rightStart, rightStart + r.lengths()[row]);
    }

    /** @param sign 1 for the greatest, where a tie goes to the later argument; -1 for the least, where it stays with the earlier */
    static void extreme(KernelContext ctx, Column[] args, int rows, Column out, RowOrder order, int sign) {
        int[] choice = Gather.choices(ctx, rows);
        for (int i = 0; i < rows; i++) {
            int best = args[0].isNull(i) ? Gather.NONE : 0;
            for (int a = 1; a < args.length && best != Gather.NONE; a++) {
                if (args[a].isNull(i)) {
                    best = Gather.NONE;
                } else {
                    int compared = order.compare(args[a], args[best], i) * sign;
                    best = compared > 0 || compared == 0 && sign > 0 ? a : best;
                }
            }
            choice[i] = best;
        }
        Gather.rows(args, choice, rows, out);
    }

    private static void interval(Column[] args, int rows, LongColumn out, RowOrder order) {
        long[] values = out.values();
        for (int i = 0; i < rows; i++) {
            if (args[0].isNull(i)) {
                values[i] = -1;
                continue;
            }
            int base = 0;
            int size = args.length - 1;
            while (size > 1) {
                int half = size / 2;
                if (atMost(args, base + half, i, order)) {
                    base += half;
                }
                size -= half;
            }
            values[i] = atMost(args, base, i, order) ? base + 1L : base;
        }
    }

    /** NULL counts as smallest. */
    private static boolean atMost(Column[] args, int index, int row, RowOrder order) {
        return args[index + 1].isNull(row) || order.compare(args[index + 1], args[0], row) <= 0;
    }

    private static void field(Column[] args, int rows, LongColumn out, RowOrder order) {
        long[] values = out.values();
        for (int i = 0; i < rows; i++) {
            values[i] = 0;
            for (int a = 1; a < args.length && !args[0].isNull(i); a++) {
                if (!args[a].isNull(i) && order.compare(args[0], args[a], i) == 0) {
                    values[i] = a;
                    break;
                }
            }
        }
    }
}
