package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
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

    final MemorySegment bytes;
    final long chunkId;
    final String file;
    final SecretKeySpec key; // null: not encrypted

    private final TxnChunkContents contents;
    private final boolean locked; // encrypted, and opened without looking at a key

    private TxnChunkReader(TxnChunkContents contents, ShardKey shardKey) {
        this.contents = contents;
        bytes = contents.bytes;
        chunkId = contents.chunkId;
        file = contents.file;
        key = shardKey == null ? null : shardKey.fileKey(contents.keyVersion, contents.encrypted, file, 0);
        locked = shardKey == null && contents.encrypted;
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
        return new TxnChunkReader(new TxnChunkContents(bytes, chunkId), shardKey).requireUnlocked();
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
        return new TxnChunkReader(new TxnChunkContents(bytes, chunkId), null);
    }

    /**
     * The same chunk for a shard; cheap, nothing is checked again.
     *
     * @param shardKey null if the shard has none
     * @throws CoplaneException of code FILE_ENCRYPTED if it needs a key
     */
    public TxnChunkReader withKey(ShardKey shardKey) {
        return (shardKey == null && key == null ? this : new TxnChunkReader(contents, shardKey)).requireUnlocked();
    }

    private TxnChunkReader requireUnlocked() {
        if (locked) {
            String message = "Need encryption key for txn chunk " + Long.toUnsignedString(chunkId)
                    + ", encryption version " + Integer.toUnsignedString(contents.keyVersion);
            throw ShardKey.isDataKeyVersion(contents.keyVersion)
                    ? new MissingDataKeyException(ErrorCode.FILE_ENCRYPTED, message)
                    : new CoplaneException(ErrorCode.FILE_ENCRYPTED, message);
        }
        return this;
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
        return contents.firstKeys.length;
    }

    /** First inner key; a copy. */
    public byte[] smallest() {
        return contents.firstInnerKeys[0].clone();
    }

    /** Last inner key; a copy. */
    public byte[] biggest() {
        return contents.biggest.clone();
    }

    /** Whether some of the chunk's keys may lie in a range of inner keys, {@code upper} exclusive. */
    public boolean touches(byte[] lower, byte[] upper) {
        return Arrays.compareUnsigned(contents.firstInnerKeys[0], upper) < 0
                && Arrays.compareUnsigned(lower, contents.biggest) <= 0;
    }

    /** Mutations that insert. */
    public long insertCount() {
        return contents.insertCount;
    }

    /** Mutations that only check that a key does not exist. */
    public long checkNotExistCount() {
        return contents.checkNotExistCount;
    }

    /** Whether a block may hold mutations that insert or check. */
    public boolean mayCheck(int block) {
        return contents.checkingBlocks == null
                || block >= contents.checkingBlocks.length
                || contents.checkingBlocks[block] != 0;
    }

    /** Checks {@code from .. to - 1} of a segment, which end with their checksum. */
    void verifyEnd(MemorySegment of, long from, long to, long fileOffset) {
        contents.verifyEnd(of, from, to, fileOffset);
    }

    long blockStart(int block) {
        return contents.blockOffsets[block];
    }

    long blockEnd(int block) {
        return contents.blockOffsets[block + 1];
    }

    /** First key of a block as it is stored. */
    byte[] firstKey(int block) {
        return contents.firstKeys[block];
    }

    /** The block that holds a key if the chunk does. */
    int blockOf(byte[] innerKey) {
        int low = 0;
        int high = contents.firstInnerKeys.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (Arrays.compareUnsigned(contents.firstInnerKeys[middle], innerKey) <= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return Math.max(0, low - 1);
    }
}
