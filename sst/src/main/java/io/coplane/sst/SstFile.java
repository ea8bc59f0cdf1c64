package io.coplane.sst;

import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;

/**
 * A table file that a builder finished.
 *
 * @param fileId         its id
 * @param metaOffset     offset from which on all is metadata (sst.md 10)
 * @param tinyMetaOffset offset of the properties
 * @param smallest       first inner key
 * @param biggest        last inner key
 * @param bytes          the whole file; borrowed from the arena it was finished into, or from its builder
 */
public record SstFile(
        long fileId, long metaOffset, long tinyMetaOffset, byte[] smallest, byte[] biggest, MemorySegment bytes) {
    /** The same file with its bytes copied. @param arena owns the copy; borrowed */
    SstFile copyInto(NativeArena arena) {
        MemorySegment copy = arena.allocate(bytes.byteSize());
        copy.copyFrom(bytes);
        return new SstFile(fileId, metaOffset, tinyMetaOffset, smallest, biggest, copy);
    }
}
