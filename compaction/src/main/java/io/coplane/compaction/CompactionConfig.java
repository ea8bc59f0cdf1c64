package io.coplane.compaction;

import io.coplane.nativecache.Require;
import io.coplane.sst.ChecksumType;

/**
 * What a worker's configuration says about compactions (compaction.md 1.10).
 *
 * @param checksum  of table files
 * @param zstdLevel of table and blob files; 1 .. 22
 */
public record CompactionConfig(ChecksumType checksum, int zstdLevel) {
    private static final int MOST_LEVEL = 22;

    /** The reference's defaults: CRC32 (IEEE), level 3. */
    public static final CompactionConfig DEFAULT = new CompactionConfig(ChecksumType.CRC32, 3);

    /** Checks the bounds. */
    public CompactionConfig {
        Require.range("zstdLevel", zstdLevel, 1, MOST_LEVEL);
    }
}
