package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.Checksum;
import javax.crypto.spec.SecretKeySpec;

/**
 * Writes the main or the old blocks of a table and their index (sst.md 3.3, 3.5, 8.1). Entries of the open block wait until it is closed, since only
 * then their common prefix is known; a closed block goes straight to where the file is built. Borrows its memory. One thread.
 *
 * <pre>
 * a waiting entry
 * at  bytes  field
 *  0      4  keyLength
 *  4      4  restLength      of what follows the key
 *  8      8  oldVersion      0: none
 * 16         key
 *            meta (1), version (8), userMetaLength (1), userMeta, value: as in the block, but for the old version
 * </pre>
 */
final class BlockWriter {
    private static final int REST_LENGTH_AT = Integer.BYTES;
    private static final int OLD_VERSION_AT = REST_LENGTH_AT + Integer.BYTES;
    private static final int KEY_AT = OLD_VERSION_AT + Long.BYTES;

    // behind the key
    private static final int VERSION_AT = Byte.BYTES;
    private static final int USER_META_LENGTH_AT = VERSION_AT + Long.BYTES;
    private static final int USER_META_AT = USER_META_LENGTH_AT + Byte.BYTES;

    /** What an entry counts besides its key, user meta and value: key length and the in-memory preamble. */
    private static final int COUNTED_BYTES = 12;

    private static final int FIRST_KEY_BYTES = 64;

    /** Memory of an open block that is kept for the next one; all versions of one key are one block, however large. */
    private static final long MOST_KEPT_BYTES = 4 << 20;

    private final BlockCompressor compressor;
    private final Checksum checksum;

    // the open block
    private final NativeBytes waiting;
    private byte[] firstKey = new byte[FIRST_KEY_BYTES];
    private int firstKeyLength;
    private byte[] lastKey = new byte[FIRST_KEY_BYTES];
    private int lastKeyLength;
    private int entries;
    private int lastAt;
    private int withOldVersion;
    private long countedBytes;
    private long payloadBytes; // of keys, user metas and values

    // what is closed
    private final NativeBytes body;
    private final NativeBytes blockKeys; // keyLength (4), offset of the block (4), key
    private int blockCount;

    /** The blocks, from 0. Borrowed; may be replaced while there are none. */
    NativeBytes blocks;

    /**
     * A writer without blocks.
     *
     * @param scratch owns what is kept besides the blocks; borrowed
     * @param blocks  takes the closed blocks; borrowed
     */
    BlockWriter(BlockCompressor compressor, ChecksumType checksumType, NativeArena scratch, NativeBytes blocks) {
        this.compressor = compressor;
        this.checksum = Formats.checksum(checksumType);
        this.waiting = new NativeBytes(scratch);
        this.body = new NativeBytes(scratch);
        this.blockKeys = new NativeBytes(scratch);
        this.blocks = blocks;
    }

    boolean isOpen() {
        return entries > 0;
    }

    /** Order of a key and the last key. */
    int compareToLast(byte[] key, int offset, int length) {
        return Arrays.compareUnsigned(key, offset, offset + length, lastKey, 0, lastKeyLength);
    }

    byte[] copyLastKey() {
        return Arrays.copyOf(lastKey, lastKeyLength);
    }

    /** Begins an entry: the caller appends exactly its user meta and value to {@link #payload()}. */
    void begin(byte[] key, int offset, int length, long version, int meta, int userMetaLength, int valueLength) {
        NativeBytes to = waiting;
        to.reserve(Math.addExact(KEY_AT + length + USER_META_AT + userMetaLength, valueLength));
        lastAt = to.length;
        MemorySegment segment = to.segment;
        segment.set(Layouts.LE_INT, lastAt, length);
        segment.set(Layouts.LE_INT, lastAt + REST_LENGTH_AT, USER_META_AT + userMetaLength + valueLength);
        segment.set(Layouts.LE_LONG, lastAt + OLD_VERSION_AT, 0L);
        NativeBytes.copy(key, offset, segment, lastAt + KEY_AT, length);
        int at = lastAt + KEY_AT + length;
        segment.set(Layouts.BYTE, at, (byte) (meta & ~ValueMeta.HAS_OLD_VERSION));
        segment.set(Layouts.LE_LONG, at + VERSION_AT, version);
        segment.set(Layouts.BYTE, at + USER_META_LENGTH_AT, (byte) userMetaLength);
        to.length = at + USER_META_AT;
        long payload = (long) length + userMetaLength + valueLength;
        payloadBytes += payload;
        countedBytes += COUNTED_BYTES + payload;
        if (entries++ == 0) {
            firstKey = copied(key, offset, length, firstKey);
            firstKeyLength = length;
        }
        lastKey = copied(key, offset, length, lastKey);
        lastKeyLength = length;
    }

