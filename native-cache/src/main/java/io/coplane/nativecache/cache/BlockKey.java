package io.coplane.nativecache.cache;

import io.coplane.nativecache.FileKind;

/**
 * Names a cached value: a whole file, or one decoded block of it.
 *
 * <p>The place in the file is the key, not the origin that its index claims (sst.md 9.5): a forged or broken index must not be able to put its
 * bytes under the name of another file's block.
 *
 * @param kind of the file
 * @param keyTag tells plain texts under different encryption keys apart; 0 if not encrypted
 * @param fileId id of the file
 * @param offset of the block in the file, or {@link #WHOLE_FILE}
 */
public record BlockKey(FileKind kind, long keyTag, long fileId, long offset) {
    /** Offset that stands for a file's stored bytes, all of them. */
    static final long WHOLE_FILE = -1;

    /** Offsets that stand for a file's indexes and its filter, of a file that gave them back and got them anew. */
    static final long INDEXES = -2;

    static final long FILTER = -3;

    static BlockKey wholeFile(FileKind kind, long fileId) {
        return new BlockKey(kind, 0, fileId, WHOLE_FILE);
    }

    /** Names a section of the same file. */
    BlockKey section(long standsFor) {
        return new BlockKey(kind, 0, fileId, standsFor);
    }

    @Override
    public int hashCode() { // of a record: right, but slow before it is compiled, and this runs per block
        long mixed = (fileId * 0x9E37_79B9_7F4A_7C15L) ^ (offset + keyTag) * 0xC2B2_AE3D_27D4_EB4FL;
        mixed ^= mixed >>> 32;
        return (int) mixed + kind.ordinal();
    }
}
