package io.coplane.cop.exec;

import io.coplane.cop.expr.Expression;
import io.coplane.cop.kernel.Truth;
import io.coplane.nativecache.CoplaneException;
import io.coplane.types.EvalContext;
import io.coplane.types.column.Column;
import java.util.List;

/** Keeps the rows for which every condition is true; each condition is evaluated on the survivors of those before it (coprocessor.md 3.7). */
public final class Selection extends Executor {
    private final Executor source;
    private final List<Expression> conditions;
    private final EvalContext context;
    private final BatchWarnings warnings = new BatchWarnings();
    private int[] kept = new int[0];

    /** @param conditions none of them of eval type BYTES: such a one is compiled as its conversion to a number */
    public Selection(Executor source, List<Expression> conditions, ExecutionSummary summary, EvalContext context) {
        super(source.schema(), summary);
        this.source = source;
        this.conditions = List.copyOf(conditions);
        this.context = context;
    }

    @Override
    Batch pull(int rows) {
        Batch batch = source.next(rows);
        if (batch.error() != null) {
            return batch.fail(batch.error());
        }
        if (batch.rows() > kept.length) {
            kept = new int[Math.max(batch.rows(), 2 * kept.length)];
        }
        long before = context.warningCount();
        try {
            for (Expression condition : conditions) {
                if (batch.rows() == 0) {
                    break;
                }
                Column truth = condition.evaluate(context, batch, batch.rows());
                batch.keep(kept, Truth.select(truth, condition.evalType(), batch.rows(), kept));
            }
        } catch (CoplaneException e) {
            return batch.fail(e);
        }
        warnings.endBatch(context, before);
        return batch;
    }

    @Override
    public void close() {
        source.close();
        conditions.forEach(Expression::release);
    }
}
