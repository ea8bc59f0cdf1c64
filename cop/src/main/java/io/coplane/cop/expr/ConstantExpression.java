package io.coplane.cop.expr;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import java.util.Arrays;

/** A literal: a column that holds its value in every row. */
final class ConstantExpression extends Expression {
    private final Column column;

    /** @param value one row */
    ConstantExpression(FieldType fieldType, EvalType evalType, Column value) {
        super(fieldType, evalType);
        column = value;
        column.markConstant();
    }

    @Override
    public boolean isConstant() {
        return true;
    }

    @Override
    public Column evaluate(EvalContext eval, ColumnSource source, int rows) {
        if (rows > 0 && column.rows() != rows) {
            spread(rows);
        }
        return column;
    }

    private void spread(int rows) {
        boolean isNull = column.isNull(0);
        column.resize(rows);
        switch (column) {
            case LongColumn c -> {
                Arrays.fill(c.values(), 0, rows, c.values()[0]);
                if (evalType() == EvalType.DURATION) {
                    Arrays.fill(c.fsp(), 0, rows, c.fsp()[0]);
                }
            }
            case DoubleColumn c -> Arrays.fill(c.values(), 0, rows, c.values()[0]);
            case BytesColumn c -> {
                Arrays.fill(c.starts(), 0, rows, c.starts()[0]);
                Arrays.fill(c.lengths(), 0, rows, c.lengths()[0]);
            }
            case DecimalColumn c -> {
                Arrays.fill(c.headers(), 0, rows, c.headers()[0]);
                Arrays.fill(c.unscaled(), 0, rows, c.unscaled()[0]);
                if ((c.headers()[0] & DecimalColumn.FLAT) == 0) {
                    int[] words = c.words();
                    for (int row = 1; row < rows; row++) {
                        System.arraycopy(words, 0, words, row * DecimalColumn.WORDS, DecimalColumn.WORDS);
                    }
                }
            }
        }
        if (isNull) {
            column.setAllNull();
        }
    }

    @Override
    public void markColumns(boolean[] used) {
        // reads none
    }

    @Override
    public long heapBytes() {
        return column.heapBytes();
    }

    @Override
    public void release() {
        // nothing charged
    }
}
