package io.coplane.sst;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Factory;

/** Compresses block bodies and blobs (sst.md 5.2, 7.2). Owns the codec's state until closed. One thread. */
final class BlockCompressor implements AutoCloseable {
    private static final LZ4Compressor LZ4 = LZ4Factory.fastestInstance().fastCompressor();

    private final CompressionType type;
    private final ZstdCompressCtx zstd; // null: not needed

    /** @param level of zstd; the others have none */
    BlockCompressor(CompressionType type, int level) {
        this.type = type;
        this.zstd = type == CompressionType.ZSTD
                ? new ZstdCompressCtx().setLevel(level).setContentSize(true)
                : null;
    }

    CompressionType type() {
        return type;
    }

    /** Most bytes that {@link #compress} appends for {@code count} bytes. */
    int mostBytes(int count) {
        long most = switch (type) {
            case NONE -> count;
            case LZ4 -> (long) LZ4.maxCompressedLength(count) + Integer.BYTES;
            case ZSTD -> Zstd.compressBound(count);
        };
        return (int) Math.min(Integer.MAX_VALUE - Formats.CHECKSUM_BYTES, most);
    }

    /**
     * Appends the compressed form of {@code count} bytes.
     *
     * @param withLength whether LZ4 gets its length prefix: in SSTs, not in blob files
     */
    void compress(byte[] from, int offset, int count, boolean withLength, GrowableBytes to) {
        switch (type) {
            case NONE -> to.put(from, offset, count);
            case LZ4 -> {
                if (withLength) {
                    to.putInt(count);
                }
                int most = LZ4.maxCompressedLength(count);
                to.reserve(most);
                to.length += LZ4.compress(from, offset, count, to.bytes, to.length, most);
            }
            case ZSTD -> {
                int most = (int) Math.min(Integer.MAX_VALUE, Zstd.compressBound(count));
                to.reserve(most);
                to.length += zstd.compressByteArray(to.bytes, to.length, most, from, offset, count);
            }
        }
    }

    @Override
    public void close() {
        if (zstd != null) {
            zstd.close();
        }
    }
}
