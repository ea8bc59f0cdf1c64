package io.coplane.compaction;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.sst.CompressionType;

/** Small things that all row jobs share. */
final class Rows {
    private Rows() {}

    /** A compression by its number in a request. */
    static CompressionType compression(int number) {
        return switch (number) {
            case 0 -> CompressionType.NONE;
            case 1 -> CompressionType.LZ4;
            case 2 -> CompressionType.ZSTD;
            default -> throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "unexpected compression type " + number);
        };
    }
}