    private static byte[] copied(byte[] key, int offset, int length, byte[] into) {
        byte[] to = into.length < length ? new byte[2 * length] : into;
        System.arraycopy(key, offset, to, 0, length);
        return to;
    }

    /** Where the caller of {@link #begin} appends to. */
    NativeBytes payload() {
        return waiting;
    }

    /** Notes the newest older version of the last entry, unless one is noted. */
    void noteOldVersion(long version) {
        long at = (long) lastAt + OLD_VERSION_AT;
        if (waiting.segment.get(Layouts.LE_LONG, at) == 0) {
            waiting.segment.set(Layouts.LE_LONG, at, version);
            withOldVersion++;
        }
    }

    /** Size of the open block by which it is cut: entries less their common prefix, without header and offsets. */
    long openBytes() {
        return entries == 0 ? 0 : countedBytes - (long) entries * commonPrefix();
    }

    /** No less than {@link #openBytes}, but cheaper. */
    long mostOpenBytes() {
        return countedBytes;
    }

    /** Whether the open block is larger than {@code target}; cheaper than {@link #openBytes}. */
    boolean isOver(long target) {
        return countedBytes > target && openBytes() > target;
    }

    private int commonPrefix() {
        int mismatch = Arrays.mismatch(firstKey, 0, firstKeyLength, lastKey, 0, lastKeyLength);
        return mismatch < 0 ? firstKeyLength : mismatch;
    }

    /** Closes the open block, if there is one. */
    void closeBlock() {
        if (entries == 0) {
            return;
        }
        NativeBytes to = blocks;
        noteBlock(firstKey, firstKeyLength);
        int prefix = commonPrefix();
        int bodyBytes = bodyBytes(prefix);
        int start = to.length;
        to.putInt(0); // checksum, set below
        if (compressor.type() == CompressionType.NONE) {
            writeBody(prefix, bodyBytes, to);
        } else {
            body.clear();
            writeBody(prefix, bodyBytes, body);
            freeLarge(waiting);
            compressor.compress(body, true, to);
            freeLarge(body);
        }
        patchChecksum(to, start, checksum);
        clearOpen();
    }

    /** Appends the block that a cursor stands in, at its first key, as it is stored. */
    void copyBlock(TableCursor from) {
        closeBlock();
        noteBlock(from.keyBytes(), from.keyLength());
        from.copyStoredBlock(blocks);
    }

    /** As {@link #copyBlock}, with the block of older versions that a cursor stands in, at its first entry. */
    void copyOldBlock(TableCursor from) {
        closeBlock();
        noteBlock(from.keyBytes(), from.keyLength());
        from.copyStoredOldBlock(blocks);
    }

    /** Notes a key of a copied block: the last one so far. */
    void noteKey(byte[] key, int length) {
        lastKey = copied(key, 0, length, lastKey);
        lastKeyLength = length;
    }

    private void noteBlock(byte[] key, int length) {
        blockKeys.putInt(length);
        blockKeys.putInt(blocks.length);
        blockKeys.put(key, 0, length);
        blockCount++;
    }

    /** Memory for a key with very many versions: others need it now. */
    private static void freeLarge(NativeBytes memory) {
        if (memory.capacity() > MOST_KEPT_BYTES) {
            memory.close();
        }
    }

    private void clearOpen() {
        waiting.clear();
        freeLarge(waiting);
        entries = 0;
        lastAt = 0;
        withOldVersion = 0;
        countedBytes = 0;
        payloadBytes = 0;
    }

