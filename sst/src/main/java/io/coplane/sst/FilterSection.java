package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/**
 * Header of the filter section (sst.md 3.6).
 *
 * <pre>
 * at  bytes  field     unit and bounds
 *  0      4  checksum  of everything behind it
 *  4      4  type      1: Binary Fuse 8
 *  8      4  length    bytes behind it; all that is left
 * </pre>
 */
final class FilterSection {
    static final int TYPE_AT = Formats.CHECKSUM_BYTES;
    static final int LENGTH_AT = TYPE_AT + Integer.BYTES;
    static final int HEADER_BYTES = LENGTH_AT + Integer.BYTES;

    private FilterSection() {}

    /** Checks type and length of the section in {@code from .. to - 1}, which are in bounds. */
    static void check(MemorySegment bytes, long from, long to, String file) {
        if (to - from < HEADER_BYTES) {
            throw FileErrors.format(file, from, "filter section is cut");
        }
        if (bytes.get(Layouts.LE_INT, from + TYPE_AT) != Formats.FILTER_TYPE) {
            throw FileErrors.format(
                    file, from + TYPE_AT, "unknown filter type " + bytes.get(Layouts.LE_INT, from + TYPE_AT));
        }
        long length = bytes.get(Layouts.LE_INT, from + LENGTH_AT) & 0xFFFF_FFFFL;
        if (length != to - from - HEADER_BYTES) {
            throw FileErrors.format(file, from + LENGTH_AT, "filter has another length than it says: bytes=" + length);
        }
    }
}
