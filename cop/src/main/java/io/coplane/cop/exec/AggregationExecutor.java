package io.coplane.cop.exec;

import io.coplane.cop.agg.Aggregates;
import io.coplane.cop.expr.Expression;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import java.util.ArrayList;
import java.util.List;

/** What all aggregations share: pulls, pages, errors (coprocessor.md 3.8). */
abstract class AggregationExecutor extends Executor {
    private static final int SOURCE_ROWS = 1024;

    private final Executor source;
    final EvalContext context;
    final AggregateColumns aggregates;
    final Batch batch;
    private final HeapAccount account;
    private final long pagingSize;

    AggregationExecutor(
            Executor source,
            AggregateColumns aggregates,
            List<Expression> groupBy,
            long pagingSize,
            ExecutionSummary summary,
            EvalContext context,
            MemoryGuard guard) {
        super(schema(aggregates, groupBy), summary);
        this.source = source;
        this.aggregates = aggregates;
        this.pagingSize = pagingSize;
        this.context = context;
        batch = new Batch(context, schema());
        account = new HeapAccount(guard, summary);
    }

    private static List<FieldType> schema(AggregateColumns aggregates, List<Expression> groupBy) {
        List<FieldType> types = new ArrayList<>(aggregates.resultTypes());
        groupBy.forEach(expression -> types.add(expression.fieldType()));
        return types;
    }

    static AggregateColumns columns(List<Aggregates.Compiled> functions) {
        return new AggregateColumns(functions);
    }

    @Override
    final Batch pull(int rows) {
        Batch input = source.next(SOURCE_ROWS);
        batch.reset(0, Drained.REMAIN);
        if (input.error() != null) {
            return batch.fail(input.error());
        }
        Drained state = input.drained();
        try {
            if (input.rows() > 0) {
                update(input);
            }
            if (pagingSize != 0 && Long.compareUnsigned(groups(), requiredRows(pagingSize)) >= 0) {
                state = Drained.PAGING_DRAIN;
            }
            emit(state);
        } catch (CoplaneException e) {
            return batch.fail(e);
        }
        account.holds(aggregates.heapBytes() + keyBytes() + batch.heapBytes());
        return batch;
    }

    /** Groups that fill a page. */
    long requiredRows(long pageRows) {
        return pageRows;
    }

    /** Adds the rows of a batch, at least one. */
    abstract void update(Batch input);

    /** Groups held. */
    abstract int groups();

    /** Fills {@link #batch} with what can be emitted. */
    abstract void emit(Drained state);

    abstract long keyBytes();

    abstract void releaseKeys();

    @Override
    public final void close() {
        source.close();
        aggregates.release();
        releaseKeys();
        account.close();
    }
}
