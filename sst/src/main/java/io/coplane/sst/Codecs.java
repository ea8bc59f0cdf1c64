package io.coplane.sst;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;

/** Decompression from native memory to native memory, with lengths checked before memory is taken. */
final class Codecs {
    private static final LZ4SafeDecompressor LZ4 = LZ4Factory.fastestInstance().safeDecompressor();

    /** LZ4 can't grow input more than this. */
    private static final long LZ4_GREATEST_RATIO = 255;

    private Codecs() {}

    /**
     * Decompresses one LZ4 block of a known length.
     *
     * @param from   of the compressed bytes, in bounds
     * @param to     of the compressed bytes, in bounds
     * @param bytes  length that it must decompress to
     * @param offset in the file, for messages
     */
    static void lz4(
            MemorySegment stored, long from, long to, long bytes, NativeScratch into, String file, long offset) {
        checkLz4(to - from, bytes, file, offset);
        into.atLeast(bytes);
        lz4(stored, from, to, bytes, into.buffer(), file, offset);
    }

    /** Fails unless {@code source} compressed bytes can stand for {@code bytes}. */
    static void checkLz4(long source, long bytes, String file, long offset) {
        if (source < 1 || source > Integer.MAX_VALUE) {
            throw FileErrors.format(file, offset, "LZ4 block has a wrong length: bytes=" + source);
        }
        if (bytes < 1 || bytes > Integer.MAX_VALUE || bytes > LZ4_GREATEST_RATIO * source) {
            throw FileErrors.format(file, offset, "LZ4 block can't have this length: bytes=" + bytes);
        }
    }

    /** As the other one, after {@link #checkLz4}, into a buffer of native memory that has room. */
    static void lz4(MemorySegment stored, long from, long to, long bytes, ByteBuffer into, String file, long offset) {
        try {
            var input = stored.asSlice(from, to - from).asByteBuffer();
            int decoded = LZ4.decompress(input, 0, (int) (to - from), into, 0, (int) bytes);
            if (decoded != bytes) {
                throw FileErrors.format(
                        file, offset, "LZ4 block has another length: bytes=" + bytes + " decoded=" + decoded);
            }
        } catch (LZ4Exception e) {
            throw FileErrors.format(file, offset, "LZ4 block is broken", e);
        }
    }

    /**
     * Decompresses one zstd frame that names its content size. Parameters as for {@link #lz4}.
     *
     * @return length that it decompressed to
     */
    static long zstd(MemorySegment stored, long from, long to, NativeScratch into, String file, long offset) {
        long bytes = zstdBytes(stored, from, to, file, offset);
        into.atLeast(bytes);
        zstd(stored, from, to, bytes, into.buffer(), file, offset);
        return bytes;
    }

    /** Length that a zstd frame says it decompresses to, bounded by what its compressed bytes can stand for. */
    static long zstdBytes(MemorySegment stored, long from, long to, String file, long offset) {
        if (to - from > Integer.MAX_VALUE) {
            throw FileErrors.format(file, offset, "zstd block has a wrong length: bytes=" + (to - from));
        }
        return ZstdFrame.contentBytes(stored, from, to, file, offset);
    }

    /** Decompresses a frame of {@link #zstdBytes} into a buffer of native memory that has room. */
    static void zstd(MemorySegment stored, long from, long to, long bytes, ByteBuffer into, String file, long offset) {
        int source = (int) (to - from);
        var input = stored.asSlice(from, source).asByteBuffer();
        ZstdDecompressCtx context = ZstdContexts.take();
        try {
            int decoded = context.decompressDirectByteBuffer(into, 0, (int) bytes, input, 0, source);
            if (decoded != bytes) {
                throw FileErrors.format(
                        file, offset, "zstd block has another length: bytes=" + bytes + " decoded=" + decoded);
            }
        } catch (ZstdException e) {
            throw FileErrors.format(file, offset, "zstd block is broken", e);
        } finally {
            ZstdContexts.giveBack(context);
        }
    }
}
