package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import java.lang.foreign.MemorySegment;

/**
 * The tiny meta of one table, as it stands in a {@link MetaPack} (sst.md 10). Arrays are neither copied nor changed.
 *
 * <pre>
 * at    bytes  field           unit and bounds
 *  0        8  fileId          little-endian, as all here
 *  8        1  flags           bit 0: segment offsets follow; others are ignored
 *  9        4  length
 * 13   length  tinyMeta        properties and footer of the table
 *  .        4  count           of segment offsets; this and the next only with bit 0
 *  .  4 count  segmentOffsets
 * </pre>
 *
 * @param tinyMeta       for {@link TinyMeta#open}
 * @param segmentOffsets of {@link MetaFile#segmentOffsets}, unsigned; null if not noted
 */
public record TinyMetaRecord(long fileId, byte[] tinyMeta, int[] segmentOffsets) {
    static final int LENGTH_AT = Long.BYTES + Byte.BYTES;
    static final int HEADER_BYTES = LENGTH_AT + Integer.BYTES;
    private static final int FLAGS_AT = Long.BYTES;
    private static final int WITH_SEGMENT_OFFSETS = 1;
    private static final int LEAST_OFFSETS = 2;

    /** Properties hold two keys of 64 KiB and little more; offsets of a file of 4 GiB and the least segment are fewer. */
    private static final int MAX_PART_BYTES = 16 << 20;

    /** Whether the noted segment offsets can be used; else they are computed anew. */
    public boolean hasSegmentOffsets() {
        return segmentOffsets != null && segmentOffsets.length >= LEAST_OFFSETS;
    }

    /** The table's tiny meta, over the record's bytes. */
    public TinyMeta open() {
        return TinyMeta.open(MemorySegment.ofArray(tinyMeta), fileId);
    }

    /** Bytes of the encoded record. */
    public long encodedBytes() {
        long offsets = segmentOffsets == null ? 0 : Integer.BYTES * (1L + segmentOffsets.length);
        return HEADER_BYTES + tinyMeta.length + offsets;
    }

    /** The encoded record. */
    public byte[] encode() {
        byte[] out = new byte[Math.toIntExact(encodedBytes())];
        Bytes.LE_LONG.set(out, 0, fileId);
        out[FLAGS_AT] = (byte) (segmentOffsets == null ? 0 : WITH_SEGMENT_OFFSETS);
        Bytes.LE_INT.set(out, LENGTH_AT, tinyMeta.length);
        System.arraycopy(tinyMeta, 0, out, HEADER_BYTES, tinyMeta.length);
        if (segmentOffsets != null) {
            int at = HEADER_BYTES + tinyMeta.length;
            Bytes.LE_INT.set(out, at, segmentOffsets.length);
            for (int offset : segmentOffsets) {
                at += Integer.BYTES;
                Bytes.LE_INT.set(out, at, offset);
            }
        }
        return out;
    }

    /** Reads parts of a record, one after another. */
    interface Source {
        /** Bytes that are left. */
        long left();

        /** The next bytes; {@code count} is at most what is left. */
        byte[] take(int count);

        /** Where the next bytes are, for messages. */
        String place();
    }

    /**
     * Reads the next record.
     *
     * @throws CoplaneException of code FILE_TRUNCATED if it is cut
     */
    static TinyMetaRecord read(Source from) {
        byte[] header = take(from, HEADER_BYTES, "length mismatch");
        long fileId = (long) Bytes.LE_LONG.get(header, 0);
        long length = (int) Bytes.LE_INT.get(header, LENGTH_AT) & 0xFFFF_FFFFL;
        byte[] tinyMeta = take(from, length, "data length mismatch");
        if ((header[FLAGS_AT] & WITH_SEGMENT_OFFSETS) == 0) {
            return new TinyMetaRecord(fileId, tinyMeta, null);
        }
        byte[] count = take(from, Integer.BYTES, "segment offsets length mismatch");
        long offsetCount = (int) Bytes.LE_INT.get(count, 0) & 0xFFFF_FFFFL;
        byte[] encoded = take(from, Integer.BYTES * offsetCount, "segment offsets data length mismatch");
        int[] offsets = new int[encoded.length / Integer.BYTES];
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = (int) Bytes.LE_INT.get(encoded, Integer.BYTES * i);
        }
        return new TinyMetaRecord(fileId, tinyMeta, offsets);
    }

    private static byte[] take(Source from, long count, String what) {
        if (from.left() < count || count > MAX_PART_BYTES) {
            throw MetaPack.corrupted(what + ": " + from.left() + " < " + count, from.place());
        }
        return from.take((int) count);
    }
}
