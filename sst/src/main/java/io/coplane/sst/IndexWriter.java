package io.coplane.sst;

import java.lang.foreign.MemorySegment;
import java.util.zip.Checksum;

/** Writes index sections (sst.md 3.5, 7.1; layout in {@link BlockIndex}). */
final class IndexWriter {
    private static final int KEY_AT = 2 * Integer.BYTES;

    private IndexWriter() {}

    /**
     * Appends the index of an SST, with its checksum.
     *
     * @param blockKeys per block: keyLength (4), offset of the block (4), key
     * @param fileId    origin of all blocks
     * @param base      file offset of the first block
     * @param checksum  null for none
     */
    static void write(NativeBytes blockKeys, int count, long fileId, long base, NativeBytes to, Checksum checksum) {
        int start = to.length;
        int prefix = prefix(blockKeys, count);
        header(blockKeys, count, prefix, to);
        int at = 0;
        for (int i = 0; i < count; i++) {
            int offset = Math.toIntExact(base + blockKeys.intAt(at + Integer.BYTES));
            to.putLong(fileId);
            to.putInt(offset);
            to.putInt(offset);
            at += KEY_AT + blockKeys.intAt(at);
        }
        keys(blockKeys, prefix, to);
        BlockWriter.patchChecksum(to, start, checksum);
    }

    /** Appends the index of a blob file, with its checksum. */
    static void writeBlob(NativeBytes blockKeys, int count, NativeBytes to, Checksum checksum) {
        int start = to.length;
        int prefix = prefix(blockKeys, count);
        header(blockKeys, count, prefix, to);
        int at = 0;
        for (int i = 0; i < count; i++) {
            to.putInt(blockKeys.intAt(at + Integer.BYTES));
            at += KEY_AT + blockKeys.intAt(at);
        }
        keys(blockKeys, prefix, to);
        BlockWriter.patchChecksum(to, start, checksum);
    }

    private static void header(NativeBytes blockKeys, int count, int prefix, NativeBytes to) {
        to.putInt(0); // checksum, set when the section is whole
        to.putInt(Formats.INDEX_FORMAT);
        to.putInt(count);
        int at = 0;
        int offset = 0;
        for (int i = 0; i < count; i++) {
            int keyLength = blockKeys.intAt(at);
            to.putInt(offset);
            offset += Math.max(0, keyLength - prefix); // blob keys come in any order: one may be shorter
            at += KEY_AT + keyLength;
        }
    }

    private static void keys(NativeBytes blockKeys, int prefix, NativeBytes to) {
        to.putShort(prefix);
        if (prefix > 0) {
            to.put(blockKeys.segment, KEY_AT, prefix);
        }
        int lengthAt = to.length;
        to.putInt(0);
        for (int at = 0; at < blockKeys.length; ) {
            int keyLength = blockKeys.intAt(at);
            if (keyLength > prefix) {
                to.put(blockKeys.segment, at + KEY_AT + prefix, keyLength - prefix);
            }
            at += KEY_AT + keyLength;
        }
        to.setInt(lengthAt, to.length - lengthAt - Integer.BYTES);
    }

    /** Common prefix of the first and the last key. */
    private static int prefix(NativeBytes blockKeys, int count) {
        if (count == 0) {
            return 0;
        }
        int last = 0;
        for (int i = 1; i < count; i++) {
            last += KEY_AT + blockKeys.intAt(last);
        }
        int firstLength = blockKeys.intAt(0);
        int lastLength = blockKeys.intAt(last);
        var keys = blockKeys.segment;
        long mismatch = MemorySegment.mismatch(
                keys, KEY_AT, KEY_AT + firstLength, keys, last + KEY_AT, last + KEY_AT + lastLength);
        return mismatch < 0 ? firstLength : (int) mismatch;
    }
}
