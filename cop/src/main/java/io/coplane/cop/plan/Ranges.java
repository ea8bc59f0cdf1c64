package io.coplane.cop.plan;

import io.coplane.cop.exec.ScanRange;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.kvrpcpb.APIVersion;
import io.coplane.proto.kvrpcpb.Context;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** Key ranges of requests (coprocessor.md 2.5). */
public final class Ranges {
    private static final int KEYSPACE_PREFIX_BYTES = 4;
    private static final int TABLE_PREFIX_BYTES = 9;

    private Ranges() {}

    /** Bytes of the keyspace prefix in the keys of a request. */
    public static int prefixBytes(Context context) {
        return context.getApiVersion() == APIVersion.V2 ? KEYSPACE_PREFIX_BYTES : 0;
    }

    /** The ranges as they are: outer raw keys. */
    public static List<ScanRange> of(List<KeyRange> ranges) {
        List<ScanRange> list = new ArrayList<>(ranges.size());
        for (KeyRange range : ranges) {
            list.add(
                    new ScanRange(range.getStart().toByteArray(), range.getEnd().toByteArray(), false));
        }
        return list;
    }

    /**
     * Checks that ranges lie in tables.
     *
     * @throws CoplaneException BAD_KEY_RANGE
     */
    public static void checkTables(List<ScanRange> ranges, int prefixBytes) {
        for (ScanRange range : ranges) {
            checkKey(range.start(), prefixBytes);
            checkKey(range.end(), prefixBytes);
            if (Arrays.compareUnsigned(range.start(), range.end()) >= 0) {
                throw bad("invalid range,range.start should be smaller than range.end, but got [" + hex(range.start())
                        + "," + hex(range.end()) + ")");
            }
        }
    }

    private static void checkKey(byte[] key, int prefixBytes) {
        if (key.length < prefixBytes + TABLE_PREFIX_BYTES || key[prefixBytes] != 't') {
            throw bad("record key or index key expected, but got " + hex(key));
        }
    }

    private static String hex(byte[] key) {
        return HexFormat.of().withUpperCase().formatHex(key);
    }

    private static CoplaneException bad(String text) {
        return new CoplaneException(ErrorCode.BAD_KEY_RANGE, text);
    }
}
