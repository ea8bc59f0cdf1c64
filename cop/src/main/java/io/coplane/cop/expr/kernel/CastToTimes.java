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
import io.coplane.types.json.JsonDocs;
import io.coplane.types.json.JsonUnquote;
import io.coplane.types.number.RealText;
import io.coplane.types.text.Utf8;
import io.coplane.types.time.DurationParser;
import io.coplane.types.time.Durations;
import io.coplane.types.time.TimeMath;
import io.coplane.types.time.Times;
import java.nio.charset.StandardCharsets;

/** Casts to DateTime and Duration (expressions.md 7.6, 7.7). */
final class CastToTimes {
    private static final int WRONG_VALUE = 1292;
    private static final int OUT_OF_RANGE = 1690;
    private static final long FIRST_YEAR = 1901;
    private static final long LAST_YEAR = 2155;

    /** The time of a row, {@link Times#NONE} for NULL after the failure was reported. */
    @FunctionalInterface
    private interface ToTime {
        long of(KernelContext ctx, TimeScratch scratch, Column arg, int row, int type, int fsp);
    }

    /** The duration of a row in {@code out}. @return false for NULL after the failure was reported */
    @FunctionalInterface
    private interface ToDuration {
        boolean of(KernelContext ctx, TimeScratch scratch, Column arg, int row, int fsp, long[] out);
    }

    private CastToTimes() {}

    static void declare(CastKernels casts) {
        time(casts, EvalType.INT, CastToTimes::timeOfInt);
        time(casts, EvalType.REAL, CastToTimes::timeOfReal);
        time(casts, EvalType.DECIMAL, CastToTimes::timeOfDecimal);
        time(casts, EvalType.BYTES, CastToTimes::timeOfBytes);
        time(casts, EvalType.DATE_TIME, CastToTimes::timeOfTime);
        time(casts, EvalType.DURATION, CastToTimes::timeOfDuration);
        time(casts, EvalType.JSON, CastToTimes::timeOfJson);
        duration(casts, EvalType.INT, CastToTimes::durationOfInt);
        duration(casts, EvalType.REAL, CastToTimes::durationOfReal);
        duration(casts, EvalType.DECIMAL, CastToTimes::durationOfDecimal);
        duration(casts, EvalType.BYTES, CastToTimes::durationOfBytes);
        duration(casts, EvalType.DATE_TIME, CastToTimes::durationOfTime);
        duration(casts, EvalType.DURATION, CastToTimes::durationOfDuration);
        duration(casts, EvalType.JSON, CastToTimes::durationOfJson);
    }

    private static void time(CastKernels casts, EvalType from, ToTime cast) {
        casts.add(from, EvalType.DATE_TIME, (ctx, args, rows, out) -> {
            long[] values = ((LongColumn) out).values();
            TimeScratch scratch = TimeScratch.of(ctx);
            int type = ctx.returnType().tp();
            int fsp =
                    type == FieldType.DATE ? 0 : Durations.fsp(ctx.returnType().decimal());
            for (int i = 0; i < rows; i++) {
                if (out.isNull(i)) {
                    continue;
                }
                long core = cast.of(ctx, scratch, args[0], i, type, fsp);
                if (core == Times.NONE) {
                    out.setNull(i);
                } else {
                    values[i] = core;
                }
            }
        });
    }

    private static void duration(CastKernels casts, EvalType from, ToDuration cast) {
        casts.add(from, EvalType.DURATION, (ctx, args, rows, out) -> {
            LongColumn durations = (LongColumn) out;
            TimeScratch scratch = TimeScratch.of(ctx);
            int fsp = Durations.fsp(ctx.returnType().decimal());
            long[] result = new long[2];
            for (int i = 0; i < rows; i++) {
                durations.fsp()[i] = (byte) fsp;
                if (out.isNull(i)) {
                    continue;
                }
                result[1] = fsp;
                if (cast.of(ctx, scratch, args[0], i, fsp, result)) {
                    durations.values()[i] = result[0];
                    durations.fsp()[i] = (byte) result[1];
                } else {
                    out.setNull(i);
                }
            }
        });
    }

    private static long bad(KernelContext ctx, String text) {
        ctx.eval().invalidTime(TimeMath.incorrect(text));
        return Times.NONE;
    }

    // ---- to DateTime

