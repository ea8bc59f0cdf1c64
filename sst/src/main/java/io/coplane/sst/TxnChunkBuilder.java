package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;
import javax.crypto.spec.SecretKeySpec;

/**
 * Writes a txn chunk as the reference does (snapshot.md 7.8; layout in {@link TxnChunkReader}, {@link TxnChunkCursor}, {@link TxnChunkFooter}).
 *
 * <p>Mutations come by key strictly ascending. One file a builder. Owns native memory charged to the guard until closed. One thread.
 *
 * <pre>
 * a waiting entry
 * at  bytes  field
 *  0      4  keyLength
 *  4      4  valueLength
 *  8      1  op
 *  9         key, value
 *
 * hash index
 * at         bytes    field      unit and bounds
 * 0          4        buckets B  a power of two, at least 2
 * 4          4 (B+1)  offsets    in the entries, ascending; the first 0, the last = bytes of the entries
 * 8 + 4 B    12 each  entries    Fingerprint64 of the inner key (8), block (2), entry in the block (2)
 * </pre>
 */
public final class TxnChunkBuilder implements AutoCloseable {
    /** Size by which blocks are cut unless configured otherwise (snapshot.md 7.8). */
    public static final int DEFAULT_BLOCK_BYTES = 64 << 10;

    static final int HASH_ENTRY_BYTES = Long.BYTES + 2 * Short.BYTES;
    static final int LEAST_BUCKETS = 2;

    private static final int VALUE_LENGTH_AT = Integer.BYTES;
    private static final int OP_AT = VALUE_LENGTH_AT + Integer.BYTES;
    private static final int KEY_AT = OP_AT + Byte.BYTES;
    private static final int MAX_INDEX = 0xFFFF; // blocks and entries are addressed by 16 bits
    private static final int KEYS_PER_BUCKET = 4;

    private final long chunkId;
    private final int blockBytes;
    private final ShardKey key; // null: not encrypted
    private final SecretKeySpec fileKey;
    private final BlockCipher cipher; // null: not encrypted
    private final CRC32 crc = new CRC32();

    private final NativeBytes waiting; // the open block
    private final NativeBytes blocks;
    private final NativeBytes blockKeys; // of each block: keyLength (4), offset of the block (4), key
    private final NativeBytes hashes; // entries of the hash index, in the order of keys
    private final NativeBytes checking; // per block whether it inserts or checks
    private final NativeBytes meta;
    private int entries; // in the open block
    private int lastAt;
    private long countedBytes;
    private long payloadBytes; // keys and values of the open block
    private boolean checks;
    private int blockCount;
    private int keys;
    private int inserts;
    private int checkNotExists;
    private byte[] smallest = new byte[0];
    private byte[] biggest = new byte[0];
    private boolean finished;

    /**
     * @param chunkId    of the file; part of the encryption
     * @param blockBytes size by which blocks are cut; at least 1
     * @param key        of the shard; null if it has none
     * @param guard      charged for what is held; borrowed
     */
    public TxnChunkBuilder(long chunkId, int blockBytes, ShardKey key, MemoryGuard guard) {
        this.chunkId = chunkId;
        this.blockBytes = blockBytes;
        this.key = key;
        this.fileKey = key == null ? null : key.fileKey(key.version());
        this.cipher = key == null ? null : new BlockCipher();
        this.waiting = new NativeBytes(guard);
        this.blocks = new NativeBytes(guard);
        this.blockKeys = new NativeBytes(guard);
        this.hashes = new NativeBytes(guard);
        this.checking = new NativeBytes(guard);
        this.meta = new NativeBytes(guard);
    }

