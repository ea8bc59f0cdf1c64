package io.coplane.sst;

import java.lang.foreign.MemorySegment;

/**
 * A table file that a builder finished.
 *
 * @param fileId         its id
 * @param metaOffset     offset from which on all is metadata (sst.md 10)
 * @param tinyMetaOffset offset of the properties
 * @param smallest       first inner key
 * @param biggest        last inner key
 * @param bytes          the whole file; borrowed from the arena it was finished into
 */
public record SstFile(
        long fileId, long metaOffset, long tinyMetaOffset, byte[] smallest, byte[] biggest, MemorySegment bytes) {}
