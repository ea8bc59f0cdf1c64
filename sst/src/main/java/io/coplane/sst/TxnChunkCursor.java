package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Walks the mutations of a txn chunk by key, either way. Borrows the reader and the arena of its scratch memory. Key and value are valid until the
 * next move. Moves throw {@link io.coplane.nativecache.CoplaneException} FILE_CHECKSUM, FILE_FORMAT, MEMORY_LIMIT. One thread.
 *
 * <pre>
 * block at      bytes    field           unit and bounds
 *  0            4        entries n       at least 1
 *  4            2        prefixLength c  first c bytes of the block's first key
 *  6            4 (n+1)  offsets         from the first entry, ascending; the last = bytes of the entries
 * 10 + 4 n      ..       entries         suffixLength (2), suffix, op (1), value
 * end - 4       4        checksum
 * </pre>
 */
public final class TxnChunkCursor {
    /** A put. */
    public static final int OP_PUT = 0;

    /** A delete. */
    public static final int OP_DELETE = 1;

    /** Locks a key without writing it. */
    public static final int OP_LOCK = 2;

    /** A put of a key that did not exist. */
    public static final int OP_INSERT = 4;

    /** Checks that a key does not exist. */
    public static final int OP_CHECK_NOT_EXIST = 6;

    private static final int PREFIX_LENGTH_AT = Integer.BYTES;
    private static final int OFFSETS_AT = PREFIX_LENGTH_AT + Short.BYTES;
    private static final int LEAST_ENTRY_BYTES = Short.BYTES + Byte.BYTES;

    private final TxnChunkReader chunk;
    private final NativeScratch scratch;
    private final BlockCipher cipher;

    private MemorySegment body = MemorySegment.NULL;
    private int block = -1; // loaded; -1: none
    private long blockAt; // start of the loaded block in body
    private int count;
    private int prefixLength;
    private long entriesAt;
    private int entriesLength;

    private boolean valid;
    private int entry;
    private byte[] rawKey = new byte[64];
    private int rawKeyLength;
    private int op;
    private long valueAt;
    private int valueLength;

    TxnChunkCursor(TxnChunkReader chunk, NativeArena arena) {
        this.chunk = chunk;
        scratch = new NativeScratch(arena);
        cipher = chunk.key == null ? null : new BlockCipher();
    }

    /** Moves to the first mutation. */
    public void first() {
        load(0);
        read(0);
    }

    /** Moves to the last mutation. */
    public void last() {
        load(chunk.blocks() - 1);
        read(count - 1);
    }

    /** Moves to the first key no less than {@code innerKey}. @return whether there is one */
    public boolean seekCeiling(byte[] innerKey) {
        load(chunk.blockOf(innerKey));
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            read(middle);
            if (compareKey(innerKey) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low < count) {
            read(low);
            return true;
        }
        entry = count - 1;
        return next();
    }

    /** Moves to the last key no greater than {@code innerKey}. @return whether there is one */
    public boolean seekFloor(byte[] innerKey) {
        if (!seekCeiling(innerKey)) {
            last();
            return true;
        }
        return compareKey(innerKey) == 0 || previous();
    }

    /** Moves to exactly this key. @return whether it is there */
    public boolean find(byte[] innerKey) {
        valid = seekCeiling(innerKey) && compareKey(innerKey) == 0;
        return valid;
    }

    /** Moves to the next key. @return whether there is one */
    public boolean next() {
        valid = false;
        if (entry + 1 < count) {
            read(entry + 1);
        } else if (block + 1 < chunk.blocks()) {
            load(block + 1);
            read(0);
        }
        return valid;
    }

    /** Moves to the previous key. @return whether there is one */
    public boolean previous() {
        valid = false;
        if (entry > 0) {
            read(entry - 1);
        } else if (block > 0) {
            load(block - 1);
            read(count - 1);
        }
        return valid;
    }

