package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import io.coplane.types.number.Reals;

/** Mathematics on integers, and checksums (expressions.md 8.6). */
final class IntegerKernels {
    private static final int OUT_OF_RANGE = 1690;
    private static final long[] POWERS_OF_TEN = new long[20]; // the last one as an unsigned number

    static {
        long power = 1;
        for (int i = 0; i < POWERS_OF_TEN.length; i++) {
            POWERS_OF_TEN[i] = power;
            power *= 10;
        }
    }

    private IntegerKernels() {}

    static void declare(SignatureTable table) {
        unary(table, ScalarFuncSig.AbsInt, IntegerKernels::abs);
        unary(table, ScalarFuncSig.AbsUInt, IntegerKernels::same);
        unary(table, ScalarFuncSig.CeilIntToInt, IntegerKernels::same);
        unary(table, ScalarFuncSig.FloorIntToInt, IntegerKernels::same);
        unary(table, ScalarFuncSig.RoundInt, IntegerKernels::same);
        binary(table, ScalarFuncSig.RoundWithFracInt, IntegerKernels::roundWithFrac);
        binary(table, ScalarFuncSig.TruncateInt, IntegerKernels::truncateInt);
        binary(table, ScalarFuncSig.TruncateUint, IntegerKernels::truncateUint);
        table.add(ScalarFuncSig.CRC32)
                .takes(EvalType.BYTES)
                .returns(EvalType.INT)
                .runs(IntegerKernels::crc32);
    }

    private static void unary(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig).takes(EvalType.INT).returns(EvalType.INT).runs(kernel);
    }

    private static void binary(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig).takes(EvalType.INT, EvalType.INT).returns(EvalType.INT).runs(kernel);
    }

    private static void abs(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        boolean overflow = false;
        for (int i = 0; i < rows; i++) {
            overflow |= arg[i] == Long.MIN_VALUE;
            values[i] = Math.abs(arg[i]);
        }
        for (int i = 0; overflow && i < rows; i++) {
            if (arg[i] == Long.MIN_VALUE && !out.isNull(i)) {
                throw EvalException.coded(OUT_OF_RANGE, "BIGINT value is out of range in 'abs(" + arg[i] + ")'");
            }
        }
    }

    private static void same(KernelContext ctx, Column[] args, int rows, Column out) {
        System.arraycopy(((LongColumn) args[0]).values(), 0, ((LongColumn) out).values(), 0, rows);
    }

    private static void roundWithFrac(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] digits = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (digits[i] >= 0) {
                values[i] = arg[i];
            } else {
                double power = Reals.powerOfTen((int) -digits[i]);
                double rounded = Reals.roundHalfAway(arg[i] / power);
                values[i] = (long) (rounded * power); // saturates; 0 x infinity is 0
            }
        }
    }

    private static void truncateInt(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] digits = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        boolean unsigned = ctx.isUnsigned(1);
        for (int i = 0; i < rows; i++) {
            long d = digits[i];
            if (unsigned || d >= 0) {
                values[i] = arg[i];
            } else if (d <= -19) {
                values[i] = 0;
            } else {
                values[i] = arg[i] - arg[i] % POWERS_OF_TEN[(int) -d];
            }
        }
    }

    private static void truncateUint(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] digits = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        boolean unsigned = ctx.isUnsigned(1);
        for (int i = 0; i < rows; i++) {
            long d = digits[i];
            if (unsigned || d >= 0) {
                values[i] = arg[i];
            } else if (d <= -20) {
                values[i] = 0;
            } else {
                values[i] = arg[i] - Long.remainderUnsigned(arg[i], POWERS_OF_TEN[(int) -d]);
            }
        }
    }

    private static void crc32(KernelContext ctx, Column[] args, int rows, Column out) {
        if (ctx.scratch() == null) {
            ctx.scratch(new java.util.zip.CRC32());
        }
        java.util.zip.CRC32 crc = (java.util.zip.CRC32) ctx.scratch();
        BytesColumn arg = (BytesColumn) args[0];
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                crc.reset();
                crc.update(arg.data(), arg.starts()[i], arg.lengths()[i]);
                values[i] = crc.getValue();
            }
        }
    }
}
