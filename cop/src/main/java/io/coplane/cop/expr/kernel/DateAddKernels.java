package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
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
import io.coplane.types.number.RealText;
import io.coplane.types.text.Utf8;
import io.coplane.types.time.Durations;
import io.coplane.types.time.Intervals;
import io.coplane.types.time.TimeMath;
import io.coplane.types.time.TimeParser;
import io.coplane.types.time.Times;
import java.math.BigDecimal;
import java.math.RoundingMode;

/** ADDDATE and SUBDATE of every kind of time and interval (expressions.md 8.8.2). */
final class DateAddKernels {
    private static final int OUT_OF_RANGE = 1690;
    private static final int MAX_FSP = 6;
    private static final EvalType[] INTERVALS = {EvalType.BYTES, EvalType.INT, EvalType.REAL, EvalType.DECIMAL};

    private DateAddKernels() {}

    static void declare(SignatureTable table) {
        texts(table, "String", EvalType.BYTES);
        texts(table, "Int", EvalType.INT);
        texts(table, "Real", EvalType.REAL);
        texts(table, "Decimal", EvalType.DECIMAL);
        for (int sign : new int[] {1, -1}) {
            String function = sign > 0 ? "AddDate" : "SubDate";
            for (EvalType interval : INTERVALS) {
                String name = intervalName(interval);
                declare(table, function + "Datetime" + name, EvalType.DATE_TIME, interval, EvalType.DATE_TIME)
                        .runs((ctx, args, rows, out) -> times(ctx, args, rows, out, sign));
                declare(table, function + "Duration" + name, EvalType.DURATION, interval, EvalType.DURATION)
                        .runs((ctx, args, rows, out) -> durations(ctx, args, rows, (LongColumn) out, sign));
                declare(
                                table,
                                function + "Duration" + name + "Datetime",
                                EvalType.DURATION,
                                interval,
                                EvalType.DATE_TIME)
                        .runs((ctx, args, rows, out) -> times(ctx, args, rows, out, sign));
            }
        }
    }

    private static void texts(SignatureTable table, String from, EvalType type) {
        for (EvalType interval : INTERVALS) {
            String name = from + intervalName(interval);
            declare(table, "AddDate" + name, type, interval, EvalType.BYTES)
                    .runs((ctx, args, rows, out) -> times(ctx, args, rows, out, 1));
            declare(table, "SubDate" + name, type, interval, EvalType.BYTES)
                    .runs((ctx, args, rows, out) -> times(ctx, args, rows, out, -1));
        }
    }

    private static String intervalName(EvalType type) {
        return type == EvalType.BYTES ? "String" : type.label();
    }

    private static Signature declare(
            SignatureTable table, String name, EvalType time, EvalType interval, EvalType returns) {
        return table.add(ScalarFuncSig.valueOf(name))
                .takes(time, interval, EvalType.BYTES)
                .returns(returns)
                .prepares(DateAddKernels::prepare);
    }

    /** The text of a child that must be a string constant. */
    static String constantText(Preparation node, int index) {
        Expr child = node.child(index);
        if (child.getTp() != ExprType.String && child.getTp() != ExprType.Bytes) {
            throw Preparation.fails("unknown unit type " + child.getTp().name());
        }
        return child.getVal().toStringUtf8();
    }

    private static void prepare(Preparation node) {
        String name = constantText(node, 2);
        Intervals.Unit unit = Intervals.Unit.of(name);
        if (unit == null) {
            throw Preparation.fails("unknown unit str " + name);
        }
        node.metadata(unit);
        node.drop(2);
    }

    /** Writes a time with fsp 6, or 0 if it has no microseconds. */
    static void putText(TimeScratch scratch, long core, BytesColumn out, int row) {
        long shown = Times.withFsp(core, Times.micros(core) == 0 ? 0 : MAX_FSP);
        out.set(row, scratch.text, 0, Times.putText(shown, scratch.text, 0));
    }

