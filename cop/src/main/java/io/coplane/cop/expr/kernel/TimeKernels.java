package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.ByteSink;
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
import io.coplane.types.time.Durations;
import io.coplane.types.time.TimeFormat;
import io.coplane.types.time.TimeMath;
import io.coplane.types.time.Times;

/** Making and measuring times: FROM_DAYS, MAKEDATE, UNIX_TIMESTAMP, STR_TO_DATE, PERIOD_ADD and so on (expressions.md 8.8). */
final class TimeKernels {
    private static final int OUT_OF_RANGE = 1690;
    private static final int DATA_TRUNCATED = 1265;
    private static final int WRONG_VALUE = 1292;
    private static final long LAST_UNIX_SECOND = 32_536_771_199L;
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private TimeKernels() {}

    static void declare(SignatureTable table) {
        add(table, ScalarFuncSig.FromDays, EvalType.DATE_TIME, EvalType.INT).runs(TimeKernels::fromDays);
        add(table, ScalarFuncSig.MakeDate, EvalType.DATE_TIME, EvalType.INT, EvalType.INT)
                .runs(TimeKernels::makeDate);
        add(table, ScalarFuncSig.MakeTime, EvalType.DURATION, EvalType.INT, EvalType.INT, EvalType.REAL)
                .runs(TimeKernels::makeTime);
        add(table, ScalarFuncSig.DateDiff, EvalType.INT, EvalType.DATE_TIME, EvalType.DATE_TIME)
                .runs(TimeKernels::dateDiff);
        add(table, ScalarFuncSig.TimestampDiff, EvalType.INT, EvalType.BYTES, EvalType.DATE_TIME, EvalType.DATE_TIME)
                .prepares(TimeKernels::prepareDiff)
                .runs(TimeKernels::timestampDiff);
        add(table, ScalarFuncSig.PeriodAdd, EvalType.INT, EvalType.INT, EvalType.INT)
                .runs(TimeKernels::periodAdd);
        add(table, ScalarFuncSig.PeriodDiff, EvalType.INT, EvalType.INT, EvalType.INT)
                .runs(TimeKernels::periodDiff);
        add(table, ScalarFuncSig.SysDateWithFsp, EvalType.DATE_TIME, EvalType.INT)
                .runs(TimeKernels::sysDate);
        add(table, ScalarFuncSig.SysDateWithoutFsp, EvalType.DATE_TIME).runs(TimeKernels::sysDate);
        add(table, ScalarFuncSig.UnixTimestampInt, EvalType.INT, EvalType.DATE_TIME)
                .runs(TimeKernels::unixInt);
        add(table, ScalarFuncSig.UnixTimestampDec, EvalType.DECIMAL, EvalType.DATE_TIME)
                .runs(TimeKernels::unixDec);
        add(table, ScalarFuncSig.FromUnixTime1Arg, EvalType.DATE_TIME, EvalType.DECIMAL)
                .runs(TimeKernels::fromUnix);
        add(table, ScalarFuncSig.FromUnixTime2Arg, EvalType.BYTES, EvalType.DECIMAL, EvalType.BYTES)
                .runs(TimeKernels::fromUnixFormatted);
        add(table, ScalarFuncSig.StrToDateDate, EvalType.DATE_TIME, EvalType.BYTES, EvalType.BYTES)
                .runs(TimeKernels::strToDate);
        add(table, ScalarFuncSig.StrToDateDatetime, EvalType.DATE_TIME, EvalType.BYTES, EvalType.BYTES)
                .runs(TimeKernels::strToDatetime);
        add(table, ScalarFuncSig.StrToDateDuration, EvalType.DURATION, EvalType.BYTES, EvalType.BYTES)
                .runs(TimeKernels::strToDuration);
    }

    private static Signature add(SignatureTable table, ScalarFuncSig sig, EvalType returns, EvalType... takes) {
        return table.add(sig).takes(takes).returns(returns);
    }

