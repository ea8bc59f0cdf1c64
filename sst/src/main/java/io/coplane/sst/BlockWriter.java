package io.coplane.sst;

import io.coplane.nativecache.MemoryGuard;
import java.util.Arrays;
import java.util.zip.Checksum;

/**
 * Writes the main or the old blocks of a table and their index (sst.md 3.3, 3.5, 8.1). Entries of the open block wait until it is closed, since only
 * then their common prefix is known. Owns heap memory charged to the guard. One thread.
 *
 * <pre>
 * a waiting entry
 * at  bytes  field
 *  0      4  keyLength
 *  4      4  valueLength
 *  8      8  version
 * 16      8  oldVersion      0: none
 * 24      1  meta
 * 25      1  userMetaLength
 * 26         key, userMeta, value
 * </pre>
 */
final class BlockWriter implements AutoCloseable {
    private static final int VALUE_LENGTH_AT = Integer.BYTES;
    private static final int VERSION_AT = VALUE_LENGTH_AT + Integer.BYTES;
    private static final int OLD_VERSION_AT = VERSION_AT + Long.BYTES;
    private static final int META_AT = OLD_VERSION_AT + Long.BYTES;
    private static final int USER_META_LENGTH_AT = META_AT + Byte.BYTES;
    private static final int KEY_AT = USER_META_LENGTH_AT + Byte.BYTES;

    /** What an entry counts besides its key, user meta and value: key length and the in-memory preamble. */
    private static final int COUNTED_BYTES = 12;

    private final BlockCompressor compressor;
    private final ChecksumType checksumType;
    private final Checksum checksum;

    // the open block
    private final GrowableBytes waiting;
    private int entries;
    private int lastAt;
    private int withOldVersion;
    private long countedBytes;
    private long payloadBytes; // of keys, user metas and values

    // what is closed
    private final GrowableBytes body;
    final ByteChunks blocks;
    private final GrowableBytes blockKeys; // keyLength (4), offset of the block (4), key
    private int blockCount;

    BlockWriter(BlockCompressor compressor, ChecksumType checksumType, MemoryGuard guard) {
        this.compressor = compressor;
        this.checksumType = checksumType;
        this.checksum = Formats.checksum(checksumType);
        this.waiting = new GrowableBytes(guard);
        this.body = new GrowableBytes(guard);
        this.blocks = new ByteChunks(guard);
        this.blockKeys = new GrowableBytes(guard);
    }

    boolean isOpen() {
        return entries > 0;
    }

    /** Order of a key and the last key of the open block. */
    int compareToLast(byte[] key, int offset, int length) {
        int at = lastAt + KEY_AT;
        return Arrays.compareUnsigned(key, offset, offset + length, waiting.bytes, at, at + lastKeyLength());
    }

    private int lastKeyLength() {
        return (int) Bytes.LE_INT.get(waiting.bytes, lastAt);
    }

    byte[] copyLastKey() {
        int at = lastAt + KEY_AT;
        return Arrays.copyOfRange(waiting.bytes, at, at + lastKeyLength());
    }

    /** Begins an entry: the caller appends exactly its user meta and value to {@link #payload()}. */
    void begin(byte[] key, int offset, int length, long version, int meta, int userMetaLength, int valueLength) {
        GrowableBytes to = waiting;
        to.reserve(Math.addExact(KEY_AT + length + userMetaLength, valueLength));
        lastAt = to.length;
        byte[] bytes = to.bytes;
        Bytes.LE_INT.set(bytes, lastAt, length);
        Bytes.LE_INT.set(bytes, lastAt + VALUE_LENGTH_AT, valueLength);
        Bytes.LE_LONG.set(bytes, lastAt + VERSION_AT, version);
        Bytes.LE_LONG.set(bytes, lastAt + OLD_VERSION_AT, 0L);
        bytes[lastAt + META_AT] = (byte) meta;
        bytes[lastAt + USER_META_LENGTH_AT] = (byte) userMetaLength;
        System.arraycopy(key, offset, bytes, lastAt + KEY_AT, length);
        to.length = lastAt + KEY_AT + length;
        long payload = (long) length + userMetaLength + valueLength;
        payloadBytes += payload;
        countedBytes += COUNTED_BYTES + payload;
        entries++;
    }

    /** Where the caller of {@link #begin} appends to. */
    GrowableBytes payload() {
        return waiting;
    }

    /** Notes the newest older version of the last entry, unless one is noted. */
    void noteOldVersion(long version) {
        if ((long) Bytes.LE_LONG.get(waiting.bytes, lastAt + OLD_VERSION_AT) == 0) {
            Bytes.LE_LONG.set(waiting.bytes, lastAt + OLD_VERSION_AT, version);
            withOldVersion++;
        }
    }

    /** Size of the open block by which it is cut: entries less their common prefix, without header and offsets. */
    long openBytes() {
        return entries == 0 ? 0 : countedBytes - (long) entries * commonPrefix();
    }

    /** Whether the open block is larger than {@code target}; cheaper than {@link #openBytes}. */
    boolean isOver(long target) {
        return countedBytes > target && openBytes() > target;
    }

