package io.coplane.compaction;

import io.coplane.nativecache.Require;
import io.coplane.sst.ChecksumType;

/**
 * What a worker's configuration says about compactions (compaction.md 1.10).
 *
 * @param checksum    of table files
 * @param zstdLevel   of table and blob files; 1 .. 22
 * @param copyThrough whether a block that stays whole is copied as it is stored, instead of being encoded and compressed anew
 */
public record CompactionConfig(ChecksumType checksum, int zstdLevel, boolean copyThrough) {
    private static final int MOST_LEVEL = 22;

    /** The reference's defaults: CRC32 (IEEE), level 3; with copies. */
    public static final CompactionConfig DEFAULT = new CompactionConfig(ChecksumType.CRC32, 3, true);

    /** With copies. */
    public CompactionConfig(ChecksumType checksum, int zstdLevel) {
        this(checksum, zstdLevel, true);
    }

    /** Checks the bounds. */
    public CompactionConfig {
        Require.range("zstdLevel", zstdLevel, 1, MOST_LEVEL);
    }
}
