package io.coplane.sst;

import io.coplane.nativecache.memory.NativeArena;

/**
 * Rows that are not in a file yet, in native memory and in the form of blocks, so that one cursor class walks them as it walks files.
 *
 * <p>Borrows the memory of the arena it was finished into. Immutable, thread-safe.
 */
public final class MemTable {
    private final BlockTable blocks;
    private final long entries;
    private final long byteSize;

    MemTable(BlockTable blocks, long entries, long byteSize) {
        this.blocks = blocks;
        this.entries = entries;
        this.byteSize = byteSize;
    }

    /**
     * A cursor over this memtable.
     *
     * @param arena owns the cursor's scratch memory; borrowed
     */
    public TableCursor cursor(boolean reverse, NativeArena arena) {
        return new TableCursor(new BlockTable[] {blocks}, reverse, arena);
    }

    /** Rows, all versions. */
    public long entries() {
        return entries;
    }

    /** Native bytes. */
    public long byteSize() {
        return byteSize;
    }

    /** Whether a key lies within the bounds of the table. */
    public boolean spans(byte[] key, int offset, int length) {
        return entries > 0 && blocks.spans(key, offset, length);
    }
}
