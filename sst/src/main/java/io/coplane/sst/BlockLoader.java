package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.cache.BlockCache;
import io.coplane.nativecache.cache.BlockKey;
import io.coplane.nativecache.cache.CachedBlock;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.zip.Checksum;

/**
 * Makes stored blocks readable: decrypts, verifies, decompresses (sst.md 5), in this order. What needs neither decryption nor decompression is
 * read in place.
 *
 * <p>Blocks of cached files go into the block cache when they are wanted for the second time, and are read there, pinned until the next block of
 * the same kind is loaded or the arena is closed. The first time they are decoded into scratch memory: a scan that never comes back neither
 * fills the cache nor pays for memory that is not in the processor's caches. One thread.
 */
final class BlockLoader {
    private final Place main;
    private final Place old;
    private BlockCipher cipher; // made when first needed
    private Checksum crc;

    private ChecksumType crcType = ChecksumType.NONE;

    /** @param arena borrowed; owns the scratch memory, and its close gives pins back */
    BlockLoader(NativeArena arena) {
        main = new Place(arena);
        old = new Place(arena);
        arena.onClose(this::unpin);
    }

    private void unpin() {
        main.unpin();
        old.unpin();
    }

    /** Loads a block into a view and has its order checked; the view is valid until the next block of the same kind is loaded. */
    void load(BlockTable table, boolean isOld, int block, BlockView into) {
        load(table, isOld, block, into, true);
    }

    /** As the other one, for whoever checks the order himself. */
    void loadUnordered(BlockTable table, boolean isOld, int block, BlockView into) {
        load(table, isOld, block, into, false);
    }

    private void load(BlockTable table, boolean isOld, int block, BlockView into, boolean ordered) {
        Place place = isOld ? old : main;
        place.unpin();
        place.stored = MemorySegment.NULL;
        try {
            if (table.keepsBlocks() && table.touch(isOld, block)) {
                loadCached(table, isOld, block, place, into);
            } else {
                loadAlone(table, isOld, block, place, into);
            }
            if (ordered) {
                table.checkOrder(isOld, block, into);
            }
        } catch (CoplaneException e) {
            boolean broken = e.code() == ErrorCode.FILE_CHECKSUM || e.code() == ErrorCode.FILE_FORMAT;
            if (broken && table.cached != null) {
                table.cached.discard(); // perhaps the store's copy is sound
            }
            throw e;
        }
    }

    private void loadAlone(BlockTable table, boolean isOld, int block, Place place, BlockView into) {
        NativeScratch body = place.body;
        BlockIndex index = isOld ? table.oldIndex : table.index;
        long start = index.start(block);
        long from = start;
        long to = index.end(block);
        MemorySegment stored = table.bytes;
        BlockStream stream = table.stream(isOld);
        if (stream != null) {
            stored = stream.block(block);
            to -= from;
            from = 0;
        }
        if (table.key != null) {
            stored = decrypt(
                    table,
                    index,
                    block,
                    stored,
                    from,
                    to - from,
                    table.compression == CompressionType.NONE ? body : place.plain);
            to -= from;
            from = 0;
        }
        verify(table, isOld, block, stored, from, to);
        place.stored = stored;
        place.storedFrom = from;
        place.storedTo = to;
        from += Formats.CHECKSUM_BYTES;
        switch (table.compression) {
            case NONE -> into.wrap(stored, from, to, table.file, start);
            case LZ4 -> {
                long bytes = lz4Bytes(stored, from, to, table.file, start);
                Codecs.lz4(stored, from + Integer.BYTES, to, bytes, body, table.file, start);
                into.wrap(body.atLeast(bytes), 0, bytes, table.file, start);
            }
            case ZSTD -> {
                long bytes = Codecs.zstd(stored, from, to, body, table.file, start);
                into.wrap(body.atLeast(bytes), 0, bytes, table.file, start);
            }
        }
    }

    /** Appends the block of a kind that was loaded last as it is stored, with its checksum, but decrypted. */
    void copyStored(boolean isOld, NativeBytes to) {
        Place place = isOld ? old : main;
        to.put(place.stored, place.storedFrom, (int) (place.storedTo - place.storedFrom));
    }