    /**
     * Adds a mutation.
     *
     * @param innerKey copied; 1 .. 65,535 bytes, not beginning with a keyspace prefix, greater than the one before
     * @param op       an {@code OP} constant of {@link TxnChunkCursor}
     * @param value    copied
     * @throws CoplaneException of code BAD_ARGUMENT if it is out of order or out of bounds
     */
    public void add(
            byte[] innerKey,
            int keyOffset,
            int keyLength,
            int op,
            MemorySegment value,
            long valueOffset,
            int valueLength) {
        begin(innerKey, keyOffset, keyLength, op, valueLength);
        waiting.put(value, valueOffset, valueLength);
        end(keyLength, valueLength);
    }

    /** As the other one, with the value on the heap. */
    public void add(
            byte[] innerKey, int keyOffset, int keyLength, int op, byte[] value, int valueOffset, int valueLength) {
        begin(innerKey, keyOffset, keyLength, op, valueLength);
        waiting.put(value, valueOffset, valueLength);
        end(keyLength, valueLength);
    }

    private void begin(byte[] innerKey, int offset, int length, int op, int valueLength) {
        requireOrder(innerKey, offset, length);
        if (entries > MAX_INDEX || blockCount > MAX_INDEX) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT,
                    "txn chunk has too many blocks or entries in a block: blocks=" + blockCount + " entries="
                            + entries);
        }
        countOp(op);
        if (keys == 0) {
            smallest = Arrays.copyOfRange(innerKey, offset, offset + length);
        }
        hashes.putLong(Fingerprint64.hash(innerKey, offset, length));
        hashes.putShort(blockCount);
        hashes.putShort(entries);
        waiting.reserve(Math.addExact(KEY_AT + length, valueLength));
        lastAt = waiting.length;
        waiting.putInt(length);
        waiting.putInt(valueLength);
        waiting.putByte(op);
        waiting.put(innerKey, offset, length);
    }

    private void requireOrder(byte[] innerKey, int offset, int length) {
        if (finished) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "txn chunk is finished: chunkId=" + chunkId);
        }
        if (length < 1 || length > Formats.MAX_KEY_BYTES || Bytes.hasKeyspace(innerKey, offset, length)) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT, "key of a mutation is out of bounds: keyBytes=" + length);
        }
        if (keys > 0 && compareToLast(innerKey, offset, length) <= 0) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "mutation is out of order: index=" + keys);
        }
    }

    private int compareToLast(byte[] innerKey, int offset, int length) {
        if (entries == 0) {
            return Bytes.compare(innerKey, offset, length, biggest);
        }
        return Bytes.compare(innerKey, offset, length, waiting.segment, lastAt + KEY_AT, waiting.intAt(lastAt));
    }

    private void countOp(int op) {
        switch (op) {
            case TxnChunkCursor.OP_PUT, TxnChunkCursor.OP_DELETE, TxnChunkCursor.OP_LOCK -> {
                // counted nowhere
            }
            case TxnChunkCursor.OP_INSERT -> {
                inserts++;
                checks = true;
            }
            case TxnChunkCursor.OP_CHECK_NOT_EXIST -> {
                checkNotExists++;
                checks = true;
            }
            default -> throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "unknown mutation: op=" + op);
        }
    }

    private void end(int keyLength, int valueLength) {
        keys++;
        entries++;
        payloadBytes += (long) keyLength + valueLength;
        countedBytes += (long) Byte.BYTES + keyLength + valueLength;
        if (countedBytes >= blockBytes && countedBytes - (long) entries * commonPrefix() >= blockBytes) {
            closeBlock();
        }
    }

    /** Common prefix of the first and the last key of the open block. */
    private int commonPrefix() {
        MemorySegment bytes = waiting.segment;
        int first = waiting.intAt(0);
        int last = waiting.intAt(lastAt);
        int at = lastAt + KEY_AT;
        long mismatch = MemorySegment.mismatch(bytes, KEY_AT, KEY_AT + first, bytes, at, at + last);
        return mismatch < 0 ? first : (int) mismatch;
    }

    private void closeBlock() {
        MemorySegment in = waiting.segment;
        int firstLength = waiting.intAt(0);
        int prefix = commonPrefix();
        int start = blocks.length;
        blockKeys.putInt(firstLength);
        blockKeys.putInt(start);
        blockKeys.put(in, KEY_AT, firstLength);
        biggest = in.asSlice(lastAt + KEY_AT, waiting.intAt(lastAt)).toArray(Layouts.BYTE);
        checking.putByte(checks ? 1 : 0);
        blockCount++;

        blocks.putInt(entries);
        blocks.putShort(prefix);
        int from = 0;
        int offset = 0;
        for (int i = 0; i < entries; i++) {
            blocks.putInt(offset);
            int keyLength = waiting.intAt(from);
            int valueLength = waiting.intAt(from + VALUE_LENGTH_AT);
            offset += Short.BYTES + keyLength - prefix + Byte.BYTES + valueLength;
            from += KEY_AT + keyLength + valueLength;
        }
        blocks.putInt(offset);
        from = 0;
        for (int i = 0; i < entries; i++) {
            int keyLength = waiting.intAt(from);
            int valueLength = waiting.intAt(from + VALUE_LENGTH_AT);
            blocks.putShort(keyLength - prefix);
            blocks.put(in, from + KEY_AT + prefix, keyLength - prefix);
            blocks.putByte(in.get(Layouts.BYTE, from + OP_AT));
            blocks.put(in, from + KEY_AT + keyLength, valueLength);
            from += KEY_AT + keyLength + valueLength;
        }
        putChecksum(blocks, start);
        if (fileKey != null) {
            cipher.crypt(fileKey, chunkId, start, blocks.segment, start, blocks.length - start);
        }
        waiting.clear();
        entries = 0;
        lastAt = 0;
        countedBytes = 0;
        payloadBytes = 0;
        checks = false;
    }

    private void putChecksum(NativeBytes section, int start) {
        section.putInt(Formats.compute(section.segment, start, section.length, crc));
    }

    /** Whether nothing was added: then there is no file to write. */
    public boolean isEmpty() {
        return keys == 0;
    }

    /** Bytes of blocks so far, and of the keys and values of the open one. */
    public long estimatedBytes() {
        return blocks.length + payloadBytes;
    }

    /**
     * Completes the file; nothing can be added then.
     *
     * @param arena owns the file's memory; borrowed
     */
    public SstFile finish(NativeArena arena) {
        if (isEmpty()) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "a txn chunk needs a mutation: chunkId=" + chunkId);
        }
        if (!finished) {
            if (entries > 0) {
                closeBlock();
            }
            finished = true;
        }
        meta.clear();
        writeIndex();
        int hashIndexAt = meta.length;
        writeHashIndex();
        int propertiesAt = meta.length;
        writeProperties();
        long size = (long) blocks.length + meta.length + TxnChunkFooter.BYTES;
        if (size > Integer.MAX_VALUE) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "txn chunk is too large: bytes=" + size);
        }
        meta.putInt(blocks.length);
        meta.putInt(blocks.length + hashIndexAt);
        meta.putInt(blocks.length + propertiesAt);
        meta.putByte(0);
        meta.putByte(ChecksumType.CRC32.number());
        meta.putShort(TxnChunkFooter.FORMAT);
        meta.putInt(TxnChunkFooter.MAGIC);
        MemorySegment bytes = arena.allocate(size);
        MemorySegment.copy(blocks.segment, 0, bytes, 0, blocks.length);
        MemorySegment.copy(meta.segment, 0, bytes, blocks.length, meta.length);
        return new SstFile(chunkId, blocks.length, (long) blocks.length + propertiesAt, smallest, biggest, bytes);
    }

    private void writeIndex() {
        meta.putInt(blockCount);
        int at = 0;
        for (int i = 0; i < blockCount; i++) {
            meta.putInt(blockKeys.intAt(at + Integer.BYTES));
            at += 2 * Integer.BYTES + blockKeys.intAt(at);
        }
        meta.putInt(blocks.length);
        at = 0;
        int offset = 0;
        for (int i = 0; i < blockCount; i++) {
            meta.putInt(offset);
            int keyLength = blockKeys.intAt(at);
            offset += keyLength;
            at += 2 * Integer.BYTES + keyLength;
        }
        meta.putInt(offset);
        at = 0;
        for (int i = 0; i < blockCount; i++) {
            int keyLength = blockKeys.intAt(at);
            meta.put(blockKeys.segment, at + 2 * Integer.BYTES, keyLength);
            at += 2 * Integer.BYTES + keyLength;
        }
        meta.put(biggest, 0, biggest.length);
        putChecksum(meta, 0);
    }

    /** Entries go by bucket, and as they came within one: a counting sort. */
    private void writeHashIndex() {
        int start = meta.length;
        int buckets = buckets(keys);
        meta.putInt(buckets);
        int offsetsAt = meta.length;
        meta.reserve(Math.addExact(Integer.BYTES * (buckets + 1), HASH_ENTRY_BYTES * keys));
        MemorySegment out = meta.segment;
        out.asSlice(offsetsAt, Integer.BYTES * (buckets + 1L)).fill((byte) 0);
        for (int i = 0; i < keys; i++) {
            addOffset(offsetsAt + Integer.BYTES * (bucket(i, buckets) + 1));
        }
        int sum = 0;
        for (int i = 1; i <= buckets; i++) {
            sum += meta.intAt(offsetsAt + Integer.BYTES * i);
            meta.setInt(offsetsAt + Integer.BYTES * i, sum);
        }
        int entriesAt = offsetsAt + Integer.BYTES * (buckets + 1);
        // offset of a bucket moves to its end while the bucket fills, which is where the next one starts
        for (int i = 0; i < keys; i++) {
            int offsetAt = offsetsAt + Integer.BYTES * bucket(i, buckets);
            int to = entriesAt + meta.intAt(offsetAt);
            MemorySegment.copy(hashes.segment, (long) HASH_ENTRY_BYTES * i, out, to, HASH_ENTRY_BYTES);
            addOffset(offsetAt);
        }
        MemorySegment.copy(out, offsetsAt, out, offsetsAt + Integer.BYTES, (long) Integer.BYTES * buckets);
        meta.setInt(offsetsAt, 0);
        meta.length = entriesAt + HASH_ENTRY_BYTES * keys;
        putChecksum(meta, start);
    }

    private void addOffset(int at) {
        meta.setInt(at, meta.intAt(at) + HASH_ENTRY_BYTES);
    }

    private int bucket(int i, int buckets) {
        return (int) (hashes.segment.get(Layouts.LE_LONG, (long) HASH_ENTRY_BYTES * i) & (buckets - 1));
    }

    /** Buckets for so many keys; at least 1 key. */
    private static int buckets(int keys) {
        int power = keys == 1 ? 1 : Integer.highestOneBit(keys - 1) << 1;
        return Math.max(LEAST_BUCKETS, power / KEYS_PER_BUCKET);
    }

    private void writeProperties() {
        int start = meta.length;
        if (checkNotExists > 0) {
            property(TxnChunkReader.CHECK_NOT_EXIST, Integer.BYTES);
            meta.putInt(checkNotExists);
        }
        if (inserts > 0) {
            property(TxnChunkReader.INSERT, Integer.BYTES);
            meta.putInt(inserts);
        }
        property(TxnChunkReader.CHECKING_BLOCKS, checking.length);
        meta.put(checking.segment, 0, checking.length);
        if (key != null) {
            property(TableProperties.ENCRYPTION_VERSION, Integer.BYTES);
            meta.putInt(key.version());
        }
        putChecksum(meta, start);
    }

    private void property(String name, int valueLength) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        meta.putShort(bytes.length);
        meta.put(bytes, 0, bytes.length);
        meta.putInt(valueLength);
    }

    @Override
    public void close() {
        waiting.close();
        blocks.close();
        blockKeys.close();
        hashes.close();
        checking.close();
        meta.close();
    }
}
