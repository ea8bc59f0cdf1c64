package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import io.coplane.types.text.Utf8;
import io.coplane.types.time.Durations;
import io.coplane.types.time.TimeFormat;
import io.coplane.types.time.TimeMath;
import io.coplane.types.time.Times;

/** Parts of times and durations, names, DATE_FORMAT (expressions.md 8.8). */
final class TimeFieldKernels {
    /** A number of a time. */
    @FunctionalInterface
    private interface Field {
        long of(long core);
    }

    private TimeFieldKernels() {}

    static void declare(SignatureTable table) {
        plain(table, ScalarFuncSig.Month, Times::month);
        plain(table, ScalarFuncSig.Quarter, core -> (Times.month(core) + 2L) / 3);
        zeroable(table, ScalarFuncSig.DayOfMonth, Times::day);
        zeroable(table, ScalarFuncSig.Year, Times::year);
        checked(table, ScalarFuncSig.WeekDay, TimeMath::weekday);
        checked(table, ScalarFuncSig.DayOfWeek, core -> (TimeMath.weekday(core) + 1L) % 7 + 1);
        checked(table, ScalarFuncSig.DayOfYear, TimeMath::dayOfYear);
        checked(table, ScalarFuncSig.ToDays, TimeMath::dayNumber);
        checked(
                table,
                ScalarFuncSig.ToSeconds,
                core -> TimeMath.dayNumber(core) * 86_400L + Times.nanosOfDay(core) / 1_000_000_000L);
        checked(table, ScalarFuncSig.WeekWithoutMode, core -> TimeMath.week(core, 0));
        checked(table, ScalarFuncSig.WeekOfYear, core -> TimeMath.week(core, 3));
        checked(table, ScalarFuncSig.YearWeekWithoutMode, core -> TimeFormat.yearWeek(core, 0));
        table.add(ScalarFuncSig.WeekWithMode)
                .takes(EvalType.DATE_TIME, EvalType.INT)
                .returns(EvalType.INT)
                .runs((ctx, args, rows, out) -> weeks(ctx, args, rows, (LongColumn) out, false));
        table.add(ScalarFuncSig.YearWeekWithMode)
                .takes(EvalType.DATE_TIME, EvalType.INT)
                .returns(EvalType.INT)
                .runs((ctx, args, rows, out) -> weeks(ctx, args, rows, (LongColumn) out, true));
        name(table, ScalarFuncSig.MonthName, true);
        name(table, ScalarFuncSig.DayName, false);
        duration(table, ScalarFuncSig.Hour, Durations::hours);
        duration(table, ScalarFuncSig.Minute, Durations::minutes);
        duration(table, ScalarFuncSig.Second, Durations::seconds);
        duration(table, ScalarFuncSig.MicroSecond, Durations::micros);
        duration(table, ScalarFuncSig.TimeToSec, nanos -> nanos / 1_000_000_000L);
        table.add(ScalarFuncSig.DateFormatSig)
                .takes(EvalType.DATE_TIME, EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs(TimeFieldKernels::dateFormat);
        table.add(ScalarFuncSig.Date)
                .takes(EvalType.DATE_TIME)
                .returns(EvalType.DATE_TIME)
                .runs(TimeFieldKernels::date);
        table.add(ScalarFuncSig.LastDay)
                .takes(EvalType.DATE_TIME)
                .returns(EvalType.DATE_TIME)
                .runs(TimeFieldKernels::lastDay);
    }

    private static Signature toInt(SignatureTable table, ScalarFuncSig sig) {
        return table.add(sig).takes(EvalType.DATE_TIME).returns(EvalType.INT);
    }

    /** A field without conditions. */
    private static void plain(SignatureTable table, ScalarFuncSig sig, Field field) {
        toInt(table, sig).runs((ctx, args, rows, out) -> apply(args, rows, out, field));
    }

    private static void duration(SignatureTable table, ScalarFuncSig sig, Field field) {
        table.add(sig)
                .takes(EvalType.DURATION)
                .returns(EvalType.INT)
                .runs((ctx, args, rows, out) -> apply(args, rows, out, field));
    }

    private static void apply(Column[] args, int rows, Column out, Field field) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = out.isNull(i) ? 0 : field.of(arg[i]);
        }
    }

    /** An invalid date is bad. */
    private static void checked(SignatureTable table, ScalarFuncSig sig, Field field) {
        toInt(table, sig).runs((ctx, args, rows, out) -> {
            long[] arg = ((LongColumn) args[0]).values();
            long[] values = ((LongColumn) out).values();
            for (int i = 0; i < rows; i++) {
                if (out.isNull(i)) {
                    continue;
                }
                if (Times.isInvalidZero(arg[i])) {
                    bad(ctx, arg[i], out, i);
                } else {
                    values[i] = field.of(arg[i]);
                }
            }
        });
    }

    /** The zero time is bad only under NO_ZERO_DATE. */
    private static void zeroable(SignatureTable table, ScalarFuncSig sig, Field field) {
        toInt(table, sig).runs((ctx, args, rows, out) -> {
            long[] arg = ((LongColumn) args[0]).values();
            long[] values = ((LongColumn) out).values();
            boolean noZero = ctx.eval().hasMode(EvalContext.MODE_NO_ZERO_DATE);
            for (int i = 0; i < rows; i++) {
                if (noZero && !out.isNull(i) && Times.isZero(arg[i])) {
                    bad(ctx, arg[i], out, i);
                } else {
                    values[i] = field.of(arg[i]);
                }
            }
        });
    }

    /** Reports an incorrect time; the row is NULL. */
    static void bad(KernelContext ctx, long core, Column out, int row) {
        ctx.eval().invalidTime(TimeMath.incorrect(Times.text(core)));
        putNull(out, row);
    }

    static void putNull(Column out, int row) {
        out.setNull(row);
        if (out instanceof BytesColumn bytes) {
            bytes.setEmpty(row);
        }
    }

    private static void weeks(KernelContext ctx, Column[] args, int rows, LongColumn out, boolean withYear) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] modes = ((LongColumn) args[1]).values();
        long[] values = out.values();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (Times.isInvalidZero(arg[i])) {
                bad(ctx, arg[i], out, i);
            } else {
                int mode = (int) modes[i] & 7;
                values[i] = withYear ? TimeFormat.yearWeek(arg[i], mode) : TimeMath.week(arg[i], mode);
            }
        }
    }

    private static void name(SignatureTable table, ScalarFuncSig sig, boolean month) {
        table.add(sig).takes(EvalType.DATE_TIME).returns(EvalType.BYTES).runs((ctx, args, rows, out) -> {
            long[] arg = ((LongColumn) args[0]).values();
            for (int i = 0; i < rows; i++) {
                if (out.isNull(i)) {
                    continue;
                }
                if (Times.isInvalidZero(arg[i])) {
                    bad(ctx, arg[i], out, i);
                } else {
                    byte[] name = month
                            ? TimeFormat.monthName(Times.month(arg[i]))
                            : TimeFormat.weekdayName(TimeMath.weekday(arg[i]));
                    ((BytesColumn) out).set(i, name, 0, name.length);
                }
            }
        });
    }

    private static void dateFormat(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        long[] arg = ((LongColumn) args[0]).values();
        BytesColumn format = (BytesColumn) args[1];
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (Times.isInvalidZero(arg[i])) {
                bad(ctx, arg[i], out, i);
                continue;
            }
            Texts.requireUtf8(format, i);
            ByteSink sink = scratch.sink();
            try {
                TimeFormat.format(sink, arg[i], format.data(), format.starts()[i], format.lengths()[i]);
            } catch (EvalException e) {
                ctx.eval().invalidTime(e);
                Texts.putNull(out, i);
                continue;
            }
            Texts.put(ctx, out, i, sink.bytes(), 0, sink.length());
        }
    }

    private static void date(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (Times.isInvalidZero(arg[i])) {
                bad(ctx, arg[i], out, i);
            } else {
                values[i] = TimeMath.withType(arg[i], FieldType.DATE);
            }
        }
    }

    private static void lastDay(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long core = arg[i];
            if (Times.month(core) == 0) {
                bad(ctx, core, out, i);
                continue;
            }
            if (Times.day(core) == 0) {
                core = scratch.math.checkedAdd(ctx.eval(), core, 86_400_000_000_000L);
                if (core == Times.NONE) {
                    throw TimeMath.incorrect(Times.text(arg[i])); // the reference aborts here
                }
            }
            if (Times.isInvalidZero(core)) {
                out.setNull(i);
            } else {
                values[i] = TimeMath.lastDate(core);
            }
        }
    }

    /** The text of bytes that are not UTF-8 is shown with replacements. */
    static String shown(BytesColumn column, int row) {
        return Utf8.lossy(column.data(), column.starts()[row], column.lengths()[row]);
    }
}
