package io.coplane.nativecache;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Optional;

/** Names of objects (ia.md 14.2): {@code prefix/folder/xx/id.suffix}, {@code xx} the low byte of the id's FarmHash fingerprint. */
public final class ObjectKeys {
    private static final long K2 = 0x9ae16a3b2f90404fL;
    private static final String DEFAULT_PREFIX = "default";
    private static final HexFormat HEX = HexFormat.of();
    private static final int ID_DIGITS = 2 * Long.BYTES;

    /** A file that a key names. */
    public record File(FileKind kind, long fileId) {}

    private ObjectKeys() {}

    /** Object key of a file; an empty prefix reads {@code default}. */
    public static String key(String prefix, FileKind kind, long fileId) {
        return prefix(prefix) + "/" + path(kind, fileId);
    }

    /** File name: 16 lower-case hex digits, a dot, the kind's suffix. */
    public static String fileName(FileKind kind, long fileId) {
        return HEX.toHexDigits(fileId) + "." + kind.suffix();
    }

    /** The prefix as keys have it: an empty one reads {@code default}. */
    public static String prefix(String prefix) {
        return prefix.isEmpty() ? DEFAULT_PREFIX : prefix;
    }

    /**
     * The file that a key names (ia.md 14.3); empty for objects that are no table files, as backups are.
     *
     * @param key with or without a prefix
     */
    public static Optional<File> parse(String key) {
        int slash = key.lastIndexOf('/');
        int dot = key.indexOf('.', slash + 1);
        if (dot - slash - 1 != ID_DIGITS) {
            return Optional.empty();
        }
        long fileId;
        try {
            fileId = HexFormat.fromHexDigitsToLong(key, slash + 1, dot);
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
        for (FileKind kind : FileKind.values()) {
            String whole = path(kind, fileId);
            if (key.equals(whole) || key.endsWith("/" + whole)) {
                return Optional.of(new File(kind, fileId));
            }
        }
        return Optional.empty();
    }

    /** Object key of a file below the prefix. */
    public static String path(FileKind kind, long fileId) {
        return kind.folder() + HEX.toHexDigits((byte) fingerprint64(fileId)) + "/" + fileName(kind, fileId);
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
