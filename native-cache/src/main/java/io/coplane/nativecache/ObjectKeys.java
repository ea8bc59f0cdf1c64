package io.coplane.nativecache;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;

/** Names of objects (ia.md 14.2): {@code prefix/folder/xx/id.suffix}, {@code xx} the low byte of the id's FarmHash fingerprint. */
public final class ObjectKeys {
    private static final long K2 = 0x9ae16a3b2f90404fL;
    private static final String DEFAULT_PREFIX = "default";
    private static final HexFormat HEX = HexFormat.of();

    private ObjectKeys() {}

    /** Object key of a file; an empty prefix reads {@code default}. */
    public static String key(String prefix, FileKind kind, long fileId) {
        String root = prefix.isEmpty() ? DEFAULT_PREFIX : prefix;
        return root + "/" + kind.folder() + HEX.toHexDigits((byte) fingerprint64(fileId)) + "/"
                + fileName(kind, fileId);
    }

    /** File name: 16 lower-case hex digits, a dot, the kind's suffix. */
    public static String fileName(FileKind kind, long fileId) {
        return HEX.toHexDigits(fileId) + "." + kind.suffix();
    }

    /** FarmHash Fingerprint64 of the id's eight little-endian bytes. */
    static long fingerprint64(long fileId) {
        ByteBuffer bytes =
                ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(0, fileId);
        long multiplier = K2 + 2L * Long.BYTES;
        long first = bytes.getLong(0) + K2;
        long last = bytes.getLong(0);
        long low = Long.rotateRight(last, 37) * multiplier + first;
        long high = (Long.rotateRight(first, 25) + last) * multiplier;
        long mixed = (low ^ high) * multiplier;
        mixed ^= mixed >>> 47;
        long result = (high ^ mixed) * multiplier;
        result ^= result >>> 47;
        return result * multiplier;
    }
}
