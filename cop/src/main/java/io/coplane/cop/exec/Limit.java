package io.coplane.cop.exec;

import io.coplane.nativecache.CoplaneException;

/** The first n rows (coprocessor.md 3.10). */
public final class Limit extends Executor {
    private final Executor source;
    private final boolean overScan;
    private final Batch none;
    private long remaining;

    /**
     * @param limit rows, unsigned
     * @param overScan true if the source is the scan: then no more rows are read than are needed
     */
    public Limit(Executor source, long limit, boolean overScan, ExecutionSummary summary) {
        super(source.schema(), summary);
        this.source = source;
        this.overScan = overScan;
        none = new Batch(null, schema());
        remaining = limit < 0 ? Long.MAX_VALUE : limit;
    }

    @Override
    Batch pull(int rows) {
        if (overScan && remaining == 0) {
            none.reset(0, Drained.DRAIN);
            for (int i = 0; i < none.columnCount(); i++) {
                none.lazy(i).setRaw(null);
            }
            return none;
        }
        Batch batch = source.next(overScan ? (int) Math.min(rows, remaining) : rows);
        if (batch.rows() < remaining) {
            remaining -= batch.rows();
            CoplaneException failure = batch.error();
            return failure == null ? batch : batch.fail(failure);
        }
        // a failure behind the rows that are needed does not matter
        batch.truncate((int) remaining);
        batch.setError(null);
        batch.setDrained(Drained.DRAIN);
        remaining = 0;
        return batch;
    }

    @Override
    public void close() {
        source.close();
    }
}
