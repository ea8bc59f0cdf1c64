package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalColumns;
import io.coplane.types.decimal.DecimalStatus;
import io.coplane.types.decimal.RoundMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Decimals: arithmetic, comparison, mathematics, IN (expressions.md 5.4, 8.1 to 8.6). */
final class DecimalKernels {
    private static final int OUT_OF_RANGE = 1690;

    /** The constants of a list, by hash. */
    private record DecimalSet(Map<Long, List<Decimal>> byHash, boolean hasNull) {}

    /** Changes a value in place. */
    @FunctionalInterface
    private interface Change {
        void apply(KernelContext ctx, Decimal value);
    }

    private DecimalKernels() {}

    static void declare(SignatureTable table) {
        CompareKernels.declare(
                table,
                EvalType.DECIMAL,
                DecimalKernels::order,
                ScalarFuncSig.LTDecimal,
                ScalarFuncSig.LEDecimal,
                ScalarFuncSig.GTDecimal,
                ScalarFuncSig.GEDecimal,
                ScalarFuncSig.EQDecimal,
                ScalarFuncSig.NEDecimal,
                ScalarFuncSig.NullEQDecimal);
        binary(
                table,
                ScalarFuncSig.PlusDecimal,
                (ctx, args, rows, out) -> DecimalColumns.add(
                        (DecimalColumn) args[0],
                        (DecimalColumn) args[1],
                        rows,
                        (DecimalColumn) out,
                        ctx.decimalScratch()));
        binary(
                table,
                ScalarFuncSig.MinusDecimal,
                (ctx, args, rows, out) -> DecimalColumns.subtract(
                        (DecimalColumn) args[0],
                        (DecimalColumn) args[1],
                        rows,
                        (DecimalColumn) out,
                        ctx.decimalScratch()));
        binary(
                table,
                ScalarFuncSig.MultiplyDecimal,
                (ctx, args, rows, out) -> DecimalColumns.multiply(
                        (DecimalColumn) args[0],
                        (DecimalColumn) args[1],
                        rows,
                        (DecimalColumn) out,
                        ctx.decimalScratch()));
        binary(table, ScalarFuncSig.DivideDecimal, DecimalKernels::divide);
        binary(table, ScalarFuncSig.ModDecimal, DecimalKernels::modulo);
        table.add(ScalarFuncSig.IntDivideDecimal)
                .takes(EvalType.DECIMAL, EvalType.DECIMAL)
                .returns(EvalType.INT)
                .runs(DecimalKernels::intDivide);
        unary(table, ScalarFuncSig.UnaryMinusDecimal, (ctx, value) -> value.negate());
        unary(table, ScalarFuncSig.AbsDecimal, (ctx, value) -> value.abs());
        unary(table, ScalarFuncSig.CeilDecToDec, (ctx, value) -> value.ceil().report(ctx.eval()));
        unary(table, ScalarFuncSig.FloorDecToDec, (ctx, value) -> value.floor().report(ctx.eval()));
        unary(
                table,
                ScalarFuncSig.RoundDec,
                (ctx, value) -> value.round(0, RoundMode.HALF_UP).orThrow());
        toInt(table, ScalarFuncSig.CeilDecToInt, (ctx, value) -> value.ceil().report(ctx.eval()));
        toInt(table, ScalarFuncSig.FloorDecToInt, (ctx, value) -> value.floor().report(ctx.eval()));
        fromInt(table, ScalarFuncSig.CeilIntToDec);
        fromInt(table, ScalarFuncSig.FloorIntToDec);
        withDigits(table, ScalarFuncSig.RoundWithFracDec, DecimalKernels::roundWithFrac);
        withDigits(table, ScalarFuncSig.TruncateDecimal, DecimalKernels::truncate);
        LogicKernels.truths(
                table,
                EvalType.DECIMAL,
                DecimalKernels::truth,
                ScalarFuncSig.UnaryNotDecimal,
                ScalarFuncSig.DecimalIsTrue,
                ScalarFuncSig.DecimalIsFalse,
                ScalarFuncSig.DecimalIsTrueWithNull,
                ScalarFuncSig.DecimalIsFalseWithNull);
        for (boolean greatest : new boolean[] {true, false}) {
            table.add(greatest ? ScalarFuncSig.GreatestDecimal : ScalarFuncSig.LeastDecimal)
                    .takesMany(2, EvalType.DECIMAL)
                    .returns(EvalType.DECIMAL)
                    .seesNulls()
                    .runs((ctx, args, rows, out) -> ExtremeKernels.extreme(
                            ctx,
                            args,
                            rows,
                            out,
                            (left, right, row) -> DecimalColumns.compare(
                                    (DecimalColumn) left, row, (DecimalColumn) right, row, ctx.decimalScratch()),
                            greatest ? 1 : -1));
        }
        table.add(ScalarFuncSig.InDecimal)
                .takesMany(1, EvalType.DECIMAL)
                .returns(EvalType.INT)
                .seesNulls()
                .prepares(DecimalKernels::prepareIn)
                .runs(DecimalKernels::in);
    }

