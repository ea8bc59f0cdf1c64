package io.coplane.sst;

import io.coplane.nativecache.MemoryGuard;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;

/** Tables and short-hands of many tests. */
final class Tables {
    static final SstOptions PLAIN = new SstOptions(4096, CompressionType.NONE, 3, ChecksumType.CRC32C, null);
    static final byte[] ZERO_META = {0};

    private Tables() {}

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] hex(String text) {
        return HexFormat.of().parseHex(text.replace(" ", ""));
    }

    static void add(SstBuilder to, byte[] key, long version, int meta, byte[] userMeta, byte[] value) {
        to.add(key, 0, key.length, version, meta, userMeta, 0, userMeta.length, value, 0, value.length);
    }

    static void add(SstBuilder to, String key, long version, int meta, byte[] userMeta, String value) {
        add(to, bytes(key), version, meta, userMeta, bytes(value));
    }

    /** Table T(prefix, n) of sst.md 12.9: the builder's entries are prefix and four digits, values the number. */
    static SstBuilder numbered(SstOptions options, long fileId, String prefix, int n, MemoryGuard guard) {
        var builder = new SstBuilder(options, fileId, false, 0, false, guard);
        for (int i = 0; i < n; i++) {
            add(builder, String.format(Locale.ROOT, "%s%04d", prefix, i), 0, 0, ZERO_META, "" + i);
        }
        return builder;
    }

    /** The same as an open file. */
    static SstReader open(String prefix, int n, TestFile in) {
        try (var builder = numbered(PLAIN, 1, prefix, n, in.guard)) {
            return SstReader.open(builder.finish(in.arena).bytes(), 1, 1, null);
        }
    }

    static boolean seek(TableCursor cursor, String key) {
        byte[] bytes = bytes(key);
        return cursor.seek(bytes, 0, bytes.length);
    }

    static boolean find(TableCursor cursor, String key, long version) {
        byte[] bytes = bytes(key);
        return cursor.find(bytes, 0, bytes.length, Fingerprint64.hash(bytes), version);
    }

    static boolean findNewer(TableCursor cursor, String key, long version) {
        byte[] bytes = bytes(key);
        return cursor.findNewer(bytes, 0, bytes.length, Fingerprint64.hash(bytes), version);
    }

    /** The cursor's key as text, {@code -} if it is invalid. */
    static String key(TableCursor cursor) {
        return cursor.valid() ? new String(cursor.copyKey(), StandardCharsets.US_ASCII) : "-";
    }

    static String value(TableCursor cursor) {
        return cursor.valid() ? new String(cursor.copyValue(), StandardCharsets.US_ASCII) : "-";
    }
}
