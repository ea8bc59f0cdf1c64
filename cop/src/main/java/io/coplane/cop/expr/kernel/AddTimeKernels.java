package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import io.coplane.types.time.Durations;
import io.coplane.types.time.TimeMath;
import io.coplane.types.time.Times;

/** ADDTIME, SUBTIME, TIMEDIFF (expressions.md 8.8). */
final class AddTimeKernels {
    private static final int OUT_OF_RANGE = 1690;
    private static final int MAX_FSP = 6;

    private AddTimeKernels() {}

    static void declare(SignatureTable table) {
        EvalType time = EvalType.DATE_TIME;
        EvalType duration = EvalType.DURATION;
        EvalType bytes = EvalType.BYTES;
        nulls(table, ScalarFuncSig.AddTimeDateTimeNull, time, time, time);
        nulls(table, ScalarFuncSig.AddTimeDurationNull, duration, time, time);
        nulls(table, ScalarFuncSig.AddTimeStringNull, bytes, time, time);
        nulls(table, ScalarFuncSig.NullTimeDiff, duration);
        timeAndDuration(table, ScalarFuncSig.AddDatetimeAndDuration, duration, 1, "DATETIME", FieldType.DATE_TIME);
        timeAndDuration(table, ScalarFuncSig.SubDatetimeAndDuration, duration, -1, "DATETIME", FieldType.DATE_TIME);
        timeAndDuration(table, ScalarFuncSig.AddDatetimeAndString, bytes, 1, "DATETIME", FieldType.TIMESTAMP);
        timeAndDuration(table, ScalarFuncSig.SubDatetimeAndString, bytes, -1, "DATETIME", FieldType.TIMESTAMP);
        timeAndDuration(table, ScalarFuncSig.AddDateAndString, bytes, 1, "DATE", FieldType.DATE);
        durations(table, ScalarFuncSig.AddDurationAndDuration, duration, 1, "DURATION");
        durations(table, ScalarFuncSig.SubDurationAndDuration, duration, -1, "Duration");
        durations(table, ScalarFuncSig.AddDurationAndString, bytes, 1, "DURATION");
        durations(table, ScalarFuncSig.SubDurationAndString, bytes, -1, "DURATION");
        table.add(ScalarFuncSig.AddStringAndDuration)
                .takes(bytes, duration)
                .returns(bytes)
                .runs((ctx, args, rows, out) -> stringAndDuration(ctx, args, rows, (BytesColumn) out, 1));
        table.add(ScalarFuncSig.SubStringAndDuration)
                .takes(bytes, duration)
                .returns(bytes)
                .runs((ctx, args, rows, out) -> stringAndDuration(ctx, args, rows, (BytesColumn) out, -1));
        difference(table, ScalarFuncSig.DurationDurationTimeDiff, duration, duration);
        difference(table, ScalarFuncSig.StringDurationTimeDiff, bytes, duration);
        difference(table, ScalarFuncSig.DurationStringTimeDiff, duration, bytes);
        difference(table, ScalarFuncSig.StringStringTimeDiff, bytes, bytes);
    }

    private static void nulls(SignatureTable table, ScalarFuncSig sig, EvalType returns, EvalType... takes) {
        table.add(sig).takes(takes).returns(returns).seesNulls().runs((ctx, args, rows, out) -> {
            for (int i = 0; i < rows; i++) {
                TimeFieldKernels.putNull(out, i);
            }
        });
    }

    /** The duration of a row, of a duration column or a parsed text. @return false if the text is none */
    private static boolean read(KernelContext ctx, TimeScratch scratch, Column arg, int row, long[] out) {
        if (arg instanceof LongColumn durations) {
            out[0] = durations.values()[row];
            out[1] = durations.fsp()[row];
            return true;
        }
        BytesColumn text = (BytesColumn) arg;
        Texts.requireUtf8(text, row);
        boolean parsed = scratch.durations.parse(
                ctx.eval(), text.data(), text.starts()[row], text.lengths()[row], MAX_FSP, true, false);
        out[0] = scratch.durations.nanos();
        out[1] = MAX_FSP;
        return parsed;
    }

    private static void timeAndDuration(
            SignatureTable table, ScalarFuncSig sig, EvalType second, int sign, String name, int type) {
        table.add(sig)
                .takes(EvalType.DATE_TIME, second)
                .returns(EvalType.DATE_TIME)
                .runs((ctx, args, rows, out) -> timeAndDuration(ctx, args, rows, out, sign, name, type));
    }

