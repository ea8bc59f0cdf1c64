package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.Checksum;
import javax.crypto.spec.SecretKeySpec;

/**
 * One txn chunk: sorted mutations of a large transaction (snapshot.md 7.1 to 7.5). Footer, index, hash index and properties are checked when it is
 * opened, blocks when they are read. Lookups use the index; the hash index is only checked.
 *
 * <pre>
 * index at  bytes     field          unit and bounds
 *        0  4         blocks b       at least 1
 *        4  4 (b+1)   block offsets  in the file, ascending; the last = end of the blocks
 * 4 (b+2)   4 (b+1)   key offsets    in the keys, ascending; the last = start of the biggest key
 * 4 (2b+3)  rest      keys           first key of each block, then the biggest key of the chunk
 *
 * properties: keyLength (2), key, valueLength (4), value; again and again
 * </pre>
 *
 * <p>Borrows the file's bytes. Immutable, thread-safe.
 */
public final class TxnChunkReader {
    static final String INSERT = "insert";
    static final String CHECK_NOT_EXIST = "check_ne";
    static final String CHECKING_BLOCKS = "check_blks";

    private static final int KEY_VERSION_BYTES = Integer.BYTES;

    final MemorySegment bytes;
    final long chunkId;
    final String file;
    final ChecksumType checksum;
    final SecretKeySpec key; // null: not encrypted

    private final long[] blockOffsets; // one more than blocks
    private final boolean locked; // encrypted, and opened without looking at a key
    private final byte[][] firstKeys; // as stored: blocks take their prefix from them
    private final byte[][] firstInnerKeys;
    private final byte[] biggest;
    private long insertCount;
    private long checkNotExistCount;
    private byte[] checkingBlocks; // null: any block may hold checks
    private int keyVersion;
    private boolean encrypted;

    private TxnChunkReader(MemorySegment bytes, long chunkId, ShardKey shardKey) {
        this.bytes = bytes;
        this.chunkId = chunkId;
        file = HexFormat.of().toHexDigits(chunkId) + ".txn";
        TxnChunkFooter footer = TxnChunkFooter.read(bytes, file);
        checksum = footer.checksum();
        verifyEnd(bytes, footer.indexOffset(), footer.hashIndexOffset(), footer.indexOffset());
        verifyEnd(bytes, footer.hashIndexOffset(), footer.propertiesOffset(), footer.hashIndexOffset());
        verifyEnd(bytes, footer.propertiesOffset(), footer.footerOffset(), footer.propertiesOffset());

        long at = footer.indexOffset();
        long end = footer.hashIndexOffset() - Formats.CHECKSUM_BYTES;
        long count = end - at < Integer.BYTES ? 0 : bytes.get(Layouts.LE_INT, at) & 0xFFFF_FFFFL;
        long keysAt = at + Integer.BYTES + 2 * Integer.BYTES * (count + 1);
        if (count == 0 || keysAt > end) {
            throw FileErrors.format(file, at, "index of a txn chunk is too short: blocks=" + count);
        }
        int blocks = (int) count; // fits: each takes 8 bytes of a file below 4 GiB
        blockOffsets = new long[blocks + 1];
        firstKeys = new byte[blocks][];
        firstInnerKeys = new byte[blocks][];
        long blockOffsetsAt = at + Integer.BYTES;
        for (int i = 0; i <= blocks; i++) {
            blockOffsets[i] = bytes.get(Layouts.LE_INT, blockOffsetsAt + 4L * i) & 0xFFFF_FFFFL;
            if (i > 0 && blockOffsets[i] <= blockOffsets[i - 1] || blockOffsets[i] > footer.indexOffset()) {
                throw FileErrors.format(file, blockOffsetsAt + 4L * i, "block offset is out of bounds: block=" + i);
            }
        }
        long keyOffsetsAt = blockOffsetsAt + 4L * (blocks + 1);
        for (int i = 0; i < blocks; i++) {
            firstKeys[i] = readKey(keyOffsetsAt + 4L * i, keysAt, end, false);
            firstInnerKeys[i] = Bytes.trim(firstKeys[i]);
            if (i > 0 && Arrays.compareUnsigned(firstInnerKeys[i - 1], firstInnerKeys[i]) >= 0) {
                throw FileErrors.format(
                        file, keyOffsetsAt + 4L * i, "first keys of blocks are out of order: block=" + i);
            }
        }
        biggest = Bytes.trim(readKey(keyOffsetsAt + 4L * blocks, keysAt, end, true));
        if (Arrays.compareUnsigned(firstInnerKeys[blocks - 1], biggest) > 0) {
            throw FileErrors.format(file, keyOffsetsAt + 4L * blocks, "biggest key is less than a key before it");
        }
        readProperties(footer.propertiesOffset(), footer.footerOffset() - Formats.CHECKSUM_BYTES);
        key = shardKey == null ? null : shardKey.fileKey(keyVersion);
        locked = shardKey == null && encrypted;
    }

