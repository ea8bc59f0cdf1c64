package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalType;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import java.util.Arrays;

/** IFNULL, IF, CASE, COALESCE, ELT, ANY_VALUE: which argument a row takes (expressions.md 8.2, 8.4, 8.7, 8.11). */
final class ControlKernels {
    private ControlKernels() {}

    static void declare(SignatureTable table) {
        declare(
                table,
                EvalType.INT,
                ScalarFuncSig.IfNullInt,
                ScalarFuncSig.IfInt,
                ScalarFuncSig.CaseWhenInt,
                ScalarFuncSig.CoalesceInt,
                ScalarFuncSig.IntAnyValue);
        declare(
                table,
                EvalType.REAL,
                ScalarFuncSig.IfNullReal,
                ScalarFuncSig.IfReal,
                ScalarFuncSig.CaseWhenReal,
                ScalarFuncSig.CoalesceReal,
                ScalarFuncSig.RealAnyValue);
        declare(
                table,
                EvalType.DECIMAL,
                ScalarFuncSig.IfNullDecimal,
                ScalarFuncSig.IfDecimal,
                ScalarFuncSig.CaseWhenDecimal,
                ScalarFuncSig.CoalesceDecimal,
                ScalarFuncSig.DecimalAnyValue);
        declare(
                table,
                EvalType.BYTES,
                ScalarFuncSig.IfNullString,
                ScalarFuncSig.IfString,
                ScalarFuncSig.CaseWhenString,
                ScalarFuncSig.CoalesceString,
                ScalarFuncSig.StringAnyValue);
        declare(
                table,
                EvalType.DATE_TIME,
                ScalarFuncSig.IfNullTime,
                ScalarFuncSig.IfTime,
                ScalarFuncSig.CaseWhenTime,
                ScalarFuncSig.CoalesceTime,
                ScalarFuncSig.TimeAnyValue);
        declare(
                table,
                EvalType.DURATION,
                ScalarFuncSig.IfNullDuration,
                ScalarFuncSig.IfDuration,
                ScalarFuncSig.CaseWhenDuration,
                ScalarFuncSig.CoalesceDuration,
                ScalarFuncSig.DurationAnyValue);
        declare(
                table,
                EvalType.JSON,
                ScalarFuncSig.IfNullJson,
                ScalarFuncSig.IfJson,
                ScalarFuncSig.CaseWhenJson,
                ScalarFuncSig.CoalesceJson,
                ScalarFuncSig.JSONAnyValue);
        table.add(ScalarFuncSig.VectorFloat32AnyValue)
                .takesMany(0, EvalType.VECTOR_FLOAT32)
                .returns(EvalType.VECTOR_FLOAT32)
                .seesNulls()
                .runs(ControlKernels::anyValue);
        table.add(ScalarFuncSig.Elt)
                .takesHeadAndMany(2, EvalType.BYTES, EvalType.INT)
                .returns(EvalType.BYTES)
                .seesNulls()
                .runs(ControlKernels::elt);
    }

    private static void declare(
            SignatureTable table,
            EvalType type,
            ScalarFuncSig ifNull,
            ScalarFuncSig ifSig,
            ScalarFuncSig caseWhen,
            ScalarFuncSig coalesce,
            ScalarFuncSig anyValue) {
        table.add(ifNull).takes(type, type).returns(type).seesNulls().runs(ControlKernels::coalesce);
        table.add(ifSig)
                .takes(EvalType.INT, type, type)
                .returns(type)
                .seesNulls()
                .runs(ControlKernels::ifElse);
        table.add(caseWhen)
                .takesAnything()
                .returns(type)
                .seesNulls()
                .prepares(node -> checkCase(node, type))
                .runs(ControlKernels::caseWhen);
        table.add(coalesce).takesMany(0, type).returns(type).seesNulls().runs(ControlKernels::coalesce);
        table.add(anyValue).takesMany(0, type).returns(type).seesNulls().runs(ControlKernels::anyValue);
    }

    private static void checkCase(Preparation node, EvalType type) {
        int count = node.childCount();
        for (int i = 0; i + 1 < count; i += 2) {
            node.expectType(i, EvalType.INT);
            node.expectType(i + 1, type);
        }
        if (count % 2 == 1) {
            node.expectType(count - 1, type);
        }
    }

    private static void coalesce(KernelContext ctx, Column[] args, int rows, Column out) {
        int[] choice = Gather.choices(ctx, rows);
        Arrays.fill(choice, 0, rows, Gather.NONE);
        for (int a = args.length - 1; a >= 0; a--) {
            Column arg = args[a];
            if (!arg.mayHaveNulls()) {
                Arrays.fill(choice, 0, rows, a);
                continue;
            }
            for (int i = 0; i < rows; i++) {
                if (!arg.isNull(i)) {
                    choice[i] = a;
                }
            }
        }
        Gather.rows(args, choice, rows, out);
    }

    private static void ifElse(KernelContext ctx, Column[] args, int rows, Column out) {
        int[] choice = Gather.choices(ctx, rows);
        long[] condition = ((LongColumn) args[0]).values();
        for (int i = 0; i < rows; i++) {
            choice[i] = condition[i] != 0 && !args[0].isNull(i) ? 1 : 2;
        }
        Gather.rows(args, choice, rows, out);
    }

    private static void caseWhen(KernelContext ctx, Column[] args, int rows, Column out) {
        int[] choice = Gather.choices(ctx, rows);
        Arrays.fill(choice, 0, rows, args.length % 2 == 1 ? args.length - 1 : Gather.NONE);
        for (int a = args.length / 2 * 2 - 2; a >= 0; a -= 2) {
            long[] condition = ((LongColumn) args[a]).values();
            for (int i = 0; i < rows; i++) {
                if (condition[i] != 0 && !args[a].isNull(i)) {
                    choice[i] = a + 1;
                }
            }
        }
        Gather.rows(args, choice, rows, out);
    }

    private static void anyValue(KernelContext ctx, Column[] args, int rows, Column out) {
        int[] choice = Gather.choices(ctx, rows);
        Arrays.fill(choice, 0, rows, args.length == 0 ? Gather.NONE : 0);
        Gather.rows(args, choice, rows, out);
    }

    private static void elt(KernelContext ctx, Column[] args, int rows, Column out) {
        int[] choice = Gather.choices(ctx, rows);
        long[] index = ((LongColumn) args[0]).values();
        for (int i = 0; i < rows; i++) {
            boolean inside = !args[0].isNull(i) && index[i] >= 1 && index[i] < args.length;
            choice[i] = inside ? (int) index[i] : Gather.NONE;
        }
        Gather.rows(args, choice, rows, out);
    }
}