    private static void times(KernelContext ctx, Column[] args, int rows, Column out, int sign) {
        TimeScratch scratch = TimeScratch.of(ctx);
        Intervals.Unit unit = (Intervals.Unit) ctx.metadata();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long core = time(ctx, scratch, args[0], i, unit);
            if (core == Times.NONE || !readInterval(ctx, scratch, args[1], i, unit)) {
                TimeFieldKernels.putNull(out, i);
                continue;
            }
            if (sign < 0) {
                scratch.intervals.negate();
            }
            try {
                core = scratch.math.addSecNanos(
                        ctx.eval(), core, scratch.intervals.seconds(), scratch.intervals.nanos());
                if (scratch.intervals.months() != 0) {
                    core = TimeMath.addMonths(core, scratch.intervals.months());
                }
            } catch (EvalException e) {
                ctx.eval().invalidTime(e);
                TimeFieldKernels.putNull(out, i);
                continue;
            }
            int decimal = ctx.returnType().decimal();
            if (decimal >= -1 && decimal <= MAX_FSP) {
                core = Times.withFsp(core, Math.max(0, decimal));
            }
            if (out instanceof BytesColumn bytes) {
                putText(scratch, core, bytes, i);
            } else {
                ((LongColumn) out).values()[i] = core;
            }
        }
    }

    /** The time argument of a row, {@link Times#NONE} after a failure was reported. */
    private static long time(KernelContext ctx, TimeScratch scratch, Column arg, int row, Intervals.Unit unit) {
        EvalContext eval = ctx.eval();
        EvalType type = ctx.argType(0).evalType();
        long core;
        String shown;
        switch (type) {
            case INT -> {
                long number = ((LongColumn) arg).values()[row];
                core = scratch.parser.fromIntDefault(eval, number);
                shown = core == Times.NONE ? Long.toString(number) : "";
            }
            case REAL -> {
                double number = ((DoubleColumn) arg).values()[row];
                core = scratch.parser.fromRealDefault(eval, number);
                shown = core == Times.NONE ? RealText.of(number) : "";
            }
            case DECIMAL -> {
                Decimal number = ctx.decimal(0);
                DecimalColumns.load((DecimalColumn) arg, row, number);
                core = decimalDefault(ctx, scratch, number);
                shown = core == Times.NONE ? number.displayText() : "";
            }
            case DURATION -> {
                LongColumn durations = (LongColumn) arg;
                core = scratch.math.fromDuration(
                        eval, durations.values()[row], durations.fsp()[row], FieldType.DATE_TIME);
                if (core == Times.NONE) {
                    throw TimeMath.incorrect(
                            Durations.text(durations.values()[row], durations.fsp()[row]));
                }
                return core;
            }
            case DATE_TIME -> {
                core = ((LongColumn) arg).values()[row];
                return unit.isClock() || Times.isTimestamp(core) ? TimeMath.withType(core, FieldType.DATE_TIME) : core;
            }
            default -> {
                BytesColumn text = (BytesColumn) arg;
                if (!Utf8.isValid(text.data(), text.starts()[row], text.lengths()[row])) {
                    eval.invalidTime(Texts.notUtf8());
                    return Times.NONE;
                }
                core = scratch.parser.parse(
                        eval, text.data(), text.starts()[row], text.lengths()[row], TimeParser.ANY_TYPE, MAX_FSP, true);
                shown = core == Times.NONE ? Utf8.lossy(text.data(), text.starts()[row], text.lengths()[row]) : "";
            }
        }
        if (core == Times.NONE) {
            eval.invalidTime(TimeMath.incorrect(shown));
            return core;
        }
        return unit.isClock() ? TimeMath.withType(core, FieldType.DATE_TIME) : core;
    }

    /** A decimal without a target type (expressions.md 6.5): microseconds are cut, not rounded. */
    private static long decimalDefault(KernelContext ctx, TimeScratch scratch, Decimal number) {
        Decimal rest = ctx.decimal(1);
        Decimal whole = ctx.decimal(2);
        number.toLong();
        long integer = number.integer();
        long core = scratch.parser.fromIntDefault(ctx.eval(), integer);
        if (core == Times.NONE || Times.isDate(core)) {
            return core;
        }
        int fsp = Math.min(MAX_FSP, number.fracCount());
        whole.setLong(integer);
        rest.setDifference(number, whole);
        rest.shift(6);
        rest.toLong();
        return Times.withFsp(core | Math.abs(rest.integer()) << 4, fsp);
    }

    /** Reads the interval of a row in date mode. @return false for NULL */
    private static boolean readInterval(
            KernelContext ctx, TimeScratch scratch, Column arg, int row, Intervals.Unit unit) {
        return scratch.intervals.readForDate(ctx.eval(), unit, intervalText(ctx, scratch, arg, row, unit));
    }

    private static String intervalText(
            KernelContext ctx, TimeScratch scratch, Column arg, int row, Intervals.Unit unit) {
        return switch (arg) {
            case BytesColumn text ->
                scratch.intervals.text(ctx.eval(), unit, text.data(), text.starts()[row], text.lengths()[row]);
            case LongColumn number -> {
                long value = number.values()[row];
                yield ctx.isUnsigned(1) ? Long.toUnsignedString(value) : Long.toString(value);
            }
            case DoubleColumn number ->
                realText(number.values()[row], ctx.argType(1).decimal());
            case DecimalColumn number -> {
                Decimal value = ctx.decimal(0);
                DecimalColumns.load(number, row, value);
                yield Intervals.text(ctx.eval(), unit, value);
            }
        };
    }

    private static String realText(double value, int decimal) {
        if (decimal < 0 || Double.isInfinite(value)) {
            return RealText.of(value);
        }
        String text =
                new BigDecimal(value).setScale(decimal, RoundingMode.HALF_EVEN).toPlainString();
        boolean minus = value < 0 || value == 0 && 1 / value < 0;
        return minus && !text.startsWith("-") ? "-" + text : text;
    }

    private static void durations(KernelContext ctx, Column[] args, int rows, LongColumn out, int sign) {
        LongColumn left = (LongColumn) args[0];
        TimeScratch scratch = TimeScratch.of(ctx);
        Intervals.Unit unit = (Intervals.Unit) ctx.metadata();
        byte[] fsp = out.fsp();
        for (int i = 0; i < rows; i++) {
            fsp[i] = 0;
            if (out.isNull(i)) {
                continue;
            }
            long interval;
            try {
                scratch.intervals.readForDuration(ctx.eval(), unit, intervalText(ctx, scratch, args[1], i, unit));
                interval = scratch.intervals.toDuration(unit);
            } catch (EvalException e) {
                ctx.eval().invalidTime(e);
                out.setNull(i);
                continue;
            }
            long sum = left.values()[i] + sign * interval;
            if (Durations.isInRange(sum)) {
                out.values()[i] = sum;
                fsp[i] = (byte) Math.max(left.fsp()[i], scratch.intervals.fsp());
            } else {
                ctx.eval()
                        .invalidTime(EvalException.coded(
                                OUT_OF_RANGE,
                                "Duration value is out of range in '("
                                        + Durations.text(left.values()[i], left.fsp()[i])
                                        + " - " + Durations.text(interval, scratch.intervals.fsp()) + ")'"));
                out.setNull(i);
            }
        }
    }
}
