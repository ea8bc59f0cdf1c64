package io.coplane.sst;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Factory;

/** Compresses block bodies and blobs (sst.md 5.2, 7.2) from native memory to native memory. Owns the codec's state until closed. One thread. */
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
                to.reserve(most);
                to.length += zstd.compressDirectByteBuffer(
                        to.buffer().clear(), to.length, most, from.buffer().clear(), 0, count);
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
