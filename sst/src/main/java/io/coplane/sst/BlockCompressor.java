package io.coplane.sst;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import io.coplane.nativecache.MemoryGuard;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Factory;

/**
 * Compresses block bodies and blobs (sst.md 5.2, 7.2) from native memory to native memory. Owns the codec's state, whose work memory is charged to the guard
 * from the first block on, until closed. One thread.
 */
final class BlockCompressor implements AutoCloseable {
    private static final LZ4Compressor LZ4 = LZ4Factory.fastestInstance().fastCompressor();

    private static final long MIB = 1 << 20;

    /** Literals and sequences are held for so much input at most: the largest block of a zstd frame. */
    private static final long FRAME_BLOCK_BYTES = 128 << 10;

    /** Entropy tables and the state itself. */
    private static final long STATE_BYTES = 256 << 10;

    private static final int SEQUENCE_BYTES_A_BYTE = 6;
    private static final int TABLE_BYTES_A_BYTE = 16;

    private final CompressionType type;
    private final int level;
    private final ZstdCompressCtx zstd; // null: not needed
    private final MemoryGuard guard;
    private long chargedBytes;

    /**
     * @param level of zstd; the others have none
     * @param guard charged for the state of zstd; borrowed
     */
    BlockCompressor(CompressionType type, int level, MemoryGuard guard) {
        this.type = type;
        this.level = level;
        this.guard = guard;
        this.zstd = type == CompressionType.ZSTD
                ? new ZstdCompressCtx().setLevel(level).setContentSize(true)
                : null;
    }

    CompressionType type() {
        return type;
    }

    /**
     * Appends the compressed form of bytes.
     *
     * @param withLength whether LZ4 gets its length prefix: in SSTs, not in blob files
     */
    void compress(NativeBytes from, boolean withLength, NativeBytes to) {
        int count = from.length;
        switch (type) {
            case NONE -> to.put(from.segment, 0, count);
            case LZ4 -> {
                if (withLength) {
                    to.putInt(count);
                }
                int most = LZ4.maxCompressedLength(count);
                to.reserve(most);
                to.length += LZ4.compress(
                        from.buffer().clear(), 0, count, to.buffer().clear(), to.length, most);
            }
            case ZSTD -> {
                int most = (int) Math.min(Integer.MAX_VALUE, Zstd.compressBound(count));
                chargeWork(count);
                to.reserve(most);
                to.length += zstd.compressDirectByteBuffer(
                        to.buffer().clear(), to.length, most, from.buffer().clear(), 0, count);
            }
        }
    }

    /** Its memory grows with the largest input, and stays. */
    private void chargeWork(int count) {
        long bytes = workBytes(level, count);
        if (bytes > chargedBytes) {
            guard.charge(bytes - chargedBytes);
            chargedBytes = bytes;
        }
    }

    /**
     * Most bytes that a state of zstd (1.5) holds after an input of {@code count} bytes: two tables of four-byte positions, each with up to twice as many as
     * the input has bytes but not more than the level has, and what one block of the frame needs. Measured states hold a third of it or more.
     */
    static long workBytes(int level, int count) {
        long tables = TABLE_BYTES_A_BYTE * (Long.highestOneBit(Math.max(1, count - 1)) << 1);
        return Math.min(tables, mostTableBytes(level))
                + SEQUENCE_BYTES_A_BYTE * Math.min(count, FRAME_BLOCK_BYTES)
                + STATE_BYTES;
    }

    /** By the largest hash and chain logs of the levels' parameters. */
    private static long mostTableBytes(int level) {
        if (level <= 4) {
            return 2 * MIB;
        }
        if (level <= 9) {
            return 12 * MIB;
        }
        if (level <= 12) {
            return 48 * MIB;
        }
        return level <= 19 ? 96 * MIB : 640 * MIB;
    }

    @Override
    public void close() {
        if (zstd != null) {
            zstd.close();
        }
        guard.release(chargedBytes);
        chargedBytes = 0;
    }
}
