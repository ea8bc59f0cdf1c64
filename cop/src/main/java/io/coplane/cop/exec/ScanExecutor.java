package io.coplane.cop.exec;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.snapshot.RowBuffer;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import java.util.List;

/**
 * What table and index scans share: rows in, cells out, the error of a bad entry behind the good rows before it. A scan without columns reads
 * and counts its entries but produces no rows (coprocessor.md 10). Owns its row buffer; borrows the source.
 */
abstract class ScanExecutor extends Executor {
    private final RangesReader reader;
    private final HeapAccount account;
    final RowBuffer rows;
    final Batch batch;

    ScanExecutor(
            List<FieldType> schema,
            ExecutionSummary summary,
            EvalContext context,
            MemoryGuard guard,
            RangesReader reader) {
        super(schema, summary);
        this.reader = reader;
        rows = new RowBuffer(guard);
        batch = new Batch(context, schema);
        account = new HeapAccount(guard, summary);
    }

    @Override
    final Batch pull(int wanted) {
        if (reader.isPageEnded()) {
            return endOfPage();
        }
        CoplaneException failure = null;
        boolean exhausted = false;
        try {
            exhausted = reader.read(rows, wanted);
        } catch (CoplaneException e) {
            failure = e;
        }
        int count = rows.rows();
        beginBatch(count);
        int done = 0;
        try {
            done = batch.columnCount() > 0 ? bulk(count) : 0;
            for (; done < count && batch.columnCount() > 0; done++) {
                row(done);
            }
        } catch (CoplaneException e) {
            failure = e;
        }
        batch.reset(done, exhausted ? Drained.DRAIN : Drained.REMAIN);
        batch.setError(failure);
        endBatch(done);
        account.holds(batch.heapBytes() + columnBytes());
        return batch;
    }

    private Batch endOfPage() {
        rows.clear();
        beginBatch(0);
        batch.reset(0, Drained.PAGING_DRAIN);
        endBatch(0);
        return batch;
    }

    /** Prepares the columns for at most {@code count} rows. */
    abstract void beginBatch(int count);

    /**
     * Splits entries into cells column by column, as many as have a plain form.
     *
     * @return how many, from the first; the next one goes to {@link #row}, which also finds its error
     */
    int bulk(int count) {
        return 0;
    }

    /** Splits one entry into cells; a failure leaves the rows before it whole. */
    abstract void row(int row);

    /** Hands the columns of {@code count} good rows to the batch. */
    abstract void endBatch(int count);

    /** Heap bytes of the columns that the batch borrows. */
    abstract long columnBytes();

    @Override
    public void close() {
        rows.close();
        account.close();
    }
}