    /** The same chunk with another key. */
    private TxnChunkReader(TxnChunkReader same, ShardKey shardKey) {
        bytes = same.bytes;
        chunkId = same.chunkId;
        file = same.file;
        checksum = same.checksum;
        blockOffsets = same.blockOffsets;
        firstKeys = same.firstKeys;
        firstInnerKeys = same.firstInnerKeys;
        biggest = same.biggest;
        insertCount = same.insertCount;
        checkNotExistCount = same.checkNotExistCount;
        checkingBlocks = same.checkingBlocks;
        keyVersion = same.keyVersion;
        encrypted = same.encrypted;
        key = shardKey == null ? null : shardKey.fileKey(keyVersion);
        locked = shardKey == null && encrypted;
    }

    /**
     * Opens a chunk.
     *
     * @param bytes    the whole file, in native memory; borrowed
     * @param chunkId  names the file in errors and is part of the encryption
     * @param shardKey null if the shard has none
     * @throws CoplaneException of code FILE_TRUNCATED, FILE_FORMAT, FILE_CHECKSUM; FILE_ENCRYPTED if it needs a key
     */
    public static TxnChunkReader open(MemorySegment bytes, long chunkId, ShardKey shardKey) {
        Formats.requireNative(bytes);
        return new TxnChunkReader(bytes, chunkId, shardKey).requireUnlocked();
    }

    /**
     * Opens a chunk that readers with different keys share: {@link #withKey} gives one that reads.
     *
     * @param bytes   the whole file, in native memory; borrowed
     * @param chunkId names the file in errors and is part of the encryption
     * @throws CoplaneException of code FILE_TRUNCATED, FILE_FORMAT, FILE_CHECKSUM
     */
    public static TxnChunkReader openPlain(MemorySegment bytes, long chunkId) {
        Formats.requireNative(bytes);
        return new TxnChunkReader(bytes, chunkId, null);
    }

    /**
     * The same chunk for a shard; cheap, nothing is checked again.
     *
     * @param shardKey null if the shard has none
     * @throws CoplaneException of code FILE_ENCRYPTED if it needs a key
     */
    public TxnChunkReader withKey(ShardKey shardKey) {
        return (shardKey == null && key == null ? this : new TxnChunkReader(this, shardKey)).requireUnlocked();
    }

    private byte[] readKey(long offsetAt, long keysAt, long end, boolean last) {
        long from = keysAt + (bytes.get(Layouts.LE_INT, offsetAt) & 0xFFFF_FFFFL);
        long to = last ? end : keysAt + (bytes.get(Layouts.LE_INT, offsetAt + Integer.BYTES) & 0xFFFF_FFFFL);
        if (from > to || to > end || to - from > Formats.MAX_KEY_BYTES) {
            throw FileErrors.format(file, offsetAt, "key of the index is out of bounds");
        }
        return bytes.asSlice(from, to - from).toArray(Layouts.BYTE);
    }

    private void readProperties(long from, long end) {
        long at = from;
        while (at < end) {
            if (end - at < Short.BYTES) {
                throw FileErrors.format(file, at, "property is cut");
            }
            int nameBytes = bytes.get(Layouts.LE_SHORT, at) & 0xFFFF;
            long valueBytesAt = at + Short.BYTES + nameBytes;
            if (end - valueBytesAt < Integer.BYTES) {
                throw FileErrors.format(file, at, "property is cut");
            }
            long valueBytes = bytes.get(Layouts.LE_INT, valueBytesAt) & 0xFFFF_FFFFL;
            long valueAt = valueBytesAt + Integer.BYTES;
            if (valueBytes > end - valueAt) {
                throw FileErrors.format(file, at, "property is cut");
            }
            String name = new String(
                    bytes.asSlice(at + Short.BYTES, nameBytes).toArray(Layouts.BYTE), StandardCharsets.ISO_8859_1);
            readProperty(name, valueAt, valueBytes);
            at = valueAt + valueBytes;
        }
    }