    private static void fromDays(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                values[i] = fromDays(ctx.eval(), scratch, arg[i]);
            }
        }
    }

    private static long fromDays(EvalContext eval, TimeScratch scratch, long days) {
        long core = scratch.math.fromDays(eval, days);
        if (core == Times.NONE) {
            throw TimeMath.incorrect("0000-00-00");
        }
        return core;
    }

    private static void makeDate(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] years = ((LongColumn) args[0]).values();
        long[] days = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long year = years[i];
            long day = days[i];
            if (day < 1 || day > 366 * 9999 || year < 0 || year > 9999) {
                out.setNull(i);
                continue;
            }
            year += year < 70 ? 2000 : year < 100 ? 1900 : 0;
            long y = year - 1;
            long core = fromDays(ctx.eval(), scratch, day + y / 4 - y / 100 + y / 400 + 365 * y + 365);
            if (Times.isZero(core)) {
                out.setNull(i);
            } else {
                values[i] = core;
            }
        }
    }

    private static void makeTime(KernelContext ctx, Column[] args, int rows, Column result) {
        LongColumn out = (LongColumn) result;
        long[] hours = ((LongColumn) args[0]).values();
        long[] minutes = ((LongColumn) args[1]).values();
        double[] seconds = ((DoubleColumn) args[2]).values();
        boolean unsigned = ctx.isUnsigned(0);
        int fsp = Durations.fsp(ctx.returnType().decimal());
        for (int i = 0; i < rows; i++) {
            out.fsp()[i] = (byte) fsp;
            if (out.isNull(i)) {
                continue;
            }
            double whole = seconds[i] < 0 ? Math.ceil(seconds[i]) : Math.floor(seconds[i]);
            if (minutes[i] < 0 || minutes[i] > 59 || !(whole >= 0 && whole <= 59)) {
                out.setNull(i);
                continue;
            }
            boolean negative = !unsigned && hours[i] < 0;
            long hour = negative ? -hours[i] : hours[i];
            long nanos = (long) (Math.abs(seconds[i] - whole) * NANOS_PER_SECOND);
            boolean over =
                    Long.compareUnsigned(hour, 838) > 0 || hour == 838 && minutes[i] == 59 && whole == 59 && nanos > 0;
            out.values()[i] = over
                    ? negative ? -Durations.MAX_NANOS : Durations.MAX_NANOS
                    : Durations.ofParts(negative, hour, minutes[i], (long) whole, nanos, fsp);
        }
    }

    private static void dateDiff(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (scratch.math.isRealDate(left[i]) && scratch.math.isRealDate(right[i])) {
                values[i] = (long) TimeMath.dayNumber(left[i]) - TimeMath.dayNumber(right[i]);
            } else {
                out.setNull(i);
            }
        }
    }

    private static void prepareDiff(Preparation node) {
        String name = DateAddKernels.constantText(node, 0);
        TimeMath.Unit unit = null;
        for (TimeMath.Unit each : TimeMath.Unit.values()) {
            unit = each.name().equalsIgnoreCase(name) ? each : unit;
        }
        if (unit == null) {
            throw Preparation.fails("wrong unit " + name + " for timestamp_diff");
        }
        node.metadata(unit);
        node.drop(0);
    }

    private static void timestampDiff(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] from = ((LongColumn) args[0]).values();
        long[] to = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        TimeMath.Unit unit = (TimeMath.Unit) ctx.metadata();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (Times.isInvalidZero(from[i])) {
                TimeFieldKernels.bad(ctx, from[i], out, i);
            } else if (Times.isInvalidZero(to[i])) {
                TimeFieldKernels.bad(ctx, to[i], out, i);
            } else {
                values[i] = TimeMath.difference(unit, from[i], to[i]);
            }
        }
    }

    private static long periodToMonth(long period) {
        if (period == 0) {
            return 0;
        }
        long year = Long.divideUnsigned(period, 100);
        long month = Long.remainderUnsigned(period, 100);
        return (year + (year < 70 ? 2000 : year < 100 ? 1900 : 0)) * 12 + month - 1;
    }

    private static long monthToPeriod(long month) {
        if (month == 0) {
            return 0;
        }
        long year = month / 12;
        return (year + (year < 70 ? 2000 : year < 100 ? 1900 : 0)) * 100 + month % 12 + 1;
    }

    private static void periodAdd(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] periods = ((LongColumn) args[0]).values();
        long[] months = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            long sum = (int) periodToMonth(periods[i]) + months[i];
            values[i] = periods[i] == 0 ? 0 : monthToPeriod(sum & 0xffffffffL);
        }
    }

    private static void periodDiff(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] left = ((LongColumn) args[0]).values();
        long[] right = ((LongColumn) args[1]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = periodToMonth(left[i]) - periodToMonth(right[i]);
        }
    }

    private static void sysDate(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] values = ((LongColumn) out).values();
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int fsp = args.length == 0 ? 0 : (byte) ((LongColumn) args[0]).values()[i];
            EvalException failure = null;
            long core = Times.NONE;
            try {
                core = scratch.math.now(ctx.eval(), FieldType.DATE_TIME, Durations.fsp(fsp));
            } catch (EvalException e) {
                failure = e;
            }
            if (core == Times.NONE) {
                ctx.eval().invalidTime(failure == null ? TimeMath.incorrect("now") : failure);
                out.setNull(i);
            } else {
                values[i] = core;
            }
        }
    }

    /** Microseconds since 1970, 0 outside of what UNIX_TIMESTAMP covers. */
    private static long unixMicros(KernelContext ctx, TimeScratch scratch, long core) {
        long micros = scratch.math.unixMicros(ctx.eval(), core);
        return micros < 1_000_000 || micros > LAST_UNIX_SECOND * 1_000_000 + 999_999 ? 0 : micros;
    }

    private static void unixInt(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long micros = unixMicros(ctx, scratch, arg[i]);
            if (micros % 1_000_000 / 100_000 != 0) {
                throw EvalException.coded(DATA_TRUNCATED, "Data Truncated");
            }
            values[i] = micros / 1_000_000;
        }
    }

    private static void unixDec(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        TimeScratch scratch = TimeScratch.of(ctx);
        Decimal value = ctx.decimal(0);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            value.setLong(unixMicros(ctx, scratch, arg[i]));
            value.shift(-6).report(ctx.eval());
            value.round((byte) ctx.returnType().decimal(), RoundMode.TRUNCATE).orThrow();
            DecimalColumns.store(value, (DecimalColumn) out, i);
        }
    }

    /** expressions.md 8.8.1. @return {@link Times#NONE} for NULL */
    private static long fromUnix(KernelContext ctx, TimeScratch scratch, DecimalColumn arg, int row) {
        Decimal value = ctx.decimal(0);
        DecimalColumns.load(arg, row, value);
        if (value.isNegative()) {
            return Times.NONE;
        }
        value.toLong();
        long seconds = value.integer();
        if (seconds > LAST_UNIX_SECOND) {
            return Times.NONE;
        }
        Decimal whole = ctx.decimal(1);
        Decimal fraction = ctx.decimal(2);
        whole.setLong(seconds);
        if (fraction.setDifference(value, whole) != DecimalStatus.OK) {
            return Times.NONE;
        }
        whole.setLong(NANOS_PER_SECOND);
        DecimalStatus status = value.setProduct(fraction, whole);
        if (status == DecimalStatus.OVERFLOW) {
            throw EvalException.coded(OUT_OF_RANGE, "DECIMAL value is out of range in ''");
        }
        status.orThrow();
        if (value.toLong() == DecimalStatus.OVERFLOW) {
            throw EvalException.coded(OUT_OF_RANGE, "DECIMAL value is out of range in ''");
        }
        int decimal = ctx.returnType().decimal();
        int fsp = decimal < 0 ? Times.MAX_FSP : Math.min(decimal, Times.MAX_FSP);
        long core = scratch.math.fromUnixTime(ctx.eval(), seconds, value.integer(), fsp);
        if (core == Times.NONE) {
            throw TimeMath.incorrect(Long.toString(seconds));
        }
        return core;
    }

    private static void fromUnix(KernelContext ctx, Column[] args, int rows, Column out) {
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long core = fromUnix(ctx, scratch, (DecimalColumn) args[0], i);
            if (core == Times.NONE) {
                out.setNull(i);
            } else {
                ((LongColumn) out).values()[i] = core;
            }
        }
    }

    private static void fromUnixFormatted(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn format = (BytesColumn) args[1];
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long core = fromUnix(ctx, scratch, (DecimalColumn) args[0], i);
            if (core == Times.NONE) {
                Texts.putNull(out, i);
                continue;
            }
            Texts.requireUtf8(format, i);
            ByteSink sink = scratch.sink();
            TimeFormat.format(sink, core, format.data(), format.starts()[i], format.lengths()[i]);
            Texts.put(ctx, out, i, sink.bytes(), 0, sink.length());
        }
    }

    /** @return {@link Times#NONE} after the failure was reported */
    private static long strToDate(KernelContext ctx, TimeScratch scratch, Column[] args, int row, boolean needsDate) {
        BytesColumn text = (BytesColumn) args[0];
        BytesColumn format = (BytesColumn) args[1];
        Texts.requireUtf8(text, row);
        Texts.requireUtf8(format, row);
        long core = scratch.strToDate.parse(
                ctx.eval(),
                text.data(),
                text.starts()[row],
                text.lengths()[row],
                format.data(),
                format.starts()[row],
                format.lengths()[row]);
        boolean zero = core != Times.NONE
                && needsDate
                && ctx.eval().hasMode(EvalContext.MODE_NO_ZERO_DATE)
                && (Times.year(core) == 0 || Times.isInvalidZero(core));
        if (core == Times.NONE || zero) {
            ctx.eval()
                    .invalidTime(EvalException.coded(
                            WRONG_VALUE,
                            "Truncated incorrect DATETIME value: '" + scratch.strToDate.partialText() + "'"));
            return Times.NONE;
        }
        return core;
    }

    private static void strToDate(KernelContext ctx, Column[] args, int rows, Column out) {
        strToTime(ctx, args, rows, (LongColumn) out, FieldType.DATE);
    }

    private static void strToDatetime(KernelContext ctx, Column[] args, int rows, Column out) {
        strToTime(ctx, args, rows, (LongColumn) out, FieldType.DATE_TIME);
    }

    private static void strToTime(KernelContext ctx, Column[] args, int rows, LongColumn out, int type) {
        TimeScratch scratch = TimeScratch.of(ctx);
        int fsp = Math.min(ctx.returnType().decimal() & 0xff, Times.MAX_FSP);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long core = strToDate(ctx, scratch, args, i, true);
            if (core == Times.NONE) {
                out.setNull(i);
            } else {
                out.values()[i] =
                        type == FieldType.DATE ? TimeMath.withType(core, FieldType.DATE) : Times.withFsp(core, fsp);
            }
        }
    }

    private static void strToDuration(KernelContext ctx, Column[] args, int rows, Column result) {
        LongColumn out = (LongColumn) result;
        TimeScratch scratch = TimeScratch.of(ctx);
        int fsp = Math.min(ctx.returnType().decimal() & 0xff, Times.MAX_FSP);
        for (int i = 0; i < rows; i++) {
            out.fsp()[i] = (byte) fsp;
            if (out.isNull(i)) {
                continue;
            }
            long core = strToDate(ctx, scratch, args, i, false);
            if (core == Times.NONE) {
                out.setNull(i);
            } else {
                out.values()[i] = Durations.round(Durations.ofTime(core), fsp);
                out.fsp()[i] = (byte) (Times.isZero(core) ? 0 : fsp);
            }
        }
    }
}
