package io.coplane.sst;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.cache.CachedBlock;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import javax.crypto.spec.SecretKeySpec;

/**
 * What a cursor walks: blocks of newest versions, blocks of older ones, an index of each. Borrows the bytes. Immutable but for the marks of
 * verified blocks; thread-safe, unless it is streamed: then it has one reader.
 */
final class BlockTable {
    final MemorySegment bytes;
    final CachedBlock cached; // the file in the block cache; null: not cached, and so are its blocks not
    final long fileId;
    final String file;
    final BlockIndex index;
    final BlockIndex oldIndex;
    final CompressionType compression;
    final ChecksumType checksum;
    final SecretKeySpec key; // null: not encrypted
    final long keyTag; // fingerprint of the key
    final byte[] smallest;
    final byte[] biggest;
    final long maxTs;
    final BinaryFuse8 filter; // null: none

    // null: the bytes are the whole file
    private BlockStream stream;
    private BlockStream oldStream;

    // Checksums are verified once: bytes don't change. A lost race verifies twice.
    private final boolean[] verified;
    private final boolean[] oldVerified;

    // Likewise the order of keys, in a block and towards its neighbours; null: of a memtable, which is our own.
    private final boolean[] ordered;
    private final boolean[] oldOrdered;

    // Blocks wanted before, of tables that keep blocks; a lost race asks once more.
    private final boolean[] touched;
    private final boolean[] oldTouched;

    /** @param isOurs of a table that was made in this process: its order is not checked */
    BlockTable(
            MemorySegment bytes,
            CachedBlock cached,
            long fileId,
            String file,
            BlockIndex index,
            BlockIndex oldIndex,
            CompressionType compression,
            ChecksumType checksum,
            SecretKeySpec key,
            byte[] smallest,
            byte[] biggest,
            long maxTs,
            BinaryFuse8 filter,
            boolean isOurs) {
        this.bytes = bytes;
        this.cached = cached;
        this.fileId = fileId;
        this.file = file;
        this.index = index;
        this.oldIndex = oldIndex;
        this.compression = compression;
        this.checksum = checksum;
        this.key = key;
        this.keyTag = key == null ? 0 : Fingerprint64.hash(key.getEncoded());
        this.smallest = smallest;
        this.biggest = biggest;
        this.maxTs = maxTs;
        this.filter = filter;
        this.verified = new boolean[index.count()];
        this.oldVerified = new boolean[oldIndex.count()];
        this.ordered = isOurs ? null : new boolean[index.count()];
        this.oldOrdered = isOurs ? null : new boolean[oldIndex.count()];
        this.touched = cached == null ? null : new boolean[index.count()];
        this.oldTouched = cached == null ? null : new boolean[oldIndex.count()];
    }

    /** Whether blocks are kept decoded: those that are not read in place, of files that are kept. */
    boolean keepsBlocks() {
        return cached != null && (compression != CompressionType.NONE || key != null);
    }

    /** Notes that a block is wanted. @return whether it was wanted before */
    boolean touch(boolean old, int block) {
        boolean[] of = old ? oldTouched : touched;
        boolean before = of[block];
        of[block] = true;
        return before;
    }

    /** Has blocks read from the file when they are asked for, by one thread; {@link #bytes} holds none then. */
    BlockTable streamed(FileParts parts, int pieceBytes, MemoryGuard guard, BooleanSupplier relief) {
        stream = new BlockStream(parts, index, file, pieceBytes, guard, relief);
        oldStream = new BlockStream(parts, oldIndex, file, pieceBytes, guard, relief);
        return this;
    }

    /** The stream of a kind of blocks; null if the bytes are the whole file. */
    BlockStream stream(boolean old) {
        return old ? oldStream : stream;
    }

    /** Frees what a streamed table has read. */
    void release() {
        if (stream != null) {
            stream.release();
            oldStream.release();
        }
    }

    boolean isVerified(boolean old, int block) {
        return (old ? oldVerified : verified)[block];
    }

    void markVerified(boolean old, int block) {
        (old ? oldVerified : verified)[block] = true;
    }

    /**
     * Checks, the first time that a block is read, that it begins with the key that the index has of it, that its keys ascend, and that they end before
     * the next block's and the table's last one (sst.md 3.3 to 3.5).
     *
     * @param view on the block
     * @throws io.coplane.nativecache.CoplaneException of code FILE_FORMAT
     */
    void checkOrder(boolean old, int block, BlockView view) {
        boolean[] done = old ? oldOrdered : ordered;
        if (done == null || done[block]) {
            return;
        }
        BlockIndex of = old ? oldIndex : index;
        if (!Arrays.equals(of.copyKey(block), view.copyKey(0))) {
            throw FileErrors.format(file, of.start(block), "block begins with another key than its index says");
        }
        view.checkOrder(old);
        byte[] last = view.copyKey(view.count - 1);
        boolean inBounds = block + 1 < of.count()
                ? Arrays.compareUnsigned(last, of.copyKey(block + 1)) < (old ? 1 : 0)
                : Arrays.compareUnsigned(last, biggest) <= 0;
        if (!inBounds || Arrays.compareUnsigned(view.copyKey(0), smallest) < 0) {
            throw FileErrors.format(file, of.start(block), "keys of a block go beyond its bounds");
        }
        done[block] = true;
    }

    /** Whether a key lies within the bounds of the table. */
    boolean spans(byte[] k, int offset, int length) {
        return Bytes.compare(k, offset, length, smallest) >= 0 && Bytes.compare(k, offset, length, biggest) <= 0;
    }
}
