package io.coplane.worker.replay;

import java.util.Locale;

/** How a data set is laid out. */
public enum Shape {
    /** All rows in the request's memtable. */
    MEM,
    /** All rows in L0 files, split ones and ones with all column families, newer versions in newer files. */
    L0,
    /** All rows in files of levels 1 to 3, compressed as the reference compresses them. */
    LN,
    /** Versions spread over memtable, split and plain L0 files and levels, newer ones in newer places. */
    MIXED,
    /** As {@link #MIXED}, with every value of some length in a blob file that its table file refers to. */
    BLOB,
    /** As {@link #MIXED}, with the largest transactions in txn files; older versions lie below. */
    TXN,
    /** As {@link #TXN} and {@link #BLOB} together, in a shard with an encryption key; files are written with several versions of it. */
    ENCRYPTED;

    /** The name as users write it. */
    String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
