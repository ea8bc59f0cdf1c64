package io.coplane.cop.expr;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;

/** A column of the input. */
final class ColumnExpression extends Expression {
    private final int index;

    ColumnExpression(int index, FieldType fieldType) {
        super(fieldType, EvalType.ofOrNull(fieldType.tp()));
        this.index = index;
    }

    @Override
    public boolean isColumnRef() {
        return true;
    }

    @Override
    public int columnIndex() {
        return index;
    }

    @Override
    public Column evaluate(EvalContext eval, ColumnSource source, int rows) {
        return source.column(index);
    }

    @Override
    public void markColumns(boolean[] used) {
        used[index] = true;
    }

    @Override
    public long heapBytes() {
        return 0;
    }

    @Override
    public void release() {
        // owns nothing
    }
}
