package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/** Header of a zstd frame (RFC 8878, 3.1.1): how much it decodes to, before any memory is taken for it. */
final class ZstdFrame {
    private static final int MAGIC = 0xFD2F_B528;
    private static final int BLOCK_HEADER_BYTES = 3;
    private static final long GREATEST_BLOCK_BYTES = 128 << 10;
    private static final int RAW = 0;
    private static final int RLE = 1;

    private ZstdFrame() {}

    /**
     * The content size that the frame names, if its blocks can hold that much.
     *
     * @param from first byte of the frame; in bounds
     * @param to   end of the frame; in bounds
     */
    static long contentBytes(MemorySegment bytes, long from, long to, String file, long offset) {
        if (to - from < Integer.BYTES + 1 || bytes.get(Layouts.LE_INT, from) != MAGIC) {
            throw FileErrors.format(file, offset, "no zstd frame");
        }
        int descriptor = bytes.get(Layouts.BYTE, from + Integer.BYTES) & 0xFF;
        boolean singleSegment = (descriptor & 0x20) != 0;
        int sizeFlag = descriptor >>> 6;
        int sizeBytes = sizeFlag == 0 ? (singleSegment ? 1 : 0) : 1 << sizeFlag;
        int dictionaryFlag = descriptor & 3;
        int dictionaryBytes = dictionaryFlag == 3 ? Integer.BYTES : dictionaryFlag;
        long at = from + Integer.BYTES + 1 + (singleSegment ? 0 : 1) + dictionaryBytes;
        if (sizeBytes == 0 || at + sizeBytes > to) {
            throw FileErrors.format(file, offset, "zstd frame has no content size");
        }
        long content = switch (sizeBytes) {
            case 1 -> bytes.get(Layouts.BYTE, at) & 0xFF;
            case 2 -> (bytes.get(Layouts.LE_SHORT, at) & 0xFFFF) + 256;
            case 4 -> bytes.get(Layouts.LE_INT, at) & 0xFFFF_FFFFL;
            default -> bytes.get(Layouts.LE_LONG, at);
        };
        if (content <= 0 || content > Integer.MAX_VALUE || content > capacity(bytes, at + sizeBytes, to, content)) {
            throw FileErrors.format(
                    file, offset, "zstd frame can't have this content size: bytes=" + Long.toUnsignedString(content));
        }
        return content;
    }

    /** The most that the blocks of a frame can decode to; counts no further than {@code enough}. */
    private static long capacity(MemorySegment bytes, long from, long to, long enough) {
        long capacity = 0;
        long at = from;
        boolean last = false;
        while (!last && at + BLOCK_HEADER_BYTES <= to && capacity < enough) {
            int header = (bytes.get(Layouts.LE_SHORT, at) & 0xFFFF)
                    | (bytes.get(Layouts.BYTE, at + Short.BYTES) & 0xFF) << Short.SIZE;
            last = (header & 1) != 0;
            int type = (header >>> 1) & 3;
            int size = header >>> BLOCK_HEADER_BYTES;
            capacity += type == RAW || type == RLE ? size : GREATEST_BLOCK_BYTES;
            at += BLOCK_HEADER_BYTES + (type == RLE ? 1 : size);
        }
        return capacity;
    }
}
