package io.coplane.compaction;

import java.util.concurrent.atomic.LongAdder;

/**
 * How far one compaction is: written by the compaction, read by whoever shows it. Numbers only grow, but not in step with one another. Thread-safe;
 * one compaction each, or one that follows another.
 */
public final class CompactionProgress {
    private final LongAdder inputBytes = new LongAdder();
    private final LongAdder inputBytesRead = new LongAdder();
    private final LongAdder outputs = new LongAdder();
    private final LongAdder outputBytes = new LongAdder();

    private volatile CompactionProgress followed; // null: none

    /** The progress of a compaction that didn't begin yet. */
    public CompactionProgress() {}

    void addInput(long bytes) {
        inputBytes.add(bytes);
    }

    void addRead(long bytes) {
        inputBytesRead.add(bytes);
    }

    void addOutput(long bytes) {
        outputs.increment();
        outputBytes.add(bytes);
    }

    /**
     * Tells what another one tells from now on: both wait for one compaction. Nothing may be added to this one.
     *
     * @param other not one that follows this one
     */
    public void follow(CompactionProgress other) {
        followed = other == this ? null : other;
    }

    private CompactionProgress source() {
        CompactionProgress other = followed;
        return other == null ? this : other.source();
    }

    /** Bytes of the input files that were found; 0 until they are opened. */
    public long inputBytes() {
        return source().inputBytes.sum();
    }

    /** Bytes of inputs read. A little less than all at the end (filters aren't read), or more (a block may be read twice). */
    public long inputBytesRead() {
        return source().inputBytesRead.sum();
    }

    /** Files stored, the store having said so. */
    public long outputs() {
        return source().outputs.sum();
    }

    /** Bytes of them. */
    public long outputBytes() {
        return source().outputBytes.sum();
    }
}
