package io.coplane.cop.expr;

import io.coplane.types.column.Column;

/** The columns of a batch as an expression sees them. */
public interface ColumnSource {
    /**
     * The decoded column of the schema, with as many rows as the batch that is being evaluated; decoded on first use.
     *
     * @param index offset in the schema the expression was compiled against
     * @return borrowed; valid until the next batch
     */
    Column column(int index);
}
