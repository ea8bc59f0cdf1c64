package io.coplane.sst;

import io.coplane.nativecache.ErrorCode;
import java.lang.foreign.MemorySegment;

/**
 * Told what a {@link FileInspector} finds, in the order of the file's description: per table its footer, sections, properties, then its blocks with
 * their entries. What is handed over is valid during the call only.
 */
public interface FileVisitor {
    /** Whether entries are wanted; blocks are read and checked all the same. */
    boolean wantsEntries();

    /** Begins a table of the file: a column family of an L0 file, or all there is, then with an empty name. */
    void beginTable(String name);

    /** A field of the table's footer or tail. */
    void footer(String name, long value);

    /** A section; {@code offset} from the start of the file. */
    void section(String name, long offset, long bytes);

    /** A property that is a number. */
    void property(String name, long value);

    /** A property that is a key. */
    void property(String name, byte[] value);

    /** Begins a block that is sound. */
    void beginBlock(BlockInfo block);

    /** An entry of the block begun last. */
    void entry(EntryInfo entry);

    /** Ends the block begun last. */
    void endBlock();

    /** Ends the table begun last. */
    void endTable();

    /** Something that must not be; {@code offset}: where the broken field, section, block or record begins. */
    void problem(ErrorCode code, long offset, String what);

    /**
     * A block of a table, of a txn chunk, or a record of a blob file.
     *
     * @param kind      {@code main}, {@code old}, {@code txn} or {@code record}
     * @param offset    from the start of the file
     * @param bytes     as stored
     * @param bodyBytes decoded; -1 if only the reference to it tells
     * @param entries   in it
     * @param firstKey  inner key; empty for a record
     */
    record BlockInfo(String kind, int index, long offset, long bytes, long bodyBytes, long entries, byte[] firstKey) {}

    /**
     * An entry.
     *
     * @param key        inner key
     * @param version    unsigned; 0 in a txn chunk
     * @param bits       of {@link ValueMeta}, or the op of a txn chunk
     * @param oldVersion of the next older entry of the key, 0 if there is none
     * @param blob       null unless the value is in a blob file
     */
    record EntryInfo(
            byte[] key,
            long version,
            int bits,
            long oldVersion,
            MemorySegment userMeta,
            MemorySegment value,
            BlobRef blob) {}
}
