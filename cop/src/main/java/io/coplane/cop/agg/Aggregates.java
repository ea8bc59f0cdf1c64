package io.coplane.cop.agg;

import io.coplane.cop.expr.Expression;
import io.coplane.cop.expr.FieldTypes;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import java.util.List;

/** Compiles aggregate functions and their arguments (coprocessor.md 5). */
public final class Aggregates {
    private static final int DECIMAL_LENGTH = 65;
    private static final int DOUBLE_LENGTH = 23;

    private Aggregates() {}

    /**
     * A function and what it is applied to.
     *
     * @param aggregate its states
     * @param argument evaluated on each batch
     */
    public record Compiled(Aggregate aggregate, Expression argument) {}

    /** True if the function exists here. */
    public static boolean isSupported(ExprType type) {
        return switch (type) {
            case Count,
                    Sum,
                    SumInt,
                    Avg,
                    First,
                    Max,
                    Min,
                    Agg_BitAnd,
                    Agg_BitOr,
                    Agg_BitXor,
                    VarPop,
                    Variance,
                    VarSamp -> true;
            default -> false;
        };
    }

    /**
     * Compiles one.
     *
     * @throws CoplaneException BAD_PLAN or UNSUPPORTED with the reference's text
     */
    public static Compiled compile(Expr expr, List<FieldType> schema, EvalContext context, MemoryGuard guard) {
        if (!isSupported(expr.getTp())) {
            throw new CoplaneException(
                    ErrorCode.UNSUPPORTED, "Aggregation function meet blacklist aggr function " + expr.getTp());
        }
        if (expr.getChildrenCount() != 1) {
            throw bad("Expect 1 parameter, but got " + expr.getChildrenCount());
        }
        FieldType type = FieldTypes.of(expr.getFieldType());
        Expr child = expr.getChildren(0);
        Expression argument = Expression.compile(child, schema, context, guard);
        return switch (expr.getTp()) {
            case Count -> new Compiled(new CountAggregate(), argument);
            case Sum, Avg -> {
                Expression number = number(child, argument, schema, context, guard);
                expect(type, number);
                boolean withCount = expr.getTp() == ExprType.Avg;
                yield new Compiled(
                        number.evalType() == EvalType.DECIMAL
                                ? new SumDecimalAggregate(type, withCount)
                                : new SumRealAggregate(type, withCount),
                        number);
            }
            case VarPop, Variance, VarSamp -> {
                Expression number = number(child, argument, schema, context, guard);
                expect(type, number);
                yield new Compiled(new VarianceAggregate(type, expr.getTp() == ExprType.VarSamp), number);
            }
            case SumInt -> new Compiled(sumInt(type, argument), argument);
            case First -> {
                expect(type, argument);
                yield new Compiled(new FirstAggregate(type), argument);
            }
            case Max, Min -> {
                expect(type, argument);
                yield new Compiled(
                        new ExtremeAggregate(type, argument.fieldType(), expr.getTp() == ExprType.Max), argument);
            }
            case Agg_BitAnd -> bits(type, BitAggregate.Operation.AND, child, argument, schema, context, guard);
            case Agg_BitOr -> bits(type, BitAggregate.Operation.OR, child, argument, schema, context, guard);
            case Agg_BitXor -> bits(type, BitAggregate.Operation.XOR, child, argument, schema, context, guard);
            default -> throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "aggregate " + expr.getTp());
        };
    }

    private static CoplaneException bad(String text) {
        return new CoplaneException(ErrorCode.BAD_PLAN, text);
    }

    private static void expect(FieldType type, Expression argument) {
        if (type.evalType() != argument.fieldType().evalType()) {
            throw bad("Unexpected return field type " + FieldType.name(type.tp()));
        }
    }

    private static SumIntAggregate sumInt(FieldType type, Expression argument) {
        FieldType argumentType = argument.fieldType();
        if (type.tp() != FieldType.LONG_LONG) {
            throw bad("Unexpected return field type " + FieldType.name(type.tp()) + " for SUM_INT");
        }
        switch (argumentType.tp()) {
            case FieldType.TINY, FieldType.SHORT, FieldType.INT24, FieldType.LONG, FieldType.LONG_LONG -> {}
            default ->
                throw bad("SUM_INT only accepts integer arguments, but got " + FieldType.name(argumentType.tp()));
        }
        if (type.isUnsigned() != argumentType.isUnsigned()) {
            throw bad("Unexpected unsigned flag for SUM_INT: return_is_unsigned=" + type.isUnsigned()
                    + ", arg_is_unsigned=" + argumentType.isUnsigned());
        }
        return new SumIntAggregate(type);
    }

    private static Compiled bits(
            FieldType type,
            BitAggregate.Operation operation,
            Expr child,
            Expression argument,
            List<FieldType> schema,
            EvalContext context,
            MemoryGuard guard) {
        if (EvalType.ofOrNull(type.tp()) != EvalType.INT) {
            throw bad("Unexpected return field type " + FieldType.name(type.tp()));
        }
        Expression number = argument;
        if (argument.fieldType().evalType() != EvalType.INT) {
            io.coplane.proto.tipb.FieldType target = io.coplane.proto.tipb.FieldType.newBuilder()
                    .setTp(FieldType.LONG_LONG)
                    .setFlen(-1)
                    .setDecimal(-1)
                    .build();
            number = cast(castToInt(argument.fieldType().evalType()), target, child, schema, context, guard);
        }
        return new Compiled(new BitAggregate(type, operation), number);
    }

    /** The cast rule: integers become decimals, decimals and reals stay, everything else becomes a real. */
    private static Expression number(
            Expr child, Expression argument, List<FieldType> schema, EvalContext context, MemoryGuard guard) {
        EvalType type = argument.fieldType().evalType();
        if (type == EvalType.DECIMAL || type == EvalType.REAL) {
            return argument;
        }
        if (type == EvalType.INT && argument.fieldType().tp() != FieldType.BIT) {
            io.coplane.proto.tipb.FieldType target = io.coplane.proto.tipb.FieldType.newBuilder()
                    .setTp(FieldType.NEW_DECIMAL)
                    .setFlen(DECIMAL_LENGTH)
                    .setDecimal(-1)
                    .build();
            return cast(ScalarFuncSig.CastIntAsDecimal, target, child, schema, context, guard);
        }
        io.coplane.proto.tipb.FieldType target = io.coplane.proto.tipb.FieldType.newBuilder()
                .setTp(FieldType.DOUBLE)
                .setFlen(DOUBLE_LENGTH)
                .setDecimal(-1)
                .build();
        return cast(castToReal(type), target, child, schema, context, guard);
    }

    private static Expression cast(
            ScalarFuncSig sig,
            io.coplane.proto.tipb.FieldType target,
            Expr child,
            List<FieldType> schema,
            EvalContext context,
            MemoryGuard guard) {
        Expr node = Expr.newBuilder()
                .setTp(ExprType.ScalarFunc)
                .setSig(sig)
                .setFieldType(target)
                .addChildren(child)
                .build();
        return Expression.compile(node, schema, context, guard);
    }

    /** Cast of a type to Double. */
    public static ScalarFuncSig castToReal(EvalType type) {
        return switch (type) {
            case INT, ENUM -> ScalarFuncSig.CastIntAsReal;
            case REAL -> ScalarFuncSig.CastRealAsReal;
            case DECIMAL -> ScalarFuncSig.CastDecimalAsReal;
            case BYTES -> ScalarFuncSig.CastStringAsReal;
            case DATE_TIME -> ScalarFuncSig.CastTimeAsReal;
            case DURATION -> ScalarFuncSig.CastDurationAsReal;
            case JSON -> ScalarFuncSig.CastJsonAsReal;
            case SET, VECTOR_FLOAT32 -> throw noCast(type, "Real");
        };
    }

    private static ScalarFuncSig castToInt(EvalType type) {
        return switch (type) {
            case INT, ENUM -> ScalarFuncSig.CastIntAsInt;
            case REAL -> ScalarFuncSig.CastRealAsInt;
            case DECIMAL -> ScalarFuncSig.CastDecimalAsInt;
            case BYTES -> ScalarFuncSig.CastStringAsInt;
            case DATE_TIME -> ScalarFuncSig.CastTimeAsInt;
            case DURATION -> ScalarFuncSig.CastDurationAsInt;
            case JSON -> ScalarFuncSig.CastJsonAsInt;
            case SET, VECTOR_FLOAT32 -> throw noCast(type, "Int");
        };
    }

    private static CoplaneException noCast(EvalType from, String to) {
        return bad("Unsupported cast from " + from.label() + " to " + to);
    }
}
