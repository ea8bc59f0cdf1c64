package io.coplane.sst;

import java.util.Arrays;

/** Start timestamp of a serialised lock (sst.md 2.6); nothing else of it is read. */
final class LockTs {
    private static final byte[] TYPES = {'D', 'L', 'P', 'S'};
    private static final int MAX_VARINT_BYTES = 10;

    private final byte[] bytes;
    private final int to;
    private int at;
    private boolean failed;

    private LockTs(byte[] bytes, int from, int to) {
        this.bytes = bytes;
        this.at = from;
        this.to = to;
    }

    /** @return the start ts of the lock in {@code from .. to - 1}; 0 if that is no lock */
    static long parse(byte[] bytes, int from, int to) {
        if (from == to || Arrays.binarySearch(TYPES, bytes[from]) < 0) {
            return 0;
        }
        var parser = new LockTs(bytes, from + 1, to);
        long zigZag = parser.varint();
        long primaryBytes = (zigZag >>> 1) ^ -(zigZag & 1);
        if (parser.failed || primaryBytes < 0 || primaryBytes > to - parser.at) {
            return 0;
        }
        parser.at += (int) primaryBytes;
        long ts = parser.varint();
        return parser.failed ? 0 : ts;
    }

    private long varint() {
        long value = 0;
        for (int i = 0; i < MAX_VARINT_BYTES && at < to; i++) {
            byte b = bytes[at++];
            value |= (long) (b & 0x7F) << (7 * i);
            if (b >= 0) {
                return value;
            }
        }
        failed = true;
        return 0;
    }
}
