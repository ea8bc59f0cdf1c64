package io.coplane.worker.replay;

/** How a data set is laid out. */
public enum Shape {
    /** All rows in the request's memtable. */
    MEM,
    /** All rows in files of levels 1 to 3, compressed as the reference compresses them. */
    LN,
    /** Versions spread over memtable, split and plain L0 files and levels, newer ones in newer places. */
    MIXED
}
