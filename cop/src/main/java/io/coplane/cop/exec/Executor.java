package io.coplane.cop.exec;

import io.coplane.nativecache.Clock;
import io.coplane.types.FieldType;
import java.util.List;

/** One step of the pipeline. Pulls batches from the one below it; what it returns is valid until its next pull. One thread. */
public abstract class Executor implements AutoCloseable {
    private final List<FieldType> schema;
    private final ExecutionSummary summary;

    Executor(List<FieldType> schema, ExecutionSummary summary) {
        this.schema = List.copyOf(schema);
        this.summary = summary;
    }

    /** Types of the columns of the batches. */
    public final List<FieldType> schema() {
        return schema;
    }

    /**
     * The next batch.
     *
     * @param rows how many rows are wanted of the scan; a hint for all others
     */
    public final Batch next(int rows) {
        Clock clock = summary.clock();
        long start = clock.nanoTime();
        Batch batch = pull(rows);
        summary.add(clock.nanoTime() - start, batch.rows());
        return batch;
    }

    /** Does the work of {@link #next}. */
    abstract Batch pull(int rows);

    /** Frees what this executor and those below it own and gives back what they charged. Idempotent. */
    @Override
    public abstract void close();
}
