package io.coplane.cop.exec;

import io.coplane.cop.expr.Expression;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.EvalContext;
import java.util.List;

/** The n least rows in order (coprocessor.md 3.9). */
public final class TopN extends Executor {
    private static final int SOURCE_ROWS = 1024;

    private final Executor source;
    private final KeyExpressions keys;
    private final TopNHeap heap;
    private final RowStore sorted;
    private final Batch batch;
    private final EvalContext context;
    private final HeapAccount account;
    private final boolean empty;
    private final boolean transparent;

    /**
     * @param descending one per key
     * @param limit rows, unsigned
     * @param pagingSize rows of a page; 0 = no paging. With more rows wanted than a page has, rows pass through unsorted
     */
    public TopN(
            Executor source,
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
        keys = new KeyExpressions(orderBy);
        empty = limit == 0;
        transparent = !empty && pagingSize != 0 && Long.compareUnsigned(limit, pagingSize) > 0;
        heap = new TopNHeap(schema(), keys, descending.clone(), limit < 0 ? Long.MAX_VALUE : limit);
        sorted = new RowStore(schema());
        batch = new Batch(context, schema());
        account = new HeapAccount(guard, summary);
    }

    @Override
    Batch pull(int rows) {
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
                keys.evaluate(context, input);
                heap.begin(input.rows());
                heap.add(input, 0, input.rows());
            } catch (CoplaneException e) {
                return input.fail(e);
            }
        }
        if (state.stops()) {
            heap.flush(sorted);
        }
        account.holds(keys.heapBytes() + heap.heapBytes() + sorted.heapBytes());
        sorted.show(batch, state.stops() ? Drained.DRAIN : Drained.REMAIN);
        return batch;
    }

    @Override
    public void close() {
        source.close();
        keys.release();
        account.close();
    }
}
