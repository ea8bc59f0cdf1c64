package io.coplane.cop.exec;

import io.coplane.cop.agg.Aggregates;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.EvalContext;
import java.util.List;

/** Aggregation without groups: one row, none if there was no input (coprocessor.md 3.8). */
public final class SimpleAggregation extends AggregationExecutor {
    private int[] groupOf = new int[0];
    private int groups;

    public SimpleAggregation(
            Executor source,
            List<Aggregates.Compiled> functions,
            long pagingSize,
            ExecutionSummary summary,
            EvalContext context,
            MemoryGuard guard) {
        super(source, columns(functions), List.of(), pagingSize, summary, context, guard);
    }

    @Override
    void update(Batch input) {
        if (input.rows() > groupOf.length) {
            groupOf = new int[Math.max(input.rows(), 2 * groupOf.length)];
        }
        groups = 1;
        aggregates.updateOnly(context, input, groupOf);
    }

    @Override
    int groups() {
        return groups;
    }

    @Override
    void emit(Drained state) {
        int rows = state.stops() ? groups : 0;
        batch.reset(rows, state);
        aggregates.emit(rows, batch);
    }

    @Override
    long keyBytes() {
        return (long) groupOf.length * Integer.BYTES;
    }

    @Override
    void releaseKeys() {
        // has none
    }
}
