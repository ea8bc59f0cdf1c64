package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/** Kinds of files of the row store that a {@link FileInspector} can read. */
public enum RowFileKind {
    /** A table of levels 1 to 3. */
    SST,
    /** An L0 file, split or with several column families. */
    L0,
    /** A blob file. */
    BLOB,
    /** A txn chunk. */
    TXN_CHUNK;

    private static final int LEAST_BYTES = 28;

    /**
     * The kind of a file by its last bytes; where they say nothing, by its name.
     *
     * @param name file name or object key
     * @return null if neither says
     */
    public static RowFileKind of(MemorySegment bytes, String name) {
        long size = bytes.byteSize();
        if (size >= LEAST_BYTES) {
            int last = bytes.get(Layouts.LE_INT, size - Integer.BYTES);
            int before = bytes.get(Layouts.LE_INT, size - 2 * Integer.BYTES);
            if (last == Formats.SPLIT_L0_MAGIC || last == Formats.SST_MAGIC && before == Formats.CF_COUNT) {
                return L0;
            }
            if (last == Formats.SST_MAGIC) {
                return SST;
            }
            if (last == TxnChunkFooter.MAGIC) {
                return TXN_CHUNK;
            }
            if (before == BlobFooter.MAGIC) {
                return BLOB;
            }
        }
        int dot = name.lastIndexOf('.');
        return switch (dot < 0 ? "" : name.substring(dot + 1)) {
            case "sst" -> SST;
            case "blob" -> BLOB;
            case "txn" -> TXN_CHUNK;
            default -> null;
        };
    }
}
