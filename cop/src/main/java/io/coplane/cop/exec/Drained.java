package io.coplane.cop.exec;

/** What follows after a batch (coprocessor.md 3.3). */
public enum Drained {
    /** More may come. */
    REMAIN,
    /** The source is exhausted. */
    DRAIN,
    /** An aggregation decided that the page is full. */
    PAGING_DRAIN;

    /** True if the run loop ends after this batch. */
    public boolean stops() {
        return this != REMAIN;
    }
}
