package io.coplane.cop.expr.kernel;

import io.coplane.nativecache.CoplaneException;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;

/** IN (expressions.md 8.3): constants of the list are looked up in a set built at compile time, the rest is compared row by row. */
final class InKernels {
    private static final byte SIGNED = 1;
    private static final byte UNSIGNED = 2;

    /** Constants of a list of Int, Real (as bits) or Duration. */
    private record LongSet(LongTable table, boolean hasNull) {}

    private InKernels() {}

    static void declare(SignatureTable table) {
        in(table, ScalarFuncSig.InInt, EvalType.INT, InKernels::prepareLongs, InKernels::inInt);
        in(table, ScalarFuncSig.InReal, EvalType.REAL, InKernels::prepareLongs, InKernels::inReal);
        in(table, ScalarFuncSig.InDuration, EvalType.DURATION, InKernels::prepareLongs, InKernels::inDuration);
        in(table, ScalarFuncSig.InTime, EvalType.DATE_TIME, null, InKernels::inTime);
    }

    private static void in(SignatureTable table, ScalarFuncSig sig, EvalType type, Preparer preparer, Kernel kernel) {
        table.add(sig)
                .takesMany(1, type)
                .returns(EvalType.INT)
                .seesNulls()
                .prepares(preparer)
                .runs(kernel);
    }

    /** True for a child that is not decoded at compile time. */
    static boolean isComputed(Expr child) {
        return child.getTp() == ExprType.ScalarFunc || child.getTp() == ExprType.ColumnRef;
    }

    static CoplaneException unexpected(Expr child, EvalType type) {
        return Preparation.fails("Unexpected ExprType " + child.getTp().name() + " and EvalType " + type.label());
    }

    private static void prepareLongs(Preparation node) {
        LongTable table = new LongTable(node.childCount());
        boolean hasNull = false;
        for (int i = 1; i < node.childCount(); ) {
            Expr child = node.child(i);
            if (isComputed(child)) {
                i++;
                continue;
            }
            if (child.getTp() == ExprType.Null) {
                hasNull = true;
            } else {
                FieldType type = node.childType(i);
                table.add(constant(child, node.wanted(i)), type.isUnsigned() ? UNSIGNED : SIGNED);
            }
            node.drop(i);
        }
        node.metadata(new LongSet(table, hasNull));
    }

    private static long constant(Expr child, EvalType type) {
        ExprType tp = child.getTp();
        switch (type) {
            case INT -> {
                if (tp == ExprType.Int64) {
                    return Literals.comparableLong(child.getVal());
                }
                if (tp == ExprType.Uint64 || tp == ExprType.MysqlEnum) {
                    return Literals.bigEndian(child.getVal(), tp == ExprType.MysqlEnum ? "enum" : "uint64");
                }
            }
            case REAL -> {
                if (tp == ExprType.Float32 || tp == ExprType.Float64) {
                    double value = Literals.comparableDouble(child.getVal());
                    if (Double.isNaN(value)) {
                        throw Preparation.fails("NaN is not allowed in the list of IN");
                    }
                    return bits(value);
                }
            }
            case DURATION -> {
                if (tp == ExprType.MysqlDuration) {
                    return Literals.comparableLong(child.getVal());
                }
            }
            default -> throw unexpected(child, type);
        }
        throw unexpected(child, type);
    }

    /** One pattern for both zeros. */
    private static long bits(double value) {
        return Double.doubleToRawLongBits(value + 0.0);
    }

    private static void inInt(KernelContext ctx, Column[] args, int rows, Column out) {
        LongSet set = (LongSet) ctx.metadata();
        long[] value = ((LongColumn) args[0]).values();
        long[] found = ((LongColumn) out).values();
        byte mark = ctx.isUnsigned(0) ? UNSIGNED : SIGNED;
        LongTable table = set.table();
        for (int i = 0; i < rows; i++) {
            byte other = table.find(value[i]);
            found[i] = other != LongTable.ABSENT && (value[i] >= 0 || other == mark) ? 1 : 0;
        }
        for (int a = 1; a < args.length; a++) {
            boolean sameSign = ctx.isUnsigned(a) == ctx.isUnsigned(0);
            long[] element = ((LongColumn) args[a]).values();
            for (int i = 0; i < rows; i++) {
                if (element[i] == value[i] && (value[i] >= 0 || sameSign) && !args[a].isNull(i)) {
                    found[i] = 1;
                }
            }
        }
        finish(args, set.hasNull(), rows, found, out);
    }

    private static void inReal(KernelContext ctx, Column[] args, int rows, Column out) {
        LongSet set = (LongSet) ctx.metadata();
        double[] value = ((DoubleColumn) args[0]).values();
        long[] found = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            found[i] = set.table().find(bits(value[i])) != LongTable.ABSENT ? 1 : 0;
        }
        for (int a = 1; a < args.length; a++) {
            double[] element = ((DoubleColumn) args[a]).values();
            for (int i = 0; i < rows; i++) {
                if (element[i] == value[i] && !args[a].isNull(i)) {
                    found[i] = 1;
                }
            }
        }
        finish(args, set.hasNull(), rows, found, out);
    }

    private static void inDuration(KernelContext ctx, Column[] args, int rows, Column out) {
        LongSet set = (LongSet) ctx.metadata();
        long[] value = ((LongColumn) args[0]).values();
        long[] found = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            found[i] = set.table().find(value[i]) != LongTable.ABSENT ? 1 : 0;
        }
        for (int a = 1; a < args.length; a++) {
            long[] element = ((LongColumn) args[a]).values();
            for (int i = 0; i < rows; i++) {
                if (element[i] == value[i] && !args[a].isNull(i)) {
                    found[i] = 1;
                }
            }
        }
        finish(args, set.hasNull(), rows, found, out);
    }

    private static void inTime(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] value = ((LongColumn) args[0]).values();
        long[] found = ((LongColumn) out).values();
        java.util.Arrays.fill(found, 0, rows, 0);
        for (int a = 1; a < args.length; a++) {
            long[] element = ((LongColumn) args[a]).values();
            for (int i = 0; i < rows; i++) {
                if (element[i] >>> 4 == value[i] >>> 4 && !args[a].isNull(i)) {
                    found[i] = 1;
                }
            }
        }
        finish(args, false, rows, found, out);
    }

    /** The value NULL: NULL. Not found, and a NULL in the list: NULL. */
    static void finish(Column[] args, boolean hasNull, int rows, long[] found, Column out) {
        out.orNulls(args[0]);
        boolean mayHaveNulls = hasNull;
        for (int a = 1; a < args.length; a++) {
            mayHaveNulls |= args[a].mayHaveNulls();
        }
        if (!mayHaveNulls) {
            return;
        }
        for (int i = 0; i < rows; i++) {
            if (found[i] == 0 && (hasNull || anyNull(args, i))) {
                out.setNull(i);
            }
        }
    }

    private static boolean anyNull(Column[] args, int row) {
        for (int a = 1; a < args.length; a++) {
            if (args[a].isNull(row)) {
                return true;
            }
        }
        return false;
    }
}