    private void load(int wanted) {
        valid = false;
        if (block == wanted) {
            return;
        }
        block = -1;
        long start = chunk.blockStart(wanted);
        long length = chunk.blockEnd(wanted) - start;
        if (cipher == null) {
            body = chunk.bytes;
            blockAt = start;
        } else {
            body = scratch.atLeast(length);
            blockAt = 0;
            cipher.decrypt(chunk.key, chunk.chunkId, (int) start, chunk.bytes, start, length, body);
        }
        chunk.verifyEnd(body, blockAt, blockAt + length, start);
        long left = length - Formats.CHECKSUM_BYTES - OFFSETS_AT - Integer.BYTES;
        long entries = left < 0 ? 0 : body.get(Layouts.LE_INT, blockAt) & 0xFFFF_FFFFL;
        left -= Integer.BYTES * entries;
        if (entries == 0 || left < 0 || length > Integer.MAX_VALUE) {
            throw FileErrors.format(chunk.file, start, "block has no room for its entries: entries=" + entries);
        }
        count = (int) entries;
        entriesAt = blockAt + OFFSETS_AT + 4L * (count + 1);
        entriesLength = (int) left;
        prefixLength = body.get(Layouts.LE_SHORT, blockAt + PREFIX_LENGTH_AT) & 0xFFFF;
        byte[] first = chunk.firstKey(wanted);
        if (prefixLength > first.length) {
            throw FileErrors.format(chunk.file, start, "prefix is longer than the first key: bytes=" + prefixLength);
        }
        if (rawKey.length < prefixLength) {
            rawKey = new byte[2 * prefixLength];
        }
        System.arraycopy(first, 0, rawKey, 0, prefixLength);
        block = wanted;
    }

    private void read(int i) {
        valid = false;
        long offsetAt = blockAt + OFFSETS_AT + 4L * i;
        int start = body.get(Layouts.LE_INT, offsetAt);
        int end = body.get(Layouts.LE_INT, offsetAt + Integer.BYTES);
        int left = end - start - LEAST_ENTRY_BYTES;
        if (start < 0 || end > entriesLength || start > end || left < 0) {
            throw FileErrors.format(chunk.file, chunk.blockStart(block), "entry is out of bounds: entry=" + i);
        }
        int suffix = body.get(Layouts.LE_SHORT, entriesAt + start) & 0xFFFF;
        left -= suffix;
        if (left < 0) {
            throw FileErrors.format(chunk.file, chunk.blockStart(block), "entry is too short for its key: entry=" + i);
        }
        int length = prefixLength + suffix;
        if (rawKey.length < length) {
            rawKey = Arrays.copyOf(rawKey, 2 * length);
        }
        long suffixAt = entriesAt + start + Short.BYTES;
        MemorySegment.copy(body, Layouts.BYTE, suffixAt, rawKey, prefixLength, suffix);
        rawKeyLength = length;
        op = body.get(Layouts.BYTE, suffixAt + suffix) & 0xFF;
        valueAt = suffixAt + suffix + Byte.BYTES;
        valueLength = left;
        entry = i;
        valid = true;
    }

    /** Moves to the first mutation of a block. */
    void toBlock(int wanted) {
        load(wanted);
        read(0);
    }

    /** The block that the cursor is in; -1 if none is loaded. */
    int block() {
        return block;
    }

    /** Mutations in that block. */
    int blockEntries() {
        return count;
    }

    /** Place of the mutation in its block. */
    int entry() {
        return entry;
    }

    /** Whether the cursor stands on a mutation. */
    public boolean valid() {
        return valid;
    }

    /** Scratch that holds the inner key from {@link #keyOffset} on. */
    public byte[] keyBytes() {
        return rawKey;
    }

    /** Where the inner key begins: behind the keyspace prefix, if the file has it. */
    public int keyOffset() {
        return Bytes.hasKeyspace(rawKey, 0, rawKeyLength) ? Bytes.KEYSPACE_PREFIX_BYTES : 0;
    }

    /** Bytes of the inner key. */
    public int keyLength() {
        return rawKeyLength - keyOffset();
    }

    /** A copy of the inner key. */
    public byte[] copyKey() {
        return Arrays.copyOfRange(rawKey, keyOffset(), rawKeyLength);
    }

    /** Order of the cursor's inner key and another one, unsigned. */
    public int compareKey(byte[] innerKey) {
        return Arrays.compareUnsigned(rawKey, keyOffset(), rawKeyLength, innerKey, 0, innerKey.length);
    }

    /** Kind of the mutation, 0 .. 255: one of the {@code OP} constants, or what no writer writes. */
    public int op() {
        return op;
    }

    /** Where the value is. */
    public MemorySegment valueSegment() {
        return body;
    }

    /** Offset of the value in its segment. */
    public long valueOffset() {
        return valueAt;
    }

    /** Bytes of the value. */
    public int valueLength() {
        return valueLength;
    }

    /** A copy of the value. */
    public byte[] copyValue() {
        return body.asSlice(valueAt, valueLength).toArray(Layouts.BYTE);
    }
}
