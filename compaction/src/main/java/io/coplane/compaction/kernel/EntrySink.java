package io.coplane.compaction.kernel;

import io.coplane.sst.TableCursor;

/** Where a compaction's entries go. */
public interface EntrySink {
    /**
     * Another key comes, not the first one: the place to cut files.
     *
     * @param entry the key's newest entry
     * @param seen  entries looked at before it
     */
    void beforeKey(TableCursor entry, long seen);

    /** An entry that stays. */
    void add(TableCursor entry);

    /** An entry of which only a delete stays. */
    void addTombstone(TableCursor entry);

    /**
     * Whether the block that a cursor stands in, at its first key, may be added as it is stored if all its entries and all older versions of them stay.
     *
     * @param olderBytes of the older versions, at most
     */
    boolean takesBlock(TableCursor entry, long olderBytes);

    /** Whether an entry that stays would be stored as it is. */
    boolean keepsAsStored(TableCursor entry);

    /** Adds the block that a cursor stands in, at its first key, with all older versions; leaves it on the last key. @return entries added */
    int addBlock(TableCursor entry);
}
