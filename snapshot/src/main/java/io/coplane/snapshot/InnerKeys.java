package io.coplane.snapshot;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Outer and inner keys (snapshot.md 5). An outer key is what TiDB sends; the inner key is the outer one without its keyspace prefix: 4 bytes,
 * {@code 'x'} and the keyspace id big-endian. The rule looks at content only.
 */
final class InnerKeys {
    static final int PREFIX_BYTES = 4;
    private static final byte KEYSPACE_MARK = 'x';
    private static final int GROUP_BYTES = 8;
    private static final int GLOBAL_END_BYTES = 8;

    private InnerKeys() {}

    /** Bytes to leave out at the front of a key: 0 or 4. */
    static int trimBytes(byte[] key) {
        return key.length >= PREFIX_BYTES && key[0] == KEYSPACE_MARK ? PREFIX_BYTES : 0;
    }

    /** Bytes to leave out at the front of a key of {@code length} bytes at {@code at}: 0 or 4. */
    static int trimBytes(MemorySegment segment, long at, int length) {
        return length >= PREFIX_BYTES && segment.get(ValueLayout.JAVA_BYTE, at) == KEYSPACE_MARK ? PREFIX_BYTES : 0;
    }

    /** The inner key; a copy if something was trimmed. */
    static byte[] trim(byte[] key) {
        int trimmed = trimBytes(key);
        return trimmed == 0 ? key : Arrays.copyOfRange(key, trimmed, key.length);
    }

    /** The inner form of an exclusive end (snapshot.md 5.3): behind all keys if it is empty or a keyspace boundary. */
    static byte[] innerEnd(byte[] outerEnd) {
        if (outerEnd.length == 0 || outerEnd.length == PREFIX_BYTES && outerEnd[0] == KEYSPACE_MARK) {
            return globalEnd();
        }
        return trim(outerEnd);
    }

    /** Eight bytes FF: behind every key (snapshot.md 5.3). */
    static byte[] globalEnd() {
        byte[] end = new byte[GLOBAL_END_BYTES];
        Arrays.fill(end, (byte) 0xFF);
        return end;
    }

    /** What turns an inner key of the shard into an outer one: its first 4 bytes, or nothing without a keyspace or with id 0. */
    static byte[] outerPrefix(byte[] outerStart) {
        return keyspaceId(outerStart) > 0 ? Arrays.copyOf(outerStart, PREFIX_BYTES) : new byte[0];
    }

    /** Keyspace id of an outer key, -1 if it has no keyspace prefix. */
    static int keyspaceId(byte[] key) {
        if (trimBytes(key) == 0) {
            return -1;
        }
        return (key[1] & 0xFF) << 16 | (key[2] & 0xFF) << 8 | key[3] & 0xFF;
    }

    /** Bytes of the memcomparable encoding of a key of {@code length} bytes (snapshot.md 5.4). */
    static long encodedBytes(int length) {
        return (length / GROUP_BYTES + 1L) * (GROUP_BYTES + 1);
    }

    /** Memcomparable encoding of a key (snapshot.md 5.4). */
    static byte[] encode(byte[] key) {
        byte[] encoded = new byte[Math.toIntExact(encodedBytes(key.length))];
        int out = 0;
        for (int at = 0; at <= key.length; at += GROUP_BYTES) {
            int count = Math.min(GROUP_BYTES, key.length - at);
            System.arraycopy(key, at, encoded, out, count);
            out += GROUP_BYTES;
            encoded[out++] = (byte) (0xFF - (GROUP_BYTES - count));
        }
        return encoded;
    }
}
