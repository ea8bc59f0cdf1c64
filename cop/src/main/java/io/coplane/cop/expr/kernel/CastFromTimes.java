package io.coplane.cop.expr.kernel;

import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.time.Durations;
import io.coplane.types.time.TimeMath;
import io.coplane.types.time.Times;

/** Casts of DateTime and Duration to numbers and strings (expressions.md 7.2 to 7.5). */
final class CastFromTimes {
    private CastFromTimes() {}

    static void declare(CastKernels casts) {
        casts.add(EvalType.DATE_TIME, EvalType.INT, CastFromTimes::timeToInt);
        casts.add(EvalType.DATE_TIME, EvalType.REAL, CastFromTimes::timeToReal);
        casts.add(EvalType.DATE_TIME, EvalType.DECIMAL, CastFromTimes::timeToDecimal);
        casts.add(EvalType.DATE_TIME, EvalType.BYTES, CastFromTimes::timeToBytes);
        casts.add(EvalType.DURATION, EvalType.INT, CastFromTimes::durationToInt);
        casts.add(EvalType.DURATION, EvalType.REAL, CastFromTimes::durationToReal);
        casts.add(EvalType.DURATION, EvalType.DECIMAL, CastFromTimes::durationToDecimal);
        casts.add(EvalType.DURATION, EvalType.BYTES, CastFromTimes::durationToBytes);
    }

    private static void timeToInt(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long core = scratch.math.roundFrac(ctx.eval(), arg[i], 0);
            if (core == Times.NONE) {
                throw TimeMath.incorrect(Times.text(arg[i]));
            }
            long date = Times.year(core) * 10_000L + Times.month(core) * 100L + Times.day(core);
            values[i] = Times.isDate(core)
                    ? date
                    : date * 1_000_000 + Times.hour(core) * 10_000L + Times.minute(core) * 100L + Times.second(core);
        }
    }

    private static void timeToReal(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        double[] values = ((DoubleColumn) out).values();
        TimeScratch scratch = TimeScratch.of(ctx);
        Decimal value = ctx.decimal(0);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                scratch.toDecimal(arg[i], value);
                values[i] = value.toDouble();
            }
        }
    }

    private static void timeToDecimal(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        TimeScratch scratch = TimeScratch.of(ctx);
        Decimal value = ctx.decimal(0);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                scratch.toDecimal(arg[i], value);
                CastToNumbers.store(ctx, value, (DecimalColumn) out, i);
            }
        }
    }

    private static void timeToBytes(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                int length = Times.putText(arg[i], scratch.text, 0);
                FieldFit.putText(ctx, (BytesColumn) out, i, scratch.text, 0, length);
            }
        }
    }

    private static void durationToInt(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long nanos = Durations.round(arg[i], 0);
            long number = Durations.hours(nanos) * 10_000L + Durations.minutes(nanos) * 100L + Durations.seconds(nanos);
            values[i] = nanos < 0 ? -number : number;
        }
    }

    private static void toDecimal(TimeScratch scratch, LongColumn arg, int row, Decimal out) {
        int length = Durations.putNumericText(arg.values()[row], arg.fsp()[row], scratch.text, 0);
        out.parse(scratch.text, 0, length).orThrow();
    }

    private static void durationToReal(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] values = ((DoubleColumn) out).values();
        TimeScratch scratch = TimeScratch.of(ctx);
        Decimal value = ctx.decimal(0);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                toDecimal(scratch, (LongColumn) args[0], i, value);
                values[i] = value.toDouble();
            }
        }
    }

    private static void durationToDecimal(KernelContext ctx, Column[] args, int rows, Column out) {
        TimeScratch scratch = TimeScratch.of(ctx);
        Decimal value = ctx.decimal(0);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                toDecimal(scratch, (LongColumn) args[0], i, value);
                CastToNumbers.store(ctx, value, (DecimalColumn) out, i);
            }
        }
    }

    private static void durationToBytes(KernelContext ctx, Column[] args, int rows, Column out) {
        LongColumn arg = (LongColumn) args[0];
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                int length = Durations.putText(arg.values()[i], arg.fsp()[i], scratch.text, 0);
                FieldFit.putText(ctx, (BytesColumn) out, i, scratch.text, 0, length);
            }
        }
    }
}