    private static long timeOfInt(KernelContext ctx, TimeScratch scratch, Column arg, int row, int type, int fsp) {
        long number = ((LongColumn) arg).values()[row];
        if (ctx.argType(0).tp() == FieldType.YEAR) {
            if (number != 0 && (number < FIRST_YEAR || number > LAST_YEAR)) {
                ctx.eval()
                        .truncated(
                                EvalException.coded(WRONG_VALUE, "Truncated incorrect YEAR value: '" + number + "'"));
                return Times.NONE;
            }
            long core = scratch.parser.fromYear(ctx.eval(), (int) number, type, fsp);
            if (core == Times.NONE) {
                throw TimeMath.incorrect(Long.toString(number));
            }
            return core;
        }
        long core = scratch.parser.fromInt(ctx.eval(), number, type, fsp);
        return core == Times.NONE ? bad(ctx, Long.toString(number)) : core;
    }

    private static long ofFloatText(KernelContext ctx, TimeScratch scratch, String text, int type, int fsp) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        long core;
        try {
            core = scratch.parser.fromFloatText(ctx.eval(), bytes, 0, bytes.length, type, fsp, true);
        } catch (EvalException ignored) {
            core = Times.NONE; // an integer part beyond int64 is a bad time like any other
        }
        return core == Times.NONE ? bad(ctx, text) : core;
    }

    private static long timeOfReal(KernelContext ctx, TimeScratch scratch, Column arg, int row, int type, int fsp) {
        double number = ((DoubleColumn) arg).values()[row];
        return ofFloatText(ctx, scratch, number == 0 ? "0" : RealText.of(number), type, fsp);
    }

    private static long timeOfDecimal(KernelContext ctx, TimeScratch scratch, Column arg, int row, int type, int fsp) {
        Decimal value = ctx.decimal(0);
        DecimalColumns.load((DecimalColumn) arg, row, value);
        return ofFloatText(ctx, scratch, value.displayText(), type, fsp);
    }

    private static long timeOfBytes(KernelContext ctx, TimeScratch scratch, Column arg, int row, int type, int fsp) {
        BytesColumn text = (BytesColumn) arg;
        long core =
                scratch.parser.parse(ctx.eval(), text.data(), text.starts()[row], text.lengths()[row], type, fsp, true);
        return core == Times.NONE ? bad(ctx, TimeFieldKernels.shown(text, row)) : core;
    }

    private static long timeOfTime(KernelContext ctx, TimeScratch scratch, Column arg, int row, int type, int fsp) {
        long core = TimeMath.withType(((LongColumn) arg).values()[row], type);
        long rounded = scratch.math.roundFrac(ctx.eval(), core, fsp);
        return rounded == Times.NONE ? bad(ctx, Times.text(core)) : rounded;
    }

    private static long timeOfDuration(KernelContext ctx, TimeScratch scratch, Column arg, int row, int type, int fsp) {
        LongColumn durations = (LongColumn) arg;
        return ofDuration(ctx, scratch, durations.values()[row], durations.fsp()[row], type, fsp, false);
    }

    private static long ofDuration(
            KernelContext ctx, TimeScratch scratch, long nanos, int ownFsp, int type, int fsp, boolean hard) {
        long core = scratch.math.fromDuration(ctx.eval(), nanos, ownFsp, type);
        if (core != Times.NONE) {
            core = scratch.math.roundFrac(ctx.eval(), core, fsp);
        }
        if (core != Times.NONE) {
            return core;
        }
        if (hard) {
            throw TimeMath.incorrect(Durations.text(nanos, ownFsp));
        }
        return bad(ctx, Durations.text(nanos, ownFsp));
    }

    private static long timeOfJson(KernelContext ctx, TimeScratch scratch, Column arg, int row, int type, int fsp) {
        byte[] data = ((BytesColumn) arg).data();
        long ref = CastToJson.ref((BytesColumn) arg, row);
        switch (JsonDocs.type(ref)) {
            case JsonDocs.DATE, JsonDocs.DATETIME, JsonDocs.TIMESTAMP -> {
                return TimeMath.withType(JsonDocs.bits(data, ref), type);
            }
            case JsonDocs.TIME -> {
                return ofDuration(
                        ctx, scratch, JsonDocs.bits(data, ref), CastToJson.durationFsp(data, ref), type, fsp, true);
            }
            case JsonDocs.STRING -> {
                var sink = scratch.sink();
                JsonUnquote.append(sink, data, ref);
                long core = scratch.parser.parse(ctx.eval(), sink.bytes(), 0, sink.length(), type, fsp, true);
                if (core == Times.NONE) {
                    ctx.eval()
                            .truncated(TimeMath.incorrect(
                                    new String(sink.bytes(), 0, sink.length(), StandardCharsets.UTF_8)));
                }
                return core;
            }
            default -> {
                ctx.eval()
                        .truncated(EvalException.coded(
                                WRONG_VALUE,
                                "Truncated incorrect DURATION value: '" + CastToJson.text(data, ref) + "'"));
                return Times.NONE;
            }
        }
    }

    // ---- to Duration

    /** 1690 goes to the overflow handler, 1292 to the truncation handler, others fail. */
    private static boolean report(EvalContext eval, EvalException e) {
        if (e.mysqlCode() == OUT_OF_RANGE) {
            eval.overflow(e);
        } else if (e.mysqlCode() == WRONG_VALUE) {
            eval.truncated(e);
        } else {
            throw e;
        }
        return false;
    }

    private static boolean durationOfInt(
            KernelContext ctx, TimeScratch scratch, Column arg, int row, int fsp, long[] out) {
        try {
            out[0] = scratch.durations.fromInt(ctx.eval(), ((LongColumn) arg).values()[row], fsp);
            return true;
        } catch (EvalException e) {
            return report(ctx.eval(), e);
        }
    }

    private static boolean ofText(
            KernelContext ctx,
            TimeScratch scratch,
            byte[] data,
            int start,
            int length,
            int fsp,
            boolean asNull,
            long[] out) {
        try {
            if (scratch.durations.parse(ctx.eval(), data, start, length, fsp, true, asNull)) {
                out[0] = scratch.durations.nanos();
                return true;
            }
        } catch (EvalException e) {
            return report(ctx.eval(), e);
        }
        ctx.eval().truncated(DurationParser.incorrect(Utf8.lossy(data, start, length)));
        return false;
    }

    private static boolean durationOfReal(
            KernelContext ctx, TimeScratch scratch, Column arg, int row, int fsp, long[] out) {
        byte[] text = RealText.of(((DoubleColumn) arg).values()[row]).getBytes(StandardCharsets.ISO_8859_1);
        return ofText(ctx, scratch, text, 0, text.length, fsp, true, out);
    }

    private static boolean durationOfDecimal(
            KernelContext ctx, TimeScratch scratch, Column arg, int row, int fsp, long[] out) {
        Decimal value = ctx.decimal(0);
        DecimalColumns.load((DecimalColumn) arg, row, value);
        byte[] text = value.displayText().getBytes(StandardCharsets.ISO_8859_1);
        return ofText(ctx, scratch, text, 0, text.length, fsp, true, out);
    }

    private static boolean durationOfBytes(
            KernelContext ctx, TimeScratch scratch, Column arg, int row, int fsp, long[] out) {
        BytesColumn text = (BytesColumn) arg;
        int start = text.starts()[row];
        int length = text.lengths()[row];
        if (Utf8.isValid(text.data(), start, length)) {
            return ofText(ctx, scratch, text.data(), start, length, fsp, false, out);
        }
        byte[] lossy = Utf8.lossy(text.data(), start, length).getBytes(StandardCharsets.UTF_8); // its length counts
        return ofText(ctx, scratch, lossy, 0, lossy.length, fsp, false, out);
    }

    private static boolean durationOfTime(
            KernelContext ctx, TimeScratch scratch, Column arg, int row, int fsp, long[] out) {
        out[0] = Durations.round(Durations.ofTime(((LongColumn) arg).values()[row]), fsp);
        return true;
    }

    private static boolean durationOfDuration(
            KernelContext ctx, TimeScratch scratch, Column arg, int row, int fsp, long[] out) {
        out[0] = Durations.round(((LongColumn) arg).values()[row], fsp);
        return true;
    }

    private static boolean durationOfJson(
            KernelContext ctx, TimeScratch scratch, Column arg, int row, int fsp, long[] out) {
        byte[] data = ((BytesColumn) arg).data();
        long ref = CastToJson.ref((BytesColumn) arg, row);
        switch (JsonDocs.type(ref)) {
            case JsonDocs.DATE, JsonDocs.DATETIME, JsonDocs.TIMESTAMP -> {
                out[0] = Durations.round(Durations.ofTime(JsonDocs.bits(data, ref)), fsp);
                return true;
            }
            case JsonDocs.TIME -> {
                out[0] = JsonDocs.bits(data, ref);
                out[1] = CastToJson.durationFsp(data, ref);
                return true;
            }
            case JsonDocs.STRING -> {
                var sink = scratch.sink();
                JsonUnquote.append(sink, data, ref);
                return ofText(ctx, scratch, sink.bytes(), 0, sink.length(), fsp, false, out);
            }
            default -> {
                ctx.eval()
                        .truncated(EvalException.coded(
                                WRONG_VALUE, "Truncated incorrect TIME value: '" + CastToJson.text(data, ref) + "'"));
                return false;
            }
        }
    }
}