    /** Whether the block of a kind that was loaded last can be copied as it is stored. */
    boolean hasStored(boolean isOld) {
        return (isOld ? old : main).stored.byteSize() > 0;
    }

    private void loadCached(BlockTable table, boolean isOld, int block, Place place, BlockView into) {
        BlockIndex index = isOld ? table.oldIndex : table.index;
        long start = index.start(block);
        var key = new BlockKey(FileKind.SST, table.keyTag, table.fileId, start);
        BlockCache cache = table.cached.cache();
        CachedBlock pin = cache.pin(key);
        if (pin == null) {
            pin = decode(cache, key, table, isOld, block, place.plain);
        }
        if (pin == null) {
            loadAlone(table, isOld, block, place, into);
            return;
        }
        place.pin = pin;
        into.wrap(pin.segment(), 0, pin.segment().byteSize(), table.file, start);
    }

    /** @return null if the cache has no memory for the block */
    private CachedBlock decode(
            BlockCache cache, BlockKey key, BlockTable table, boolean isOld, int block, NativeScratch plain) {
        BlockIndex index = isOld ? table.oldIndex : table.index;
        long start = index.start(block);
        boolean encrypted = table.key != null;
        MemorySegment stored = encrypted
                ? decrypt(table, index, block, table.bytes, start, index.end(block) - start, plain)
                : table.bytes;
        long at = encrypted ? 0 : start;
        long to = encrypted ? index.end(block) - start : index.end(block);
        long from = at + Formats.CHECKSUM_BYTES;
        return switch (table.compression) {
            case NONE -> {
                if (from == to) {
                    throw FileErrors.format(table.file, start, "block without a body");
                }
                yield cache.block(key, to - from, body -> {
                    verify(table, isOld, block, stored, at, to);
                    MemorySegment.copy(stored, from, body, 0, to - from);
                });
            }
            case LZ4 -> {
                long bytes = lz4Bytes(stored, from, to, table.file, start);
                Codecs.checkLz4(to - from - Integer.BYTES, bytes, table.file, start);
                yield cache.block(key, bytes, body -> {
                    verify(table, isOld, block, stored, at, to);
                    Codecs.lz4(stored, from + Integer.BYTES, to, bytes, body.asByteBuffer(), table.file, start);
                });
            }
            case ZSTD -> {
                long bytes = Codecs.zstdBytes(stored, from, to, table.file, start);
                yield cache.block(key, bytes, body -> {
                    verify(table, isOld, block, stored, at, to);
                    Codecs.zstd(stored, from, to, bytes, body.asByteBuffer(), table.file, start);
                });
            }
        };
    }

    private static long lz4Bytes(MemorySegment stored, long from, long to, String file, long start) {
        if (to - from < Integer.BYTES) {
            throw FileErrors.format(file, start, "LZ4 block without a length");
        }
        return stored.get(Layouts.LE_INT, from) & 0xFFFF_FFFFL;
    }

    private void verify(BlockTable table, boolean isOld, int block, MemorySegment stored, long from, long to) {
        if (!table.isVerified(isOld, block)) {
            long start = (isOld ? table.oldIndex : table.index).start(block);
            Formats.verify(stored, from, to, checksum(table.checksum), table.checksum, table.file, start, "block");
            table.markVerified(isOld, block);
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

    /** Where the block of one kind is: in scratch memory, or pinned in the cache. */
    private static final class Place {
        private final NativeScratch plain; // decrypted, still compressed
        private final NativeScratch body;
        private CachedBlock pin;

        // the block as it is stored but for encryption; NULL: not at hand
        private MemorySegment stored = MemorySegment.NULL;
        private long storedFrom;
        private long storedTo;

        private Place(NativeArena arena) {
            plain = new NativeScratch(arena);
            body = new NativeScratch(arena);
        }

        private void unpin() {
            CachedBlock held = pin;
            pin = null;
            if (held != null) {
                held.release();
            }
        }
    }
}