    private static void binary(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig)
                .takes(EvalType.DECIMAL, EvalType.DECIMAL)
                .returns(EvalType.DECIMAL)
                .runs(kernel);
    }

    private static void withDigits(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig)
                .takes(EvalType.DECIMAL, EvalType.INT)
                .returns(EvalType.DECIMAL)
                .runs(kernel);
    }

    private static void unary(SignatureTable table, ScalarFuncSig sig, Change change) {
        table.add(sig).takes(EvalType.DECIMAL).returns(EvalType.DECIMAL).runs((ctx, args, rows, out) -> {
            Decimal value = ctx.decimal(0);
            for (int i = 0; i < rows; i++) {
                if (!out.isNull(i)) {
                    DecimalColumns.load((DecimalColumn) args[0], i, value);
                    change.apply(ctx, value);
                    DecimalColumns.store(value, (DecimalColumn) out, i);
                }
            }
        });
    }

    private static void toInt(SignatureTable table, ScalarFuncSig sig, Change change) {
        table.add(sig).takes(EvalType.DECIMAL).returns(EvalType.INT).runs((ctx, args, rows, out) -> {
            Decimal value = ctx.decimal(0);
            long[] values = ((LongColumn) out).values();
            for (int i = 0; i < rows; i++) {
                if (!out.isNull(i)) {
                    DecimalColumns.load((DecimalColumn) args[0], i, value);
                    change.apply(ctx, value);
                    DecimalStatus status = value.toLong();
                    if (status == DecimalStatus.TRUNCATED) {
                        ctx.eval().truncated();
                    }
                    status.orThrow();
                    values[i] = value.integer();
                }
            }
        });
    }

    private static void fromInt(SignatureTable table, ScalarFuncSig sig) {
        table.add(sig).takes(EvalType.INT).returns(EvalType.DECIMAL).runs((ctx, args, rows, out) -> {
            long[] values = ((LongColumn) args[0]).values();
            for (int i = 0; i < rows; i++) {
                DecimalColumns.setLong((DecimalColumn) out, i, values[i], ctx.decimalScratch());
            }
        });
    }

    private static void order(KernelContext ctx, Column[] args, int rows, long[] out) {
        DecimalColumn left = (DecimalColumn) args[0];
        DecimalColumn right = (DecimalColumn) args[1];
        DecimalColumns.Scratch scratch = ctx.decimalScratch();
        if (!left.mayHaveNulls() && !right.mayHaveNulls()) {
            for (int i = 0; i < rows; i++) {
                out[i] = DecimalColumns.compare(left, i, right, i, scratch);
            }
            return;
        }
        for (int i = 0; i < rows; i++) {
            out[i] = left.isNull(i) || right.isNull(i) ? 0 : DecimalColumns.compare(left, i, right, i, scratch);
        }
    }

    private static void truth(Column arg, int rows, long[] out) {
        DecimalColumn column = (DecimalColumn) arg;
        DecimalColumns.Scratch scratch = null;
        for (int i = 0; i < rows; i++) {
            if ((column.headers()[i] & DecimalColumn.FLAT) != 0) {
                out[i] = column.unscaled()[i] != 0 ? 1 : 0;
            } else if (arg.isNull(i)) {
                out[i] = 0;
            } else {
                scratch = scratch == null ? new DecimalColumns.Scratch() : scratch;
                out[i] = DecimalColumns.isZero(column, i, scratch) ? 0 : 1;
            }
        }
    }

    private static EvalException outOfRange(String type, Decimal left, char operator, Decimal right) {
        return EvalException.coded(
                OUT_OF_RANGE,
                type + " value is out of range in '(" + left.displayText() + " " + operator + " " + right.displayText()
                        + ")'");
    }

    /** Reports the status of an operation. */
    private static void report(KernelContext ctx, DecimalStatus status, Decimal left, char operator, Decimal right) {
        if (status == DecimalStatus.TRUNCATED) {
            ctx.eval().truncated();
        } else if (status == DecimalStatus.OVERFLOW) {
            ctx.eval().overflow(outOfRange("DECIMAL", left, operator, right));
        }
    }

    private static void divide(KernelContext ctx, Column[] args, int rows, Column out) {
        Decimal left = ctx.decimal(0);
        Decimal right = ctx.decimal(1);
        Decimal quotient = ctx.decimal(2);
        int increment = ctx.eval().divPrecisionIncrement();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            DecimalColumns.load((DecimalColumn) args[0], i, left);
            DecimalColumns.load((DecimalColumn) args[1], i, right);
            DecimalStatus status = quotient.setQuotient(left, right, increment);
            if (status == null) {
                ctx.eval().divisionByZero();
                out.setNull(i);
                continue;
            }
            report(ctx, status, left, '/', right);
            DecimalColumns.store(quotient, (DecimalColumn) out, i);
        }
    }

    private static void modulo(KernelContext ctx, Column[] args, int rows, Column out) {
        Decimal left = ctx.decimal(0);
        Decimal right = ctx.decimal(1);
        Decimal remainder = ctx.decimal(2);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            DecimalColumns.load((DecimalColumn) args[0], i, left);
            DecimalColumns.load((DecimalColumn) args[1], i, right);
            DecimalStatus status = remainder.setRemainder(left, right);
            if (status == null) {
                ctx.eval().divisionByZero();
                out.setNull(i);
                continue;
            }
            report(ctx, status, left, '%', right);
            DecimalColumns.store(remainder, (DecimalColumn) out, i);
        }
    }

    private static void intDivide(KernelContext ctx, Column[] args, int rows, Column out) {
        Decimal left = ctx.decimal(0);
        Decimal right = ctx.decimal(1);
        Decimal quotient = ctx.decimal(2);
        long[] values = ((LongColumn) out).values();
        boolean signed = !ctx.isUnsigned(0) && !ctx.isUnsigned(1);
        int increment = ctx.eval().divPrecisionIncrement();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            DecimalColumns.load((DecimalColumn) args[0], i, left);
            DecimalColumns.load((DecimalColumn) args[1], i, right);
            DecimalStatus status = quotient.setQuotient(left, right, increment);
            if (status == null) {
                ctx.eval().divisionByZero();
                out.setNull(i);
                continue;
            }
            report(ctx, status, left, '/', right);
            if (signed) {
                if (quotient.toLong() == DecimalStatus.OVERFLOW) {
                    throw outOfRange("BIGINT", left, '/', right);
                }
            } else if (quotient.toUlong() == DecimalStatus.OVERFLOW) {
                boolean isFraction = quotient.toLong() == DecimalStatus.TRUNCATED && quotient.integer() == 0;
                if (!isFraction) {
                    throw outOfRange("BIGINT UNSIGNED", left, '/', right);
                }
            }
            values[i] = quotient.integer();
        }
    }

    private static void roundWithFrac(KernelContext ctx, Column[] args, int rows, Column out) {
        Decimal value = ctx.decimal(0);
        long[] digits = ((LongColumn) args[1]).values();
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                DecimalColumns.load((DecimalColumn) args[0], i, value);
                value.round((byte) digits[i], RoundMode.HALF_UP).orThrow();
                DecimalColumns.store(value, (DecimalColumn) out, i);
            }
        }
    }

    private static void truncate(KernelContext ctx, Column[] args, int rows, Column out) {
        Decimal value = ctx.decimal(0);
        long[] digits = ((LongColumn) args[1]).values();
        boolean unsigned = ctx.isUnsigned(1);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                long d = unsigned && digits[i] < 0 ? Byte.MAX_VALUE : digits[i];
                DecimalColumns.load((DecimalColumn) args[0], i, value);
                value.round((int) Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, d)), RoundMode.TRUNCATE)
                        .orThrow();
                DecimalColumns.store(value, (DecimalColumn) out, i);
            }
        }
    }

    private static void prepareIn(Preparation node) {
        Map<Long, List<Decimal>> byHash = new HashMap<>();
        boolean hasNull = false;
        for (int i = 1; i < node.childCount(); ) {
            Expr child = node.child(i);
            if (InKernels.isComputed(child)) {
                i++;
                continue;
            }
            if (child.getTp() == ExprType.Null) {
                hasNull = true;
            } else if (child.getTp() == ExprType.MysqlDecimal) {
                Decimal value = Literals.decimal(child.getVal());
                byHash.computeIfAbsent(value.numericHash(), hash -> new ArrayList<>())
                        .add(value);
            } else {
                throw InKernels.unexpected(child, EvalType.DECIMAL);
            }
            node.drop(i);
        }
        node.metadata(new DecimalSet(byHash, hasNull));
    }

    private static void in(KernelContext ctx, Column[] args, int rows, Column out) {
        DecimalSet set = (DecimalSet) ctx.metadata();
        DecimalColumn arg = (DecimalColumn) args[0];
        long[] found = ((LongColumn) out).values();
        Decimal value = ctx.decimal(0);
        DecimalColumns.Scratch scratch = ctx.decimalScratch();
        for (int i = 0; i < rows; i++) {
            found[i] = 0;
            if (arg.isNull(i)) {
                continue;
            }
            DecimalColumns.load(arg, i, value);
            List<Decimal> candidates = set.byHash().get(value.numericHash());
            for (int k = 0; candidates != null && k < candidates.size(); k++) {
                found[i] |= candidates.get(k).compareTo(value) == 0 ? 1 : 0;
            }
            for (int a = 1; a < args.length; a++) {
                if (!args[a].isNull(i) && DecimalColumns.compare(arg, i, (DecimalColumn) args[a], i, scratch) == 0) {
                    found[i] = 1;
                }
            }
        }
        InKernels.finish(args, set.hasNull(), rows, found, out);
    }
}
