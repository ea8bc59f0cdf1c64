package io.coplane.sst;

import io.coplane.nativecache.Require;

/**
 * How blob files are written.
 *
 * @param compression      of each value
 * @param compressionLevel of zstd; 1 .. 22
 * @param checksum         of each value; the reference's compactions write none
 * @param minBlobBytes     least length of a value that goes to a blob file; noted only
 * @param blockBytes       distance of index entries, in bytes of values
 * @param key              of the shard, with the version to write; null for none
 */
public record BlobOptions(
        CompressionType compression,
        int compressionLevel,
        ChecksumType checksum,
        int minBlobBytes,
        int blockBytes,
        ShardKey key) {
    private static final int DEFAULT_MIN_BLOB_BYTES = 4 << 10;
    private static final int DEFAULT_BLOCK_BYTES = 32 << 10;
    private static final int MAX_COMPRESSION_LEVEL = 22;

    /** Checks the bounds. */
    public BlobOptions {
        Require.range("compressionLevel", compressionLevel, 1, MAX_COMPRESSION_LEVEL);
        Require.range("minBlobBytes", minBlobBytes, 0, Integer.MAX_VALUE);
        Require.range("blockBytes", blockBytes, 0, Integer.MAX_VALUE);
    }

    /** The reference's defaults: LZ4, no checksum, values from 4 KiB, an index entry every 32 KiB. */
    public static BlobOptions of(ShardKey key) {
        return new BlobOptions(
                CompressionType.LZ4,
                SstOptions.DEFAULT_COMPRESSION_LEVEL,
                ChecksumType.NONE,
                DEFAULT_MIN_BLOB_BYTES,
                DEFAULT_BLOCK_BYTES,
                key);
    }
}
