package io.coplane.compaction.kernel;

import io.coplane.sst.TableCursor;

/** Where a compaction's entries go. */
public interface EntrySink {
    /** Another key comes, not the first one: the place to cut files. */
    void beforeKey();

    /** An entry that stays. */
    void add(TableCursor entry);

    /** An entry of which only a delete stays. */
    void addTombstone(TableCursor entry);
}
