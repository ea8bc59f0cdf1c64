package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.Checksum;
import javax.crypto.spec.SecretKeySpec;

/**
 * Writes the main or the old blocks of a table and their index (sst.md 3.3, 3.5, 8.1). Entries of the open block wait until it is closed: only then
 * is known how many they are and what prefix their keys share. They wait as the block will have them if its prefix is as long as that of the block
 * before, which it mostly is; else they are moved. A closed block goes straight to where the file is built. Borrows its memory. One thread.
 */
final class BlockWriter {
    private static final int SUFFIX_AT = Short.BYTES;

    // behind the key's suffix
    private static final int VERSION_AT = Byte.BYTES;
    private static final int OLD_VERSION_AT = VERSION_AT + Long.BYTES;

    /** Meta, version and length of the user meta: what stands before the user meta of an entry without an older version. */
    static final int FIELDS_BYTES = OLD_VERSION_AT + Byte.BYTES;

    /** What an entry counts besides its key, user meta and value: key length and the in-memory preamble. */
    private static final int COUNTED_BYTES = 12;

    private static final int FIRST_KEY_BYTES = 64;

    /** Memory of an open block that is kept for the next one; all versions of one key are one block, however large. */
    private static final long MOST_KEPT_BYTES = 4 << 20;

    private final BlockCompressor compressor;
    private final Checksum checksum;