    private void readProperty(String name, long at, long length) {
        switch (name) {
            case INSERT -> insertCount = number(name, at, length) & 0xFFFF_FFFFL;
            case CHECK_NOT_EXIST -> checkNotExistCount = number(name, at, length) & 0xFFFF_FFFFL;
            case TableProperties.ENCRYPTION_VERSION -> {
                keyVersion = number(name, at, length);
                encrypted = true;
            }
            case CHECKING_BLOCKS ->
                checkingBlocks =
                        bytes.asSlice(at, Math.min(length, firstKeys.length)).toArray(Layouts.BYTE);
            default -> {
                // unknown properties are ignored (snapshot.md 7.5)
            }
        }
    }

    private int number(String name, long at, long length) {
        if (length != KEY_VERSION_BYTES) {
            throw FileErrors.format(file, at, "property has a wrong length: name=" + name + " bytes=" + length);
        }
        return bytes.get(Layouts.LE_INT, at);
    }

    private TxnChunkReader requireUnlocked() {
        if (locked) {
            throw new CoplaneException(
                    ErrorCode.FILE_ENCRYPTED,
                    "Need encryption key for txn chunk " + Long.toUnsignedString(chunkId) + ", encryption version "
                            + Integer.toUnsignedString(keyVersion));
        }
        return this;
    }

    /** Checks {@code from .. to - 1} of a segment, which end with their checksum. */
    void verifyEnd(MemorySegment of, long from, long to, long fileOffset) {
        long stop = to - Formats.CHECKSUM_BYTES;
        if (stop < from) {
            throw FileErrors.format(file, fileOffset, "Invalid checksum data is too short");
        }
        int stored = of.get(Layouts.LE_INT, stop);
        int computed = 0;
        Checksum crc = Formats.checksum(checksum);
        if (crc != null) {
            for (long at = from; at < stop; at += Integer.MAX_VALUE) {
                crc.update(
                        of.asSlice(at, Math.min(Integer.MAX_VALUE, stop - at)).asByteBuffer());
            }
            computed = (int) crc.getValue();
        }
        if (stored != computed) {
            throw FileErrors.checksum(
                    file,
                    fileOffset,
                    "Invalid checksum checksum mismatch expect " + Integer.toUnsignedString(stored) + " got "
                            + Integer.toUnsignedString(computed) + " file_id " + Long.toUnsignedString(chunkId));
        }
    }

    /**
     * A cursor over the chunk, on no entry yet.
     *
     * @param arena owns the cursor's scratch memory; borrowed
     */
    public TxnChunkCursor cursor(NativeArena arena) {
        requireUnlocked();
        return new TxnChunkCursor(this, arena);
    }

    /** Chunk id. */
    public long chunkId() {
        return chunkId;
    }

    /** Number of blocks; at least 1. */
    public int blocks() {
        return firstKeys.length;
    }

    /** First inner key; a copy. */
    public byte[] smallest() {
        return firstInnerKeys[0].clone();
    }

    /** Last inner key; a copy. */
    public byte[] biggest() {
        return biggest.clone();
    }

    /** Whether some of the chunk's keys may lie in a range of inner keys, {@code upper} exclusive. */
    public boolean touches(byte[] lower, byte[] upper) {
        return Arrays.compareUnsigned(firstInnerKeys[0], upper) < 0 && Arrays.compareUnsigned(lower, biggest) <= 0;
    }

    /** Mutations that insert. */
    public long insertCount() {
        return insertCount;
    }

    /** Mutations that only check that a key does not exist. */
    public long checkNotExistCount() {
        return checkNotExistCount;
    }

    /** Whether a block may hold mutations that insert or check. */
    public boolean mayCheck(int block) {
        return checkingBlocks == null || block >= checkingBlocks.length || checkingBlocks[block] != 0;
    }

    long blockStart(int block) {
        return blockOffsets[block];
    }

    long blockEnd(int block) {
        return blockOffsets[block + 1];
    }

    /** First key of a block as it is stored. */
    byte[] firstKey(int block) {
        return firstKeys[block];
    }

    /** The block that holds a key if the chunk does. */
    int blockOf(byte[] innerKey) {
        int low = 0;
        int high = firstInnerKeys.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (Arrays.compareUnsigned(firstInnerKeys[middle], innerKey) <= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return Math.max(0, low - 1);
    }
}
