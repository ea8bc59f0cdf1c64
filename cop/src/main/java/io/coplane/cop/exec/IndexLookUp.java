package io.coplane.cop.exec;

import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import java.util.List;

/**
 * Look-up of table rows by index entries (coprocessor.md 3.11), without access to other regions: every index row goes to the intermediate channel,
 * and the client looks it up itself.
 */
public final class IndexLookUp extends Executor {
    private final Executor source;
    private final Batch none;
    private Batch intermediate;

    /** @param tableSchema columns of the table scan that the look-up stands for */
    public IndexLookUp(Executor source, List<FieldType> tableSchema, ExecutionSummary summary, EvalContext context) {
        super(tableSchema, summary);
        this.source = source;
        none = new Batch(context, tableSchema);
    }

    /** Types of the rows that go to the intermediate channel. */
    public List<FieldType> intermediateSchema() {
        return source.schema();
    }

    @Override
    Batch pull(int rows) {
        Batch batch = source.next(rows);
        none.reset(0, batch.drained());
        intermediate = null;
        if (batch.error() != null) {
            return none.fail(batch.error());
        }
        if (batch.rows() > 0) {
            intermediate = batch;
        }
        for (int i = 0; i < none.columnCount(); i++) {
            none.lazy(i).setRaw(null);
        }
        return none;
    }

    /** The index rows of the last pull that the client must look up; null if there are none. Borrowed until the next pull. */
    public Batch takeIntermediate() {
        Batch taken = intermediate;
        intermediate = null;
        return taken;
    }

    @Override
    public void close() {
        source.close();
    }
}
