package io.coplane.sst;

import java.util.Arrays;
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
    static void write(
            byte[] blockKeys, int length, int count, long fileId, long base, GrowableBytes to, Checksum checksum) {
        int start = to.length;
        header(blockKeys, count, to);
        int at = 0;
        for (int i = 0; i < count; i++) {
            int offset = Math.toIntExact(base + (int) Bytes.LE_INT.get(blockKeys, at + Integer.BYTES));
            to.putLong(fileId);
            to.putInt(offset);
            to.putInt(offset);
            at += KEY_AT + (int) Bytes.LE_INT.get(blockKeys, at);
        }
        keys(blockKeys, length, count, to);
        BlockWriter.patchChecksum(to, start, checksum);
    }

    /** Appends the index of a blob file, with its checksum. */
    static void writeBlob(byte[] blockKeys, int length, int count, GrowableBytes to, Checksum checksum) {
        int start = to.length;
        header(blockKeys, count, to);
        int at = 0;
        for (int i = 0; i < count; i++) {
            to.putInt((int) Bytes.LE_INT.get(blockKeys, at + Integer.BYTES));
            at += KEY_AT + (int) Bytes.LE_INT.get(blockKeys, at);
        }
        keys(blockKeys, length, count, to);
        BlockWriter.patchChecksum(to, start, checksum);
    }

    private static void header(byte[] blockKeys, int count, GrowableBytes to) {
        to.putInt(0); // checksum, set when the section is whole
        to.putInt(Formats.INDEX_FORMAT);
        to.putInt(count);
        int prefix = prefix(blockKeys, count);
        int at = 0;
        int offset = 0;
        for (int i = 0; i < count; i++) {
            int keyLength = (int) Bytes.LE_INT.get(blockKeys, at);
            to.putInt(offset);
            offset += Math.max(0, keyLength - prefix); // blob keys come in any order: one may be shorter
            at += KEY_AT + keyLength;
        }
    }

    private static void keys(byte[] blockKeys, int length, int count, GrowableBytes to) {
        int prefix = prefix(blockKeys, count);
        to.putShort(prefix);
        if (prefix > 0) {
            to.put(blockKeys, KEY_AT, prefix);
        }
        int lengthAt = to.length;
        to.putInt(0);
        for (int at = 0; at < length; ) {
            int keyLength = (int) Bytes.LE_INT.get(blockKeys, at);
            if (keyLength > prefix) {
                to.put(blockKeys, at + KEY_AT + prefix, keyLength - prefix);
            }
            at += KEY_AT + keyLength;
        }
        Bytes.LE_INT.set(to.bytes, lengthAt, to.length - lengthAt - Integer.BYTES);
    }

    /** Common prefix of the first and the last key. */
    private static int prefix(byte[] blockKeys, int count) {
        if (count == 0) {
            return 0;
        }
        int last = 0;
        for (int i = 1; i < count; i++) {
            last += KEY_AT + (int) Bytes.LE_INT.get(blockKeys, last);
        }
        int firstLength = (int) Bytes.LE_INT.get(blockKeys, 0);
        int lastLength = (int) Bytes.LE_INT.get(blockKeys, last);
        int mismatch = Arrays.mismatch(
                blockKeys, KEY_AT, KEY_AT + firstLength, blockKeys, last + KEY_AT, last + KEY_AT + lastLength);
        return mismatch < 0 ? firstLength : mismatch;
    }
}
