package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/**
 * Footer of a txn chunk: the last 20 bytes of the file (snapshot.md 7.1). All integers little-endian.
 *
 * <pre>
 * at  bytes  field             unit and bounds
 *  0      4  indexOffset       end of the blocks, which start at 0
 *  4      4  hashIndexOffset   indexOffset ..
 *  8      4  propertiesOffset  hashIndexOffset .. file bytes - 20
 * 12      1  reserved          0
 * 13      1  checksumType      0 .. 2; any other is taken as none
 * 14      2  formatVersion     1
 * 16      4  magic             0xA608B6CC
 * </pre>
 *
 * Each of the three sections ends with a checksum of 4 bytes over the rest of it.
 */
record TxnChunkFooter(
        long indexOffset, long hashIndexOffset, long propertiesOffset, long footerOffset, ChecksumType checksum) {
    static final int MAGIC = 0xA608_B6CC;
    static final int FORMAT = 1;

    static final int HASH_INDEX_AT = Integer.BYTES;
    static final int PROPERTIES_AT = HASH_INDEX_AT + Integer.BYTES;
    static final int RESERVED_AT = PROPERTIES_AT + Integer.BYTES;
    static final int CHECKSUM_AT = RESERVED_AT + Byte.BYTES;
    static final int FORMAT_AT = CHECKSUM_AT + Byte.BYTES;
    static final int MAGIC_AT = FORMAT_AT + Short.BYTES;
    static final int BYTES = MAGIC_AT + Integer.BYTES;

    static TxnChunkFooter read(MemorySegment bytes, String file) {
        long at = bytes.byteSize() - BYTES;
        if (at < 0) {
            throw FileErrors.truncated(file, 0, "Invalid file size");
        }
        if (bytes.get(Layouts.LE_INT, at + MAGIC_AT) != MAGIC) {
            throw FileErrors.format(file, at + MAGIC_AT, "Invalid magic number");
        }
        if (bytes.get(Layouts.LE_SHORT, at + FORMAT_AT) != FORMAT) {
            throw FileErrors.format(file, at + FORMAT_AT, "unknown txn chunk format version");
        }
        int checksum = bytes.get(Layouts.BYTE, at + CHECKSUM_AT) & 0xFF;
        var footer = new TxnChunkFooter(
                unsigned(bytes, at),
                unsigned(bytes, at + HASH_INDEX_AT),
                unsigned(bytes, at + PROPERTIES_AT),
                at,
                checksum < ChecksumType.values().length ? ChecksumType.values()[checksum] : ChecksumType.NONE);
        boolean ascending = footer.indexOffset <= footer.hashIndexOffset
                && footer.hashIndexOffset <= footer.propertiesOffset
                && footer.propertiesOffset <= at;
        if (!ascending) {
            throw FileErrors.format(file, at, "sections of the footer don't follow each other");
        }
        return footer;
    }

    private static long unsigned(MemorySegment bytes, long at) {
        return bytes.get(Layouts.LE_INT, at) & 0xFFFF_FFFFL;
    }
}
