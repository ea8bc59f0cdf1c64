package io.coplane.cop.exec;

import io.coplane.cop.expr.Expression;
import io.coplane.cop.kernel.ColumnRows;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.EvalContext;
import io.coplane.types.column.Column;
import java.util.List;

/** The n least rows of each partition; rows of a partition are adjacent (coprocessor.md 3.9). */
public final class PartitionTopN extends Executor {
    private static final int SOURCE_ROWS = 1024;

    private final Executor source;
    private final KeyExpressions partitions;
    private final KeyExpressions keys;
    private final TopNHeap heap;
    private final RowStore sorted;
    private final Batch batch;
    private final EvalContext context;
    private final HeapAccount account;
    private final boolean empty;
    private final boolean transparent;
    private final Column[] lastPartition;
    private boolean hasPartition;

    /**
     * @param descending one per order key
     * @param limit rows of each partition, unsigned
     * @param pagingSize rows of a page; 0 = no paging. If two partitions may not fit, rows pass through
     */
    public PartitionTopN(
            Executor source,
            List<Expression> partitionBy,
            List<Expression> orderBy,
            boolean[] descending,
            long limit,
            long pagingSize,
            ExecutionSummary summary,
            EvalContext context,
            MemoryGuard guard) {
        super(source.schema(), summary);
        this.source = source;
        this.context = context;
        partitions = new KeyExpressions(partitionBy);
        keys = new KeyExpressions(orderBy);
        empty = limit == 0;
        long twice = limit < 0 || limit > Long.MAX_VALUE / 2 ? Long.MAX_VALUE : 2 * limit;
        transparent = !empty && pagingSize != 0 && Long.compareUnsigned(twice, pagingSize) > 0;
        heap = new TopNHeap(schema(), keys, descending.clone(), limit < 0 ? Long.MAX_VALUE : limit);
        sorted = new RowStore(schema());
        batch = new Batch(context, schema());
        account = new HeapAccount(guard, summary);
        lastPartition = new Column[partitions.count()];
        for (int i = 0; i < lastPartition.length; i++) {
            lastPartition[i] =
                    ColumnRows.create(partitions.expression(i).fieldType().evalType());
        }
    }

    @Override
    Batch pull(int rows) {
        sorted.clear();
        if (empty) {
            sorted.show(batch, Drained.DRAIN);
            return batch;
        }
        if (transparent) {
            return source.next(rows);
        }
        Batch input = source.next(SOURCE_ROWS);
        if (input.error() != null) {
            return input.fail(input.error());
        }
        Drained state = input.drained();
        if (input.rows() > 0) {
            try {
                add(input);
            } catch (CoplaneException e) {
                return input.fail(e);
            }
        }
        if (state.stops()) {
            heap.flush(sorted);
        }
        account.holds(partitions.heapBytes() + keys.heapBytes() + heap.heapBytes() + sorted.heapBytes());
        sorted.show(batch, state);
        return batch;
    }

    private void add(Batch input) {
        partitions.evaluate(context, input);
        keys.evaluate(context, input);
        int count = input.rows();
        heap.begin(count);
        Column[] now = partitions.comparable();
        if (hasPartition && !partitions.sameKey(lastPartition, 0, now, 0)) {
            heap.flush(sorted);
        }
        int start = 0;
        for (int row = 1; row < count; row++) {
            if (!partitions.sameKey(now, row - 1, now, row)) {
                heap.add(input, start, row);
                heap.flush(sorted);
                start = row;
            }
        }
        heap.add(input, start, count);
        for (int i = 0; i < lastPartition.length; i++) {
            ColumnRows.clear(lastPartition[i]);
            ColumnRows.appendRow(now[i], count - 1, lastPartition[i]);
        }
        hasPartition = true;
    }

    @Override
    public void close() {
        source.close();
        partitions.release();
        keys.release();
        account.close();
    }
}