    private int commonPrefix() {
        byte[] bytes = waiting.bytes;
        int first = (int) Bytes.LE_INT.get(bytes, 0);
        int last = lastKeyLength();
        int at = lastAt + KEY_AT;
        int mismatch = Arrays.mismatch(bytes, KEY_AT, KEY_AT + first, bytes, at, at + last);
        return mismatch < 0 ? first : mismatch;
    }

    /** Closes the open block, if there is one. */
    void closeBlock() {
        if (entries == 0) {
            return;
        }
        int firstLength = (int) Bytes.LE_INT.get(waiting.bytes, 0);
        blockKeys.putInt(firstLength);
        blockKeys.putInt(blocks.length());
        blockKeys.put(waiting.bytes, KEY_AT, firstLength);
        blockCount++;

        int prefix = commonPrefix();
        int bodyBytes = bodyBytes(prefix);
        GrowableBytes to = blocks.tail(compressor.mostBytes(bodyBytes) + Formats.CHECKSUM_BYTES);
        int start = to.length;
        to.putInt(0); // checksum, set below
        if (compressor.type() == CompressionType.NONE) {
            writeBody(prefix, bodyBytes, to);
        } else {
            body.clear();
            writeBody(prefix, bodyBytes, body);
            compressor.compress(body.bytes, 0, body.length, true, to);
        }
        patchChecksum(to, start, checksum);
        waiting.clear();
        entries = 0;
        lastAt = 0;
        withOldVersion = 0;
        countedBytes = 0;
        payloadBytes = 0;
    }

    /** Sets the checksum of a section that begins at {@code start} and ends the bytes. */
    static void patchChecksum(GrowableBytes section, int start, Checksum checksum) {
        int value = 0;
        if (checksum != null) {
            checksum.reset();
            int from = start + Formats.CHECKSUM_BYTES;
            checksum.update(section.bytes, from, section.length - from);
            value = (int) checksum.getValue();
        }
        Bytes.LE_INT.set(section.bytes, start, value);
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

    private void writeBody(int prefix, int bodyBytes, GrowableBytes to) {
        to.reserve(bodyBytes);
        to.putInt(Formats.BLOCK_FORMAT);
        to.putInt(entries);
        int offsetsAt = to.length;
        to.length += Integer.BYTES * entries;
        to.putShort(prefix);
        to.put(waiting.bytes, KEY_AT, prefix);

        byte[] out = to.bytes;
        int entriesAt = to.length;
        int at = entriesAt;
        int from = 0;
        for (int i = 0; i < entries; i++) {
            Bytes.LE_INT.set(out, offsetsAt + Integer.BYTES * i, at - entriesAt);
            byte[] in = waiting.bytes;
            int keyLength = (int) Bytes.LE_INT.get(in, from);
            int rest = (in[from + USER_META_LENGTH_AT] & 0xFF) + (int) Bytes.LE_INT.get(in, from + VALUE_LENGTH_AT);
            long oldVersion = (long) Bytes.LE_LONG.get(in, from + OLD_VERSION_AT);
            int suffix = keyLength - prefix;
            Bytes.LE_SHORT.set(out, at, (short) suffix);
            at += Short.BYTES;
            System.arraycopy(in, from + KEY_AT + prefix, out, at, suffix);
            at += suffix;
            int meta = in[from + META_AT] & ~ValueMeta.HAS_OLD_VERSION;
            out[at] = (byte) (oldVersion == 0 ? meta : meta | ValueMeta.HAS_OLD_VERSION);
            at += Byte.BYTES;
            Bytes.LE_LONG.set(out, at, (long) Bytes.LE_LONG.get(in, from + VERSION_AT));
            at += Long.BYTES;
            if (oldVersion != 0) {
                Bytes.LE_LONG.set(out, at, oldVersion);
                at += Long.BYTES;
            }
            out[at] = in[from + USER_META_LENGTH_AT];
            at += Byte.BYTES;
            System.arraycopy(in, from + KEY_AT + keyLength, out, at, rest);
            at += rest;
            from += KEY_AT + keyLength + rest;
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
    void writeIndex(long fileId, long base, GrowableBytes to) {
        IndexWriter.write(blockKeys.bytes, blockKeys.length, blockCount, fileId, base, to, checksum);
    }

    /** Offsets of the blocks in {@link #blocks}, and its length behind them. */
    int[] blockOffsets() {
        int[] offsets = new int[blockCount + 1];
        int at = 0;
        for (int i = 0; i < blockCount; i++) {
            offsets[i] = (int) Bytes.LE_INT.get(blockKeys.bytes, at + Integer.BYTES);
            at += 2 * Integer.BYTES + (int) Bytes.LE_INT.get(blockKeys.bytes, at);
        }
        offsets[blockCount] = blocks.length();
        return offsets;
    }

    ChecksumType checksumType() {
        return checksumType;
    }

    Checksum checksum() {
        return checksum;
    }

    /** Forgets all that was written; the memory stays for the next file. */
    void reset() {
        waiting.clear();
        blocks.clear();
        blockKeys.clear();
        blockCount = 0;
        entries = 0;
        lastAt = 0;
        withOldVersion = 0;
        countedBytes = 0;
        payloadBytes = 0;
    }

    @Override
    public void close() {
        waiting.close();
        body.close();
        blocks.close();
        blockKeys.close();
    }
}
