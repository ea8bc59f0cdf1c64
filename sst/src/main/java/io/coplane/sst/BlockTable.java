package io.coplane.sst;

import io.coplane.nativecache.MemoryGuard;
import java.lang.foreign.MemorySegment;
import javax.crypto.spec.SecretKeySpec;

/**
 * What a cursor walks: blocks of newest versions, blocks of older ones, an index of each. Borrows the bytes. Immutable but for the marks of
 * verified blocks; thread-safe, unless it is streamed: then it has one reader.
 */
final class BlockTable {
    final MemorySegment bytes;
    final String file;
    final BlockIndex index;
    final BlockIndex oldIndex;
    final CompressionType compression;
    final ChecksumType checksum;
    final SecretKeySpec key; // null: not encrypted
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

    BlockTable(
            MemorySegment bytes,
            String file,
            BlockIndex index,
            BlockIndex oldIndex,
            CompressionType compression,
            ChecksumType checksum,
            SecretKeySpec key,
            byte[] smallest,
            byte[] biggest,
            long maxTs,
            BinaryFuse8 filter) {
        this.bytes = bytes;
        this.file = file;
        this.index = index;
        this.oldIndex = oldIndex;
        this.compression = compression;
        this.checksum = checksum;
        this.key = key;
        this.smallest = smallest;
        this.biggest = biggest;
        this.maxTs = maxTs;
        this.filter = filter;
        this.verified = new boolean[index.count()];
        this.oldVerified = new boolean[oldIndex.count()];
    }

    /** Has blocks read from the file when they are asked for, by one thread; {@link #bytes} holds none then. */
    BlockTable streamed(FileParts parts, int pieceBytes, MemoryGuard guard) {
        stream = new BlockStream(parts, index, file, pieceBytes, guard);
        oldStream = new BlockStream(parts, oldIndex, file, pieceBytes, guard);
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

    /** Whether a key lies within the bounds of the table. */
    boolean spans(byte[] k, int offset, int length) {
        return Bytes.compare(k, offset, length, smallest) >= 0 && Bytes.compare(k, offset, length, biggest) <= 0;
    }
}
