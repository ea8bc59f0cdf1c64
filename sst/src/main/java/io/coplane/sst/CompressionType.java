package io.coplane.sst;

/** Compression of the blocks of a file, by its number in the footer (sst.md 5.2). */
public enum CompressionType {
    /** Blocks as they are. */
    NONE,
    /** LZ4 block format; in SSTs with a length prefix. */
    LZ4,
    /** One zstd frame that carries its content size. */
    ZSTD;

    private static final CompressionType[] BY_NUMBER = values();

    /** The number in the footer. */
    public int number() {
        return ordinal();
    }

    static CompressionType of(int number, String file, long offset) {
        if (number < 0 || number >= BY_NUMBER.length) {
            throw FileErrors.format(file, offset, "unknown compression type " + number);
        }
        return BY_NUMBER[number];
    }
}