    private static void timeAndDuration(
            KernelContext ctx, Column[] args, int rows, Column out, int sign, String name, int type) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        long[] duration = new long[2];
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (!read(ctx, scratch, args[1], i, duration)) {
                out.setNull(i);
                continue;
            }
            long core = scratch.math.checkedAdd(ctx.eval(), arg[i], sign * duration[0]);
            if (core == Times.NONE) {
                ctx.eval()
                        .invalidTime(outOfRange(
                                name,
                                "(" + Times.text(arg[i]) + operator(sign)
                                        + Durations.text(duration[0], (int) duration[1]) + ")"));
                out.setNull(i);
            } else {
                values[i] = TimeMath.withType(core, type);
            }
        }
    }

    private static String operator(int sign) {
        return sign > 0 ? " + " : " - ";
    }

    private static EvalException outOfRange(String name, String expression) {
        return EvalException.coded(OUT_OF_RANGE, name + " value is out of range in '" + expression + "'");
    }

    private static void durations(SignatureTable table, ScalarFuncSig sig, EvalType second, int sign, String name) {
        table.add(sig)
                .takes(EvalType.DURATION, second)
                .returns(EvalType.DURATION)
                .runs((ctx, args, rows, out) -> durations(ctx, args, rows, (LongColumn) out, sign, name));
    }

    private static void durations(KernelContext ctx, Column[] args, int rows, LongColumn out, int sign, String name) {
        LongColumn left = (LongColumn) args[0];
        long[] right = new long[2];
        TimeScratch scratch = TimeScratch.of(ctx);
        byte[] fsp = out.fsp();
        for (int i = 0; i < rows; i++) {
            fsp[i] = 0;
            if (out.isNull(i)) {
                continue;
            }
            if (!read(ctx, scratch, args[1], i, right)) {
                out.setNull(i);
                continue;
            }
            long sum = left.values()[i] + sign * right[0]; // both are at most 838 hours
            if (Durations.isInRange(sum)) {
                out.values()[i] = sum;
                fsp[i] = (byte) Math.max(left.fsp()[i], right[1]);
            } else {
                ctx.eval()
                        .invalidTime(outOfRange(
                                name,
                                "(" + Durations.text(left.values()[i], left.fsp()[i]) + operator(sign)
                                        + Durations.text(right[0], (int) right[1]) + ")"));
                out.setNull(i);
            }
        }
    }

    private static void stringAndDuration(KernelContext ctx, Column[] args, int rows, BytesColumn out, int sign) {
        BytesColumn text = (BytesColumn) args[0];
        LongColumn right = (LongColumn) args[1];
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            Texts.requireUtf8(text, i);
            byte[] data = text.data();
            int start = text.starts()[i];
            int length = text.lengths()[i];
            String operand = operator(sign) + Durations.text(right.values()[i], right.fsp()[i]);
            if (scratch.durations.parse(ctx.eval(), data, start, length, MAX_FSP, false, false)) {
                long left = scratch.durations.nanos();
                long sum = left + sign * right.values()[i];
                if (Durations.isInRange(sum)) {
                    int fsp = Durations.micros(sum) == 0 ? 0 : MAX_FSP;
                    out.set(i, scratch.text, 0, Durations.putText(sum, fsp, scratch.text, 0));
                } else {
                    ctx.eval().overflow(outOfRange("DURATION", Durations.text(left, MAX_FSP) + operand));
                    Texts.putNull(out, i);
                }
                continue;
            }
            long core = scratch.parser.parse(ctx.eval(), data, start, length, FieldType.DATE_TIME, MAX_FSP, true);
            if (core == Times.NONE) {
                ctx.eval().invalidTime(TimeMath.incorrect(TimeFieldKernels.shown(text, i)));
                Texts.putNull(out, i);
                continue;
            }
            long sum = scratch.math.checkedAdd(ctx.eval(), core, sign * right.values()[i]);
            if (sum == Times.NONE) {
                ctx.eval().overflow(outOfRange("DATETIME", Times.text(core) + operand));
                Texts.putNull(out, i);
            } else {
                DateAddKernels.putText(scratch, sum, out, i);
            }
        }
    }

    private static void difference(SignatureTable table, ScalarFuncSig sig, EvalType left, EvalType right) {
        table.add(sig)
                .takes(left, right)
                .returns(EvalType.DURATION)
                .runs((ctx, args, rows, out) -> difference(ctx, args, rows, (LongColumn) out));
    }

    private static void difference(KernelContext ctx, Column[] args, int rows, LongColumn out) {
        long[] left = new long[2];
        long[] right = new long[2];
        TimeScratch scratch = TimeScratch.of(ctx);
        byte[] fsp = out.fsp();
        for (int i = 0; i < rows; i++) {
            fsp[i] = 0;
            if (out.isNull(i)) {
                continue;
            }
            if (!read(ctx, scratch, args[0], i, left) || !read(ctx, scratch, args[1], i, right)) {
                out.setNull(i);
                continue;
            }
            long difference = left[0] - right[0];
            if (!Durations.isInRange(difference)) {
                difference = left[0] < 0 ? -Durations.MAX_NANOS : Durations.MAX_NANOS;
            }
            out.values()[i] = difference;
            fsp[i] = (byte) Math.max(left[1], right[1]);
        }
    }
}