    // the open block
    private final NativeBytes waiting; // entries as in the block, with a prefix of prefixLength
    private final NativeBytes offsets; // of the entries, 4 bytes each, as in the block
    private int prefixLength;
    private byte[] firstKey = new byte[FIRST_KEY_BYTES];
    private int firstKeyLength;
    private byte[] lastKey = new byte[FIRST_KEY_BYTES];
    private int lastKeyLength;
    private int entries;
    private int lastAt;
    private long countedBytes;

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
        this.offsets = new NativeBytes(scratch);
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
        beginKey(key, offset, length, Math.addExact(FIELDS_BYTES + userMetaLength, valueLength));
        NativeBytes to = waiting;
        MemorySegment segment = to.segment;
        int at = to.length;
        segment.set(Layouts.BYTE, at, (byte) (meta & ~ValueMeta.HAS_OLD_VERSION));
        segment.set(Layouts.LE_LONG, at + VERSION_AT, version);
        segment.set(Layouts.BYTE, at + OLD_VERSION_AT, (byte) userMetaLength); // there is no old version as yet
        to.length = at + FIELDS_BYTES;
    }

    /**
     * Begins an entry: the caller appends exactly what follows its key to {@link #payload()}.
     *
     * @param rest its bytes: of the fields, {@link #FIELDS_BYTES}, user meta and value
     */
    void beginKey(byte[] key, int offset, int length, int rest) {
        if (entries == 0) {
            if (firstKey.length < length) {
                firstKey = new byte[2 * length];
            }
            System.arraycopy(key, offset, firstKey, 0, length);
            firstKeyLength = length;
            prefixLength = Math.min(prefixLength, length);
        } else if (length < prefixLength
                || !Arrays.equals(firstKey, 0, prefixLength, key, offset, offset + prefixLength)) {
            changePrefix(commonPrefix(key, offset, length));
        }
        NativeBytes to = waiting;
        int suffix = length - prefixLength;
        to.reserve(Math.addExact(SUFFIX_AT + suffix, rest));
        offsets.putInt(to.length);
        lastAt = to.length;
        to.segment.set(Layouts.LE_SHORT, lastAt, (short) suffix);
        NativeBytes.copy(key, offset + prefixLength, to.segment, lastAt + SUFFIX_AT, suffix);
        to.length += SUFFIX_AT + suffix;
        keepLast(key, offset, length);
        entries++;
        countedBytes += COUNTED_BYTES + (long) length + rest - FIELDS_BYTES;
    }

    private void keepLast(byte[] key, int offset, int length) {
        if (lastKey.length < length) {
            lastKey = new byte[2 * length];
        }
        System.arraycopy(key, offset, lastKey, 0, length);
        lastKeyLength = length;
    }

    /** Where the caller of {@link #begin} or {@link #beginKey} appends to. */
    NativeBytes payload() {
        return waiting;
    }

    /** Notes the newest older version of the last entry, unless one is noted. */
    void noteOldVersion(long version) {
        NativeBytes to = waiting;
        int metaAt = lastAt + SUFFIX_AT + (to.segment.get(Layouts.LE_SHORT, lastAt) & 0xFFFF);
        byte meta = to.segment.get(Layouts.BYTE, metaAt);
        if ((meta & ValueMeta.HAS_OLD_VERSION) == 0) {
            to.reserve(Long.BYTES);
            int at = metaAt + OLD_VERSION_AT;
            MemorySegment segment = to.segment;
            MemorySegment.copy(segment, at, segment, at + Long.BYTES, to.length - at);
            segment.set(Layouts.BYTE, metaAt, (byte) (meta | ValueMeta.HAS_OLD_VERSION));
            segment.set(Layouts.LE_LONG, at, version);
            to.length += Long.BYTES;
        }
    }

    /** Size of the open block by which it is cut: entries less their common prefix, without header and offsets. */
    long openBytes() {
        return entries == 0 ? 0 : countedBytes - (long) entries * commonPrefix(lastKey, 0, lastKeyLength);
    }

    /** No less than {@link #openBytes}, but cheaper. */
    long mostOpenBytes() {
        return countedBytes;
    }

    /** Whether the open block is larger than {@code target}; cheaper than {@link #openBytes}. */
    boolean isOver(long target) {
        return countedBytes > target && openBytes() > target;
    }

    /** Bytes that the first key and another one begin with. */
    private int commonPrefix(byte[] key, int offset, int length) {
        int mismatch = Arrays.mismatch(firstKey, 0, firstKeyLength, key, offset, offset + length);
        return mismatch < 0 ? firstKeyLength : mismatch;
    }

    /** Gives the waiting entries another prefix of the first key, where they are. */
    private void changePrefix(int prefix) {
        NativeBytes in = waiting;
        int more = prefixLength - prefix; // of each suffix; below 0: less
        int moreInAll = Math.toIntExact((long) entries * more);
        if (more > 0) {
            in.reserve(moreInAll);
            int end = in.length;
            for (int i = entries - 1; i >= 0; i--) { // the last one first: all move to where others are
                int from = offsets.intAt((long) Integer.BYTES * i);
                changePrefix(i, from, end, prefix, more);
                end = from;
            }
        } else {
            for (int i = 0; i < entries; i++) {
                int from = offsets.intAt((long) Integer.BYTES * i);
                int end = i + 1 < entries ? offsets.intAt(Integer.BYTES * (i + 1L)) : in.length;
                changePrefix(i, from, end, prefix, more);
            }
        }
        in.length += moreInAll;
        lastAt = offsets.intAt(Integer.BYTES * (entries - 1L));
        prefixLength = prefix;
    }

    private void changePrefix(int entry, int from, int end, int prefix, int more) {
        MemorySegment bytes = waiting.segment;
        int to = from + entry * more;
        int suffix = bytes.get(Layouts.LE_SHORT, from) + more;
        int rest = from + SUFFIX_AT + Math.max(0, -more);
        MemorySegment.copy(bytes, rest, bytes, to + SUFFIX_AT + Math.max(0, more), end - rest);
        bytes.set(Layouts.LE_SHORT, to, (short) suffix);
        if (more > 0) {
            NativeBytes.copy(firstKey, prefix, bytes, to + SUFFIX_AT, more);
        }
        offsets.setInt((long) Integer.BYTES * entry, to);
    }

    /** Closes the open block, if there is one. */
    void closeBlock() {
        if (entries == 0) {
            return;
        }
        NativeBytes to = blocks;
        noteBlock(firstKey, firstKeyLength);
        int prefix = commonPrefix(lastKey, 0, lastKeyLength);
        if (prefix != prefixLength) {
            changePrefix(prefix);
        }
        int start = to.length;
        to.putInt(0); // checksum, set below
        if (compressor.type() == CompressionType.NONE) {
            writeBody(to);
        } else {
            body.clear();
            writeBody(body);
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
        keepLast(key, 0, length);
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
        offsets.clear();
        entries = 0;
        lastAt = 0;
        countedBytes = 0;
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

    private void writeBody(NativeBytes to) {
        long bytes = (long) BlockView.OFFSETS_AT + offsets.length + Short.BYTES + prefixLength + waiting.length;
        to.reserve(Math.toIntExact(bytes));
        to.putInt(Formats.BLOCK_FORMAT);
        to.putInt(entries);
        to.put(offsets.segment, 0, offsets.length);
        to.putShort(prefixLength);
        to.put(firstKey, 0, prefixLength);
        to.put(waiting.segment, 0, waiting.length);
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
