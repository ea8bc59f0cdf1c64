package io.coplane.sst;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** The rows of {@code testdata/reference-storage-speed.tsv}, as its header describes them. */
public final class SstData {
    /** Rows of the table. */
    public static final int ROWS = 100_000;
    /** Commit timestamp of every row. */
    public static final long VERSION = 1_000;

    private static final String[] WORDS = {
        "amber", "basalt", "cedar", "delta", "ember", "fjord", "garnet", "harbor", "indigo", "juniper", "krill",
        "lagoon", "maple", "nectar", "onyx", "pebble"
    };
    private static final int WORDS_PER_VALUE = 6;

    private SstData() {}

    /** Key of row {@code i}. */
    public static byte[] key(long i) {
        return ByteBuffer.allocate(19)
                .put((byte) 't')
                .putLong(100 ^ Long.MIN_VALUE)
                .put((byte) '_')
                .put((byte) 'r')
                .putLong(i ^ Long.MIN_VALUE)
                .array();
    }

    /** User meta of rows of a version. */
    public static byte[] userMeta(long version) {
        return ByteBuffer.allocate(16)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(version - 1)
                .putLong(version)
                .array();
    }

    /** Value of row {@code i} at a version. */
    public static byte[] value(long i, long version) {
        long h = splitMix(i * 31 + version);
        var words = new StringBuilder();
        for (int k = 0; k < WORDS_PER_VALUE; k++) {
            words.append(k == 0 ? "" : " ").append(WORDS[(int) (h >>> (4 * k)) & 15]);
        }
        return String.format(
                        Locale.ROOT,
                        "{\"id\":%010d,\"ver\":%d,\"amt\":%08d.%02d,\"cm\":\"%s\"}",
                        i,
                        version,
                        Long.remainderUnsigned(h, 100_000_000),
                        (h >>> 40) % 100,
                        words)
                .getBytes(StandardCharsets.US_ASCII);
    }

    private static long splitMix(long state) {
        long z = state + 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
