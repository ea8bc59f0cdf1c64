package io.coplane.compaction;

import java.util.Arrays;

/**
 * Bounds of a shard as inner keys (compaction.md 0.2): an outer key of at least 4 bytes that begins with {@code x} loses its first 4.
 *
 * @param start inclusive
 * @param end   exclusive
 */
record ShardBounds(byte[] start, byte[] end) {
    private static final int PREFIX_BYTES = 4;
    private static final byte KEYSPACE_MARK = 'x';
    private static final int GLOBAL_END_BYTES = 8;

    static ShardBounds of(CompactionRequest request) {
        return new ShardBounds(inner(request.start()), innerEnd(request.end()));
    }

    boolean contains(byte[] key, int length) {
        return Arrays.compareUnsigned(key, 0, length, start, 0, start.length) >= 0 && isBeforeEnd(key, length);
    }

    boolean isBeforeEnd(byte[] key, int length) {
        return Arrays.compareUnsigned(key, 0, length, end, 0, end.length) < 0;
    }

    private static byte[] inner(byte[] outer) {
        return outer.length >= PREFIX_BYTES && outer[0] == KEYSPACE_MARK
                ? Arrays.copyOfRange(outer, PREFIX_BYTES, outer.length)
                : outer;
    }

    private static byte[] innerEnd(byte[] outer) {
        if (outer.length == 0 || outer.length == PREFIX_BYTES && outer[0] == KEYSPACE_MARK) {
            byte[] end = new byte[GLOBAL_END_BYTES];
            Arrays.fill(end, (byte) 0xFF);
            return end;
        }
        return inner(outer);
    }
}
