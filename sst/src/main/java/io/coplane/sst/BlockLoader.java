package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.zip.Checksum;

/**
 * Makes stored blocks readable: decrypts, verifies, decompresses (sst.md 5), in this order. What needs neither decryption nor decompression is
 * read in place. One thread.
 */
final class BlockLoader {
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
        BlockStream stream = table.stream(old);
        if (stream != null) {
            stored = stream.block(block);
            to -= from;
            from = 0;
        }
        NativeScratch body = old ? oldBody : mainBody;
        if (table.key != null) {
            stored = decrypt(
                    table,
                    index,
                    block,
                    stored,
                    from,
                    to - from,
                    table.compression == CompressionType.NONE ? body : plain);
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
                if (to - from < Integer.BYTES) {
                    throw FileErrors.format(table.file, start, "LZ4 block without a length");
                }
                long bytes = stored.get(Layouts.LE_INT, from) & 0xFFFF_FFFFL;
                Codecs.lz4(stored, from + Integer.BYTES, to, bytes, body, table.file, start);
                into.wrap(body.atLeast(bytes), 0, bytes, table.file, start);
            }
            case ZSTD -> {
                long bytes = Codecs.zstd(stored, from, to, body, table.file, start);
                into.wrap(body.atLeast(bytes), 0, bytes, table.file, start);
            }
        }
    }

    private MemorySegment decrypt(
            BlockTable table,
            BlockIndex index,
            int block,
            MemorySegment stored,
            long at,
            long length,
            NativeScratch into) {
        if (cipher == null) {
            cipher = new BlockCipher();
        }
        MemorySegment clear = into.atLeast(length);
        cipher.decrypt(table.key, index.originFileId(block), (int) index.start(block), stored, at, length, clear);
        return clear;
    }

    private Checksum checksum(ChecksumType type) {
        if (crcType != type) {
            crc = Formats.checksum(type);
            crcType = type;
        }
        return crc;
    }
}