    /** Sets the checksum of a section that begins at {@code start} and ends the bytes. */
    static void patchChecksum(NativeBytes section, int start, Checksum checksum) {
        int value = 0;
        if (checksum != null) {
            checksum.reset();
            ByteBuffer bytes = section.buffer();
            checksum.update(bytes.limit(section.length).position(start + Formats.CHECKSUM_BYTES));
            value = (int) checksum.getValue();
        }
        section.setInt(start, value);
    }

    private int bodyBytes(int prefix) {
        long bytes = BlockView.OFFSETS_AT
                + 4L * entries
                + Short.BYTES
                + prefix
                + (long) entries * (BlockView.LEAST_ENTRY_BYTES - prefix)
                + payloadBytes
                + (long) Long.BYTES * withOldVersion;
        return Math.toIntExact(bytes);
    }

    private void writeBody(int prefix, int bodyBytes, NativeBytes to) {
        to.reserve(bodyBytes);
        to.putInt(Formats.BLOCK_FORMAT);
        to.putInt(entries);
        int offsetsAt = to.length;
        to.length += Integer.BYTES * entries;
        to.putShort(prefix);
        to.put(firstKey, 0, prefix);

        MemorySegment out = to.segment;
        MemorySegment in = waiting.segment;
        int entriesAt = to.length;
        int at = entriesAt;
        int from = 0;
        for (int i = 0; i < entries; i++) {
            out.set(Layouts.LE_INT, offsetsAt + 4L * i, at - entriesAt);
            int keyLength = in.get(Layouts.LE_INT, from);
            int rest = in.get(Layouts.LE_INT, from + REST_LENGTH_AT);
            long oldVersion = in.get(Layouts.LE_LONG, from + OLD_VERSION_AT);
            int suffix = keyLength - prefix;
            out.set(Layouts.LE_SHORT, at, (short) suffix);
            at += Short.BYTES;
            from += KEY_AT + prefix;
            if (oldVersion == 0) {
                MemorySegment.copy(in, from, out, at, suffix + rest);
            } else {
                int before = suffix + USER_META_LENGTH_AT;
                MemorySegment.copy(in, from, out, at, before);
                byte meta = in.get(Layouts.BYTE, from + suffix);
                out.set(Layouts.BYTE, at + suffix, (byte) (meta | ValueMeta.HAS_OLD_VERSION));
                out.set(Layouts.LE_LONG, at + before, oldVersion);
                at += Long.BYTES;
                MemorySegment.copy(in, from + before, out, at + before, suffix + rest - before);
            }
            at += suffix + rest;
            from += suffix + rest;
        }
        to.length = at;
    }

    int blockCount() {
        return blockCount;
    }

    /**
     * Appends the index section.
     *
     * @param fileId origin of all blocks
     * @param base   file offset of the first block
     */
    void writeIndex(long fileId, long base, NativeBytes to) {
        IndexWriter.write(blockKeys, blockCount, fileId, base, to, checksum);
    }

    /**
     * Encrypts the blocks where they are.
     *
     * @param bytes     what holds them
     * @param at        offset of the first block there
     * @param end       offset behind the last one
     * @param base      file offset of the first block
     */
    void encrypt(BlockCipher cipher, SecretKeySpec key, long fileId, NativeBytes bytes, int at, int end, long base) {
        int next = 0;
        for (int i = 0; i < blockCount; i++) {
            int from = blockKeys.intAt(next + Integer.BYTES);
            next += 2 * Integer.BYTES + blockKeys.intAt(next);
            int to = i + 1 < blockCount ? blockKeys.intAt(next + Integer.BYTES) : end - at;
            cipher.crypt(key, fileId, (int) (base + from), bytes.segment, at + from, to - from);
        }
    }

    Checksum checksum() {
        return checksum;
    }

    /** Forgets all that was written; the memory stays for the next file. */
    void reset() {
        clearOpen();
        blocks.clear();
        blockKeys.clear();
        blockCount = 0;
        lastKeyLength = 0;
    }
}
