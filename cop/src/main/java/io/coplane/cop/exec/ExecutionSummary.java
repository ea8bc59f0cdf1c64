package io.coplane.cop.exec;

import io.coplane.nativecache.Clock;

/** What one executor did, for {@code execution_summaries} (coprocessor.md 1.7). One thread. */
public final class ExecutionSummary {
    private final Clock clock;
    private long nanos;
    private long producedRows;
    private long iterations;
    private long peakBytes;

    /** @param clock measures the time of pulls, those of the executors below included */
    public ExecutionSummary(Clock clock) {
        this.clock = clock;
    }

    Clock clock() {
        return clock;
    }

    void add(long spentNanos, int rows) {
        nanos += spentNanos;
        producedRows += rows;
        iterations++;
    }

    void holds(long bytes) {
        peakBytes = Math.max(peakBytes, bytes);
    }

    /** Most heap bytes that the executor held at one time. */
    public long peakBytes() {
        return peakBytes;
    }

    /** Time in pulls, nanoseconds. */
    public long nanos() {
        return nanos;
    }

    /** Rows returned. */
    public long producedRows() {
        return producedRows;
    }

    /** Pulls. */
    public long iterations() {
        return iterations;
    }
}
