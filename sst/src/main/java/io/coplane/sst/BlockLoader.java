package io.coplane.sst;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.zip.Checksum;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;

/**
 * Makes stored blocks readable: decrypts, verifies, decompresses (sst.md 5), in this order. What needs neither decryption nor decompression is
 * read in place. One thread.
 */
final class BlockLoader {
    private static final LZ4SafeDecompressor LZ4 = LZ4Factory.fastestInstance().safeDecompressor();

    /** LZ4 can't grow input more than this. */
    private static final long LZ4_GREATEST_RATIO = 255;

    private final NativeScratch plain;
    private final NativeScratch mainBody;
    private final NativeScratch oldBody;
    private BlockCipher cipher; // made when first needed
    private Checksum crc;
    private ChecksumType crcType = ChecksumType.NONE;

    /** @param arena borrowed; owns the scratch memory */
    BlockLoader(NativeArena arena) {
        plain = new NativeScratch(arena);
        mainBody = new NativeScratch(arena);
        oldBody = new NativeScratch(arena);
    }

    /** Loads a block into a view; the view is valid until the next block of the same kind is loaded. */
    void load(BlockTable table, boolean old, int block, BlockView into) {
        BlockIndex index = old ? table.oldIndex : table.index;
        long start = index.start(block);
        long from = start;
        long to = index.end(block);
        MemorySegment stored = table.bytes;
        NativeScratch body = old ? oldBody : mainBody;
        if (table.key != null) {
            stored = decrypt(table, index, block, table.compression == CompressionType.NONE ? body : plain);
            to -= from;
            from = 0;
        }
        if (!table.isVerified(old, block)) {
            Formats.verify(stored, from, to, checksum(table.checksum), table.checksum, table.file, start, "block");
            table.markVerified(old, block);
        }
        from += Formats.CHECKSUM_BYTES;
        switch (table.compression) {
            case NONE -> into.wrap(stored, from, to, table.file, start);
            case LZ4 -> {
                long bytes = lz4(stored, from, to, body, table.file, start);
                into.wrap(body.atLeast(bytes), 0, bytes, table.file, start);
            }
            case ZSTD -> {
                long bytes = zstd(stored, from, to, body, table.file, start);
                into.wrap(body.atLeast(bytes), 0, bytes, table.file, start);
            }
        }
    }

    private MemorySegment decrypt(BlockTable table, BlockIndex index, int block, NativeScratch into) {
        if (cipher == null) {
            cipher = new BlockCipher();
        }
        long start = index.start(block);
        long length = index.end(block) - start;
        MemorySegment clear = into.atLeast(length);
        cipher.decrypt(table.key, index.originFileId(block), (int) start, table.bytes, start, length, clear);
        return clear;
    }

    private Checksum checksum(ChecksumType type) {
        if (crcType != type) {
            crc = Formats.checksum(type);
            crcType = type;
        }
        return crc;
    }

    private static long lz4(MemorySegment stored, long from, long to, NativeScratch body, String file, long offset) {
        long source = to - from - Integer.BYTES;
        if (source < 1 || source > Integer.MAX_VALUE) {
            throw FileErrors.format(file, offset, "LZ4 block has a wrong length: bytes=" + source);
        }
        long bytes = stored.get(Layouts.LE_INT, from) & 0xFFFF_FFFFL;
        if (bytes == 0 || bytes > Integer.MAX_VALUE || bytes > LZ4_GREATEST_RATIO * source) {
            throw FileErrors.format(file, offset, "LZ4 block can't have this length: bytes=" + bytes);
        }
        body.atLeast(bytes);
        try {
            var input = stored.asSlice(from + Integer.BYTES, source).asByteBuffer();
            int decoded = LZ4.decompress(input, 0, (int) source, body.buffer(), 0, (int) bytes);
            if (decoded != bytes) {
                throw FileErrors.format(
                        file, offset, "LZ4 block has another length: bytes=" + bytes + " decoded=" + decoded);
            }
        } catch (LZ4Exception e) {
            throw FileErrors.format(file, offset, "LZ4 block is broken", e);
        }
        return bytes;
    }

    private static long zstd(MemorySegment stored, long from, long to, NativeScratch body, String file, long offset) {
        if (to - from > Integer.MAX_VALUE) {
            throw FileErrors.format(file, offset, "zstd block has a wrong length: bytes=" + (to - from));
        }
        long bytes = ZstdFrame.contentBytes(stored, from, to, file, offset);
        body.atLeast(bytes);
        int source = (int) (to - from);
        var input = stored.asSlice(from, source).asByteBuffer();
        ZstdDecompressCtx context = ZstdContexts.take();
        try {
            int decoded = context.decompressDirectByteBuffer(body.buffer(), 0, (int) bytes, input, 0, source);
            if (decoded != bytes) {
                throw FileErrors.format(
                        file, offset, "zstd block has another length: bytes=" + bytes + " decoded=" + decoded);
            }
        } catch (ZstdException e) {
            throw FileErrors.format(file, offset, "zstd block is broken", e);
        } finally {
            ZstdContexts.giveBack(context);
        }
        return bytes;
    }
}
