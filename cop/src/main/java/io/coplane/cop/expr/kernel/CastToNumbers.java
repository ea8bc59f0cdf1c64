package io.coplane.cop.expr.kernel;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalColumns;
import io.coplane.types.decimal.DecimalStatus;
import io.coplane.types.decimal.RoundMode;
import io.coplane.types.number.IntBounds;
import io.coplane.types.number.Reals;
import io.coplane.types.number.TextNumbers;

/** Casts of numbers and strings to Int, Real and Decimal (expressions.md 7.2, 7.3, 7.5). */
final class CastToNumbers {
    private static final int TRUNCATED_VALUE = 1292;

    private CastToNumbers() {}

    static void declare(CastKernels casts) {
        casts.add(EvalType.INT, EvalType.INT, CastToNumbers::intToInt);
        casts.add(EvalType.ENUM, EvalType.INT, CastToNumbers::same);
        casts.add(EvalType.REAL, EvalType.INT, CastToNumbers::realToInt);
        casts.add(EvalType.DECIMAL, EvalType.INT, CastToNumbers::decimalToInt);
        casts.add(EvalType.BYTES, EvalType.INT, CastToNumbers::bytesToInt);
        casts.add(EvalType.INT, EvalType.REAL, CastToNumbers::intToReal);
        casts.add(EvalType.ENUM, EvalType.REAL, CastToNumbers::enumToReal);
        casts.add(EvalType.REAL, EvalType.REAL, CastToNumbers::realToReal);
        casts.add(EvalType.DECIMAL, EvalType.REAL, CastToNumbers::decimalToReal);
        casts.add(EvalType.BYTES, EvalType.REAL, CastToNumbers::bytesToReal);
        casts.add(EvalType.INT, EvalType.DECIMAL, CastToNumbers::intToDecimal);
        casts.add(EvalType.ENUM, EvalType.DECIMAL, CastToNumbers::intToDecimal);
        casts.add(EvalType.REAL, EvalType.DECIMAL, CastToNumbers::realToDecimal);
        casts.add(EvalType.DECIMAL, EvalType.DECIMAL, CastToNumbers::decimalToDecimal);
        casts.add(EvalType.BYTES, EvalType.DECIMAL, CastToNumbers::bytesToDecimal);
    }

    private static boolean inUnionUnsigned(KernelContext ctx) {
        return CastKernels.plan(ctx).inUnion() && ctx.returnType().isUnsigned();
    }

    private static void same(KernelContext ctx, Column[] args, int rows, Column out) {
        System.arraycopy(((LongColumn) args[0]).values(), 0, ((LongColumn) out).values(), 0, rows);
    }

    private static void intToInt(KernelContext ctx, Column[] args, int rows, Column out) {
        same(ctx, args, rows, out);
        if (inUnionUnsigned(ctx) && !ctx.isUnsigned(0)) {
            long[] values = ((LongColumn) out).values();
            for (int i = 0; i < rows; i++) {
                values[i] = Math.max(0, values[i]);
            }
        }
    }

    private static void realToInt(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] arg = ((DoubleColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        boolean unsigned = ctx.returnType().isUnsigned();
        boolean clips = inUnionUnsigned(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (!unsigned) {
                values[i] = IntBounds.fromReal(arg[i], FieldType.LONG_LONG, ctx.eval());
            } else {
                values[i] =
                        clips && arg[i] < 0 ? 0 : IntBounds.fromRealUnsigned(arg[i], FieldType.LONG_LONG, ctx.eval());
            }
        }
    }

    private static void decimalToInt(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] values = ((LongColumn) out).values();
        Decimal value = ctx.decimal(0);
        boolean unsigned = ctx.returnType().isUnsigned();
        boolean clips = inUnionUnsigned(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            DecimalColumns.load((DecimalColumn) args[0], i, value);
            values[i] = clips && value.isNegative() ? 0 : toInt(ctx.eval(), value, unsigned);
        }
    }

    /** Rounds and converts; changes the value. */
    static long toInt(EvalContext eval, Decimal value, boolean unsigned) {
        value.round(0, RoundMode.HALF_UP).report(eval);
        DecimalStatus status = unsigned ? value.toUlong() : value.toLong();
        if (status == DecimalStatus.OVERFLOW) {
            eval.overflow(EvalException.coded(
                    TRUNCATED_VALUE, "Truncated incorrect DECIMAL value: '" + value.displayText() + "'"));
        }
        return value.integer();
    }

