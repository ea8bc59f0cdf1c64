package io.coplane.compaction;

/** Gives ids for files: timestamps of the placement driver (compaction.md 1.11). Thread-safe. */
@FunctionalInterface
public interface FileIdAllocator {
    /**
     * Ids that nobody else gets, ascending and consecutive. May wait.
     *
     * @param count 1 .. 64
     * @throws io.coplane.nativecache.CoplaneException if none can be had
     */
    long[] allocate(int count);
}
