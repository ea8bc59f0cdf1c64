package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.Column;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import java.util.Arrays;

/** Logical, bit and unary operators (expressions.md 8.5). */
final class LogicKernels {
    static final int OUT_OF_RANGE = 1690;

    private LogicKernels() {}

    static void declare(SignatureTable table) {
        binary(table, ScalarFuncSig.LogicalAnd, LogicKernels::and);
        binary(table, ScalarFuncSig.LogicalOr, LogicKernels::or);
        // for these "any NULL is NULL" is the strict rule
        strictBinary(table, ScalarFuncSig.LogicalXor, LogicKernels::xor);
        strictBinary(table, ScalarFuncSig.BitAndSig, LogicKernels::bitAnd);
        strictBinary(table, ScalarFuncSig.BitOrSig, LogicKernels::bitOr);
        strictBinary(table, ScalarFuncSig.BitXorSig, LogicKernels::bitXor);
        strictBinary(table, ScalarFuncSig.LeftShift, LogicKernels::leftShift);
        strictBinary(table, ScalarFuncSig.RightShift, LogicKernels::rightShift);
        table.add(ScalarFuncSig.BitNegSig)
                .takes(EvalType.INT)
                .returns(EvalType.INT)
                .runs(LogicKernels::bitNeg);
        table.add(ScalarFuncSig.BitCount)
                .takes(EvalType.INT)
                .returns(EvalType.INT)
                .runs(LogicKernels::bitCount);
        table.add(ScalarFuncSig.UnaryMinusInt)
                .takes(EvalType.INT)
                .returns(EvalType.INT)
                .runs(LogicKernels::minusInt);
        table.add(ScalarFuncSig.UnaryMinusReal)
                .takes(EvalType.REAL)
                .returns(EvalType.REAL)
                .runs(LogicKernels::minusReal);
        isNull(table, EvalType.INT, ScalarFuncSig.IntIsNull);
        isNull(table, EvalType.REAL, ScalarFuncSig.RealIsNull);
        isNull(table, EvalType.DECIMAL, ScalarFuncSig.DecimalIsNull);
        isNull(table, EvalType.BYTES, ScalarFuncSig.StringIsNull);
        isNull(table, EvalType.DATE_TIME, ScalarFuncSig.TimeIsNull);
        isNull(table, EvalType.DURATION, ScalarFuncSig.DurationIsNull);
        isNull(table, EvalType.JSON, ScalarFuncSig.JsonIsNull);
        isNull(table, EvalType.VECTOR_FLOAT32, ScalarFuncSig.VectorFloat32IsNull);
        truths(
                table,
                EvalType.INT,
                LogicKernels::intTruth,
                ScalarFuncSig.UnaryNotInt,
                ScalarFuncSig.IntIsTrue,
                ScalarFuncSig.IntIsFalse,
                ScalarFuncSig.IntIsTrueWithNull,
                ScalarFuncSig.IntIsFalseWithNull);
        truths(
                table,
                EvalType.REAL,
                LogicKernels::realTruth,
                ScalarFuncSig.UnaryNotReal,
                ScalarFuncSig.RealIsTrue,
                ScalarFuncSig.RealIsFalse,
                ScalarFuncSig.RealIsTrueWithNull,
                ScalarFuncSig.RealIsFalseWithNull);
    }

    /** Writes 1 where the value is not zero, else 0; NULL rows may hold anything. */
    @FunctionalInterface
    interface Truth {
        void test(Column arg, int rows, long[] out);
    }

    static void truths(
            SignatureTable table,
            EvalType type,
            Truth truth,
            ScalarFuncSig not,
            ScalarFuncSig isTrue,
            ScalarFuncSig isFalse,
            ScalarFuncSig isTrueWithNull,
            ScalarFuncSig isFalseWithNull) {
        table.add(isTrueWithNull)
                .takes(type)
                .returns(EvalType.INT)
                .runs((ctx, args, rows, out) -> truth.test(args[0], rows, ((LongColumn) out).values()));
        Kernel inverted = (ctx, args, rows, out) -> {
            long[] values = ((LongColumn) out).values();
            truth.test(args[0], rows, values);
            invert(values, rows);
        };
        table.add(isFalseWithNull).takes(type).returns(EvalType.INT).runs(inverted);
        table.add(not).takes(type).returns(EvalType.INT).runs(inverted);
        table.add(isTrue).takes(type).returns(EvalType.INT).seesNulls().runs((ctx, args, rows, out) -> {
            long[] values = ((LongColumn) out).values();
            truth.test(args[0], rows, values);
            zeroNulls(args[0], rows, values);
        });
        table.add(isFalse).takes(type).returns(EvalType.INT).seesNulls().runs((ctx, args, rows, out) -> {
            long[] values = ((LongColumn) out).values();
            truth.test(args[0], rows, values);
            invert(values, rows);
            zeroNulls(args[0], rows, values);
        });
    }

