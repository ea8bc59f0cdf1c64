package io.coplane.cop.expr;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.tipb.Expr;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import java.util.List;

/**
 * A compiled expression (expressions.md 1.7, 2): evaluated on batches, all arguments for all rows, one kernel call per node and batch.
 *
 * <p>Owns the columns of its results, reused from batch to batch. One request, one thread.
 */
public abstract sealed class Expression permits ColumnExpression, ConstantExpression, CallExpression {
    private final FieldType fieldType;
    private final EvalType evalType;

    Expression(FieldType fieldType, EvalType evalType) {
        this.fieldType = fieldType;
        this.evalType = evalType;
    }

    /**
     * Compiles a tree.
     *
     * @param schema field types of the columns that a column reference may name
     * @param eval context of the request; compiling may leave warnings there
     * @throws CoplaneException UNSUPPORTED or BAD_PLAN with the reference's text
     */
    public static Expression compile(Expr expr, List<FieldType> schema, EvalContext eval) {
        return compile(expr, schema, eval, null);
    }

    /**
     * Compiles a tree whose large results are charged.
     *
     * @param guard borrowed; charged for long string results while they are made, until {@link #release()}; null charges nothing
     */
    public static Expression compile(Expr expr, List<FieldType> schema, EvalContext eval, MemoryGuard guard) {
        return new ExpressionCompiler(schema, eval, guard).compile(expr);
    }

    /** Type of the result: of a column reference that of the schema, else that of the node. */
    public final FieldType fieldType() {
        return fieldType;
    }

    /** Kind of the values that {@link #evaluate} returns; null for a column whose type has none. */
    public final EvalType evalType() {
        return evalType;
    }

    /** True if this is only a column of the input. */
    public boolean isColumnRef() {
        return false;
    }

    /** Offset in the schema of a column reference; -1 for others. */
    public int columnIndex() {
        return -1;
    }

    /** True if this is a literal. */
    public boolean isConstant() {
        return false;
    }

    /**
     * Evaluates all rows of a batch. The first error ends it.
     *
     * @param eval flags, zone, and where warnings go
     * @param source columns of the batch
     * @param rows at least 0
     * @return borrowed; valid until this expression is evaluated again or the batch changes
     */
    public abstract Column evaluate(EvalContext eval, ColumnSource source, int rows);

    /** Marks the columns of the schema that the expression reads. */
    public abstract void markColumns(boolean[] used);

    /** Heap bytes of the columns it owns, children included. */
    public abstract long heapBytes();

    /** Gives back what was charged to the guard for long results; the expression must not be evaluated afterwards. */
    public abstract void release();
}
