package io.coplane.sst;

import io.coplane.nativecache.Require;

/**
 * How table files are written.
 *
 * @param blockBytes       size that closes a block once it is exceeded; 1 .. 1 GiB
 * @param compression      of the blocks
 * @param compressionLevel of zstd; 1 .. 22
 * @param checksum         of all sections
 * @param key              of the shard, with the version to write; null for none
 */
public record SstOptions(
        int blockBytes, CompressionType compression, int compressionLevel, ChecksumType checksum, ShardKey key) {
    /** Block size of the reference. */
    public static final int DEFAULT_BLOCK_BYTES = 64 << 10;

    /** Level of zstd in the reference. */
    public static final int DEFAULT_COMPRESSION_LEVEL = 3;

    private static final int MAX_COMPRESSION_LEVEL = 22;

    /** Checks the bounds. */
    public SstOptions {
        Require.range("blockBytes", blockBytes, 1, 1 << 30);
        Require.range("compressionLevel", compressionLevel, 1, MAX_COMPRESSION_LEVEL);
    }

    /** The reference's defaults, with a compression: blocks of 64 KiB, CRC32 (IEEE), zstd level 3, no key. */
    public static SstOptions of(CompressionType compression) {
        return new SstOptions(DEFAULT_BLOCK_BYTES, compression, DEFAULT_COMPRESSION_LEVEL, ChecksumType.CRC32, null);
    }

    /** The same with another compression. */
    public SstOptions withCompression(CompressionType other) {
        return new SstOptions(blockBytes, other, compressionLevel, checksum, key);
    }

    /** The same with another checksum. */
    public SstOptions withChecksum(ChecksumType other) {
        return new SstOptions(blockBytes, compression, compressionLevel, other, key);
    }

    /** The same with another block size. */
    public SstOptions withBlockBytes(int other) {
        return new SstOptions(other, compression, compressionLevel, checksum, key);
    }

    /** The same with another key; null for none. */
    public SstOptions withKey(ShardKey other) {
        return new SstOptions(blockBytes, compression, compressionLevel, checksum, other);
    }
}