    private static void bytesToInt(KernelContext ctx, Column[] args, int rows, Column out) {
        CastKernels.Plan plan = CastKernels.plan(ctx);
        BytesColumn arg = (BytesColumn) args[0];
        long[] values = ((LongColumn) out).values();
        boolean literal = plan.constant() && FieldFit.isBinaryString(ctx.argType(0));
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            values[i] = literal
                    ? TextNumbers.binaryLiteral(arg.data(), arg.starts()[i], arg.lengths()[i], ctx.eval())
                    : TextNumbers.castToInt(
                            arg.data(),
                            arg.starts()[i],
                            arg.lengths()[i],
                            ctx.returnType().isUnsigned(),
                            plan.inUnion(),
                            ctx.eval());
        }
    }

    private static void intToReal(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        double[] values = ((DoubleColumn) out).values();
        boolean unsigned = ctx.isUnsigned(0) || ctx.returnType().isUnsigned();
        boolean clips = inUnionUnsigned(ctx) && !ctx.isUnsigned(0);
        for (int i = 0; i < rows; i++) {
            if (!unsigned) {
                values[i] = arg[i];
            } else {
                values[i] = clips && arg[i] < 0 ? 0 : IntBounds.toReal(arg[i]);
            }
        }
    }

    private static void enumToReal(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        double[] values = ((DoubleColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = arg[i];
        }
    }

    private static void realToReal(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] arg = ((DoubleColumn) args[0]).values();
        double[] values = ((DoubleColumn) out).values();
        boolean clips = inUnionUnsigned(ctx);
        for (int i = 0; i < rows; i++) {
            values[i] = clips && arg[i] < 0 ? 0 : arg[i];
        }
    }

    private static void decimalToReal(KernelContext ctx, Column[] args, int rows, Column out) {
        DecimalColumn arg = (DecimalColumn) args[0];
        double[] values = ((DoubleColumn) out).values();
        boolean clips = inUnionUnsigned(ctx);
        DecimalColumns.Scratch scratch = ctx.decimalScratch();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            boolean negative = (arg.headers()[i] & DecimalColumn.NEGATIVE) != 0;
            values[i] = clips && negative ? 0 : DecimalColumns.toDouble(arg, i, scratch);
        }
    }

    private static void bytesToReal(KernelContext ctx, Column[] args, int rows, Column out) {
        CastKernels.Plan plan = CastKernels.plan(ctx);
        BytesColumn arg = (BytesColumn) args[0];
        double[] values = ((DoubleColumn) out).values();
        boolean literal = plan.constant() && FieldFit.isBinaryString(ctx.argType(0));
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int start = arg.starts()[i];
            int length = arg.lengths()[i];
            double value;
            if (literal) {
                long bits = TextNumbers.binaryLiteral(arg.data(), start, length, ctx.eval());
                value = ctx.returnType().isUnsigned() ? IntBounds.toReal(bits) : bits;
            } else {
                value = bytesToReal(ctx, plan, arg.data(), start, length);
            }
            values[i] = Reals.fit(value, ctx.returnType(), ctx.eval());
        }
    }

    private static double bytesToReal(KernelContext ctx, CastKernels.Plan plan, byte[] data, int start, int length) {
        boolean unsigned = ctx.returnType().isUnsigned();
        if (length == 0 && !unsigned) {
            return 0;
        }
        double value = TextNumbers.toReal(data, start, length, ctx.eval());
        return unsigned && plan.inUnion() && value < 0 ? 0 : value;
    }

    private static void intToDecimal(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        boolean isEnum = ctx.argType(0).evalType() == EvalType.ENUM;
        boolean unsigned = !isEnum && (ctx.isUnsigned(0) || ctx.returnType().isUnsigned());
        boolean clips = inUnionUnsigned(ctx) && !ctx.isUnsigned(0) && !isEnum;
        Decimal value = ctx.decimal(0);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long v = clips ? Math.max(0, arg[i]) : arg[i];
            if (unsigned) {
                value.setUlong(v);
            } else {
                value.setLong(v);
            }
            store(ctx, value, (DecimalColumn) out, i);
        }
    }

    /** Fits and stores. */
    static void store(KernelContext ctx, Decimal value, DecimalColumn out, int row) {
        FieldFit.fit(ctx.eval(), ctx.returnType(), value, ctx.decimal(2));
        DecimalColumns.store(value, out, row);
    }

    private static void realToDecimal(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] arg = ((DoubleColumn) args[0]).values();
        Decimal value = ctx.decimal(0);
        boolean clips = CastKernels.plan(ctx).inUnion();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (clips && arg[i] < 0) {
                value.setZero();
            } else {
                value.setDouble(arg[i]);
            }
            store(ctx, value, (DecimalColumn) out, i);
        }
    }

    private static void decimalToDecimal(KernelContext ctx, Column[] args, int rows, Column out) {
        Decimal value = ctx.decimal(0);
        boolean clips = inUnionUnsigned(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            DecimalColumns.load((DecimalColumn) args[0], i, value);
            if (clips && value.isNegative()) {
                value.setZero();
            }
            store(ctx, value, (DecimalColumn) out, i);
        }
    }

    private static void bytesToDecimal(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        Decimal value = ctx.decimal(0);
        boolean clips = inUnionUnsigned(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            parse(ctx.eval(), value, arg.data(), arg.starts()[i], arg.lengths()[i]);
            if (clips && value.isNegative()) {
                value.setZero();
            }
            store(ctx, value, (DecimalColumn) out, i);
        }
    }

    /** Parses text with context: no number is zero. */
    static void parse(EvalContext eval, Decimal value, byte[] data, int start, int length) {
        DecimalStatus status;
        try {
            status = value.parse(data, start, length);
        } catch (EvalException ignored) {
            value.setZero(); // no number counts as (zero, Ok) (expressions.md 5.4.2)
            return;
        }
        status.report(eval);
    }
}