    private static void binary(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig)
                .takes(EvalType.INT, EvalType.INT)
                .returns(EvalType.INT)
                .seesNulls()
                .runs(kernel);
    }

    private static void strictBinary(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig).takes(EvalType.INT, EvalType.INT).returns(EvalType.INT).runs(kernel);
    }

    private static void isNull(SignatureTable table, EvalType type, ScalarFuncSig sig) {
        table.add(sig).takes(type).returns(EvalType.INT).seesNulls().runs(LogicKernels::isNull);
    }

    private static void invert(long[] values, int rows) {
        for (int i = 0; i < rows; i++) {
            values[i] ^= 1;
        }
    }

    private static void zeroNulls(Column arg, int rows, long[] values) {
        if (!arg.mayHaveNulls()) {
            return;
        }
        for (int i = 0; i < rows; i++) {
            if (arg.isNull(i)) {
                values[i] = 0;
            }
        }
    }

    private static void intTruth(Column arg, int rows, long[] out) {
        long[] values = ((LongColumn) arg).values();
        for (int i = 0; i < rows; i++) {
            out[i] = values[i] != 0 ? 1 : 0;
        }
    }

    private static void realTruth(Column arg, int rows, long[] out) {
        double[] values = ((DoubleColumn) arg).values();
        for (int i = 0; i < rows; i++) {
            out[i] = values[i] != 0 ? 1 : 0;
        }
    }

    private static void isNull(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] values = ((LongColumn) out).values();
        Column arg = args[0];
        if (!arg.mayHaveNulls()) {
            Arrays.fill(values, 0, rows, 0);
            return;
        }
        long[] words = arg.nullWords();
        for (int i = 0; i < rows; i++) {
            values[i] = words[i >>> 6] >>> i & 1;
        }
    }

    private static void and(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = ((left[i] | -left[i]) & (right[i] | -right[i])) >>> 63; // sign bits: not zero
        }
        if (!args[0].mayHaveNulls() && !args[1].mayHaveNulls()) {
            return;
        }
        for (int i = 0; i < rows; i++) {
            boolean leftNull = args[0].isNull(i);
            boolean rightNull = args[1].isNull(i);
            if (leftNull || rightNull) {
                if (!leftNull && left[i] == 0 || !rightNull && right[i] == 0) {
                    values[i] = 0;
                } else {
                    out.setNull(i);
                }
            }
        }
    }

    private static void or(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = (left[i] | right[i]) != 0 ? 1 : 0;
        }
        if (!args[0].mayHaveNulls() && !args[1].mayHaveNulls()) {
            return;
        }
        for (int i = 0; i < rows; i++) {
            boolean leftNull = args[0].isNull(i);
            boolean rightNull = args[1].isNull(i);
            if (leftNull || rightNull) {
                if (!leftNull && left[i] != 0 || !rightNull && right[i] != 0) {
                    values[i] = 1;
                } else {
                    out.setNull(i);
                }
            }
        }
    }

    private static void xor(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = (left[i] == 0) != (right[i] == 0) ? 1 : 0;
        }
    }

    private static void bitAnd(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = left[i] & right[i];
        }
    }

    private static void bitOr(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = left[i] | right[i];
        }
    }

    private static void bitXor(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = left[i] ^ right[i];
        }
    }

    private static void leftShift(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = (right[i] & ~63L) != 0 ? 0 : left[i] << right[i];
        }
    }

    private static void rightShift(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = (right[i] & ~63L) != 0 ? 0 : left[i] >>> right[i];
        }
    }

    private static void bitNeg(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = ~arg[i];
        }
    }

    private static void bitCount(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = Long.bitCount(arg[i]);
        }
    }

    private static void minusInt(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        boolean unsigned = ctx.isUnsigned(0);
        // signed: only MIN has no negative; unsigned: what is above 2^63
        for (int i = 0; i < rows; i++) {
            long v = arg[i];
            if ((unsigned ? v < 0 && v != Long.MIN_VALUE : v == Long.MIN_VALUE) && !out.isNull(i)) {
                throw EvalException.coded(
                        OUT_OF_RANGE,
                        "BIGINT value is out of range in '-" + (unsigned ? Long.toUnsignedString(v) : Long.toString(v))
                                + "'");
            }
            values[i] = -v;
        }
    }

    private static void minusReal(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] arg = ((DoubleColumn) args[0]).values();
        double[] values = ((DoubleColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = -arg[i];
        }
    }
}
