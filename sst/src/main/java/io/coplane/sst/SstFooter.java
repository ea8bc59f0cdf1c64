package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/**
 * SST footer: the last 28 bytes of a table (sst.md 3.2). All integers little-endian.
 *
 * <pre>
 * at  bytes  field             unit and bounds
 *  0      4  oldDataOffset     bytes from table start; at least 1 block before
 *  4      4  indexOffset       oldDataOffset .. ; the meta offset of a table file
 *  8      4  oldIndexOffset    indexOffset ..
 * 12      4  filterOffset      oldIndexOffset ..
 * 16      4  propertiesOffset  filterOffset .. table bytes - 28
 * 20      1  compressionType   0 .. 2
 * 21      1  checksumType      0 .. 2
 * 22      2  formatVersion     1
 * 24      4  magic             0xAF454059, split L0 tables 0xAF45405A
 * </pre>
 *
 * Offsets here are absolute in the file: the start of the table is added when read.
 */
record SstFooter(
        long tableStart,
        long oldDataOffset,
        long indexOffset,
        long oldIndexOffset,
        long filterOffset,
        long propertiesOffset,
        long footerOffset,
        CompressionType compression,
        ChecksumType checksum,
        int magic) {
    static final int OLD_DATA_AT = 0;
    static final int INDEX_AT = OLD_DATA_AT + Integer.BYTES;
    static final int OLD_INDEX_AT = INDEX_AT + Integer.BYTES;
    static final int FILTER_AT = OLD_INDEX_AT + Integer.BYTES;
    static final int PROPERTIES_AT = FILTER_AT + Integer.BYTES;
    static final int COMPRESSION_AT = PROPERTIES_AT + Integer.BYTES;
    static final int CHECKSUM_AT = COMPRESSION_AT + Byte.BYTES;
    static final int FORMAT_AT = CHECKSUM_AT + Byte.BYTES;
    static final int MAGIC_AT = FORMAT_AT + Short.BYTES;
    static final int BYTES = MAGIC_AT + Integer.BYTES;

    /** Reads and checks the footer of the table in {@code start .. end - 1} of a file; both are in bounds. */
    static SstFooter read(MemorySegment bytes, long start, long end, String file) {
        if (end - start < BYTES) {
            throw FileErrors.truncated(file, start, "Invalid file size");
        }
        return readAt(bytes, end - BYTES, start, end, file);
    }

    /** As the other one, for bytes that are a part of the file: the footer is at {@code at} in them. */
    static SstFooter readAt(MemorySegment bytes, long at, long start, long end, String file) {
        long footerAt = end - BYTES;
        int magic = bytes.get(Layouts.LE_INT, at + MAGIC_AT);
        if (magic != Formats.SST_MAGIC && magic != Formats.SPLIT_L0_MAGIC) {
            throw FileErrors.format(file, footerAt + MAGIC_AT, "Invalid magic number");
        }
        int format = bytes.get(Layouts.LE_SHORT, at + FORMAT_AT);
        if (format != Formats.TABLE_FORMAT) {
            throw FileErrors.format(file, footerAt + FORMAT_AT, "unknown table format version " + (format & 0xFFFF));
        }
        var footer = new SstFooter(
                start,
                start + unsigned(bytes, at + OLD_DATA_AT),
                start + unsigned(bytes, at + INDEX_AT),
                start + unsigned(bytes, at + OLD_INDEX_AT),
                start + unsigned(bytes, at + FILTER_AT),
                start + unsigned(bytes, at + PROPERTIES_AT),
                footerAt,
                CompressionType.of(
                        bytes.get(Layouts.BYTE, at + COMPRESSION_AT) & 0xFF, file, footerAt + COMPRESSION_AT),
                ChecksumType.of(bytes.get(Layouts.BYTE, at + CHECKSUM_AT) & 0xFF, file, footerAt + CHECKSUM_AT),
                magic);
        boolean ascending = footer.oldDataOffset <= footer.indexOffset
                && footer.indexOffset <= footer.oldIndexOffset
                && footer.oldIndexOffset <= footer.filterOffset
                && footer.filterOffset <= footer.propertiesOffset
                && footer.propertiesOffset <= footerAt;
        if (!ascending) {
            throw FileErrors.format(file, footerAt, "sections of the footer don't follow each other");
        }
        return footer;
    }

    /** Checks that a table's end is one, by magic and format (sst.md 3.2: {@code is_match}); else fails with {@code message}. */
    static void requireMatch(MemorySegment bytes, String file, String message) {
        long at = bytes.byteSize() - BYTES;
        if (at < 0) {
            throw FileErrors.truncated(file, 0, message);
        }
        int magic = bytes.get(Layouts.LE_INT, at + MAGIC_AT);
        boolean match = (magic == Formats.SST_MAGIC || magic == Formats.SPLIT_L0_MAGIC)
                && bytes.get(Layouts.LE_SHORT, at + FORMAT_AT) == Formats.TABLE_FORMAT;
        if (!match) {
            throw FileErrors.format(file, at + FORMAT_AT, message);
        }
    }

    private static long unsigned(MemorySegment bytes, long at) {
        return bytes.get(Layouts.LE_INT, at) & 0xFFFF_FFFFL;
    }
}
