package io.coplane.cop.exec;

import io.coplane.cop.expr.Expression;
import io.coplane.cop.kernel.ColumnRows;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.EvalContext;
import io.coplane.types.column.Column;
import java.util.List;

/** The first n rows and those behind them whose key is that of the n-th; the input is sorted by the key (coprocessor.md 3.10). */
public final class RankLimit extends Executor {
    private static final int MAX_BATCH_ROWS = 1024;

    private final Executor source;
    private final boolean overScan;
    private final KeyExpressions keys;
    private final EvalContext context;
    private final HeapAccount account;
    private final Column[] lastKey;
    private boolean hasKey;
    private long remaining;

    /**
     * @param limit rows, unsigned
     * @param overScan true if the source is the scan
     */
    public RankLimit(
            Executor source,
            List<Expression> truncateKeys,
            long limit,
            boolean overScan,
            ExecutionSummary summary,
            EvalContext context,
            MemoryGuard guard) {
        super(source.schema(), summary);
        this.source = source;
        this.overScan = overScan;
        this.context = context;
        keys = new KeyExpressions(truncateKeys);
        account = new HeapAccount(guard, summary);
        lastKey = new Column[keys.count()];
        for (int i = 0; i < lastKey.length; i++) {
            lastKey[i] = ColumnRows.create(keys.expression(i).fieldType().evalType());
        }
        remaining = limit < 0 ? Long.MAX_VALUE : limit;
    }

    @Override
    Batch pull(int rows) {
        int wanted = rows;
        if (overScan) {
            wanted = remaining == 0 ? MAX_BATCH_ROWS : (int) Math.min(rows, remaining);
        }
        if (remaining == 0 && !hasKey) {
            Batch empty = new Batch(context, schema());
            empty.reset(0, Drained.DRAIN);
            return empty;
        }
        Batch batch = source.next(wanted);
        if (batch.error() != null) {
            return batch.fail(batch.error());
        }
        int count = batch.rows();
        if (count == 0) {
            return batch;
        }
        try {
            if (count <= remaining) {
                remaining -= count;
                if (remaining == 0) {
                    keys.evaluate(context, batch);
                    recordKey(count - 1);
                }
                return batch;
            }
            keys.evaluate(context, batch);
            int cut = cut(count);
            if (cut < count) {
                batch.truncate(cut);
                batch.setDrained(Drained.DRAIN);
            }
        } catch (CoplaneException e) {
            return batch.fail(e);
        }
        return batch;
    }

    private int cut(int count) {
        int row = (int) remaining;
        if (remaining > 0) {
            recordKey(row - 1);
            remaining = 0;
        }
        while (row < count && keys.sameKey(lastKey, 0, keys.comparable(), row)) {
            row++;
        }
        return row;
    }

    private void recordKey(int row) {
        long bytes = keys.heapBytes();
        for (int i = 0; i < lastKey.length; i++) {
            ColumnRows.clear(lastKey[i]);
            ColumnRows.appendRow(keys.comparable()[i], row, lastKey[i]);
            bytes += lastKey[i].heapBytes();
        }
        account.holds(bytes);
        hasKey = true;
    }

    @Override
    public void close() {
        source.close();
        keys.release();
        account.close();
    }
}
