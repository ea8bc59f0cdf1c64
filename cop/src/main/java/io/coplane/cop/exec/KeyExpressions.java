package io.coplane.cop.exec;

import io.coplane.cop.expr.Expression;
import io.coplane.cop.kernel.KeyKind;
import io.coplane.cop.kernel.SortKeys;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import java.util.List;

/** The expressions of a sort, group or partition key, and their values in comparable form. One thread. */
final class KeyExpressions {
    private final Expression[] expressions;
    private final KeyKind[] kinds;
    private final SortKeys[] sortKeys;
    private final Column[] values;
    private final Column[] comparable;

    /** @throws io.coplane.nativecache.CoplaneException BAD_PLAN for a collation that does not exist */
    KeyExpressions(List<Expression> list) {
        expressions = list.toArray(new Expression[0]);
        kinds = new KeyKind[expressions.length];
        sortKeys = new SortKeys[expressions.length];
        values = new Column[expressions.length];
        comparable = new Column[expressions.length];
        for (int i = 0; i < expressions.length; i++) {
            EvalType type = expressions[i].fieldType().evalType();
            kinds[i] = KeyKind.of(type, expressions[i].fieldType());
            if (type == EvalType.BYTES) {
                sortKeys[i] = new SortKeys(expressions[i].fieldType().collate());
            }
        }
    }

    int count() {
        return expressions.length;
    }

    KeyKind[] kinds() {
        return kinds;
    }

    Expression expression(int i) {
        return expressions[i];
    }

    /** Evaluates all on a batch; the results are borrowed until the next batch. */
    void evaluate(EvalContext context, Batch batch) {
        int rows = batch.rows();
        for (int i = 0; i < expressions.length; i++) {
            values[i] = expressions[i].evaluate(context, batch, rows);
            comparable[i] = sortKeys[i] == null ? values[i] : sortKeys[i].of((BytesColumn) values[i], rows);
        }
    }

    /** Values as they are. */
    Column[] values() {
        return values;
    }

    /** Values that {@link #kinds()} can compare: strings are sort keys. */
    Column[] comparable() {
        return comparable;
    }

    /** True if all keys of two rows are equal. */
    boolean sameKey(Column[] left, int i, Column[] right, int j) {
        for (int k = 0; k < kinds.length; k++) {
            if (kinds[k].compare(left[k], i, right[k], j) != 0) {
                return false;
            }
        }
        return true;
    }

    long heapBytes() {
        long bytes = 0;
        for (int i = 0; i < expressions.length; i++) {
            bytes += expressions[i].heapBytes() + (sortKeys[i] == null ? 0 : sortKeys[i].heapBytes());
        }
        return bytes;
    }

    void release() {
        for (Expression expression : expressions) {
            expression.release();
        }
    }
}
