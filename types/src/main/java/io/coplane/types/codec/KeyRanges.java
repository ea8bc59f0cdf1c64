package io.coplane.types.codec;

import java.util.Arrays;

/** Arithmetic on key ranges (coprocessor.md 3.4). */
public final class KeyRanges {
    private KeyRanges() {}

    /**
     * The key behind all keys that start with {@code key}: the bytes plus one as a big-endian number; bytes that are all FF (or none) get a 00
     * appended instead.
     */
    public static byte[] prefixNext(byte[] key) {
        int last = key.length - 1;
        while (last >= 0 && key[last] == -1) {
            last--;
        }
        if (last < 0) {
            return Arrays.copyOf(key, key.length + 1);
        }
        byte[] next = key.clone();
        next[last]++;
        Arrays.fill(next, last + 1, next.length, (byte) 0);
        return next;
    }

    /** True if {@code [start, end)} counts as one key: {@code end} is {@link #prefixNext} of {@code start}. */
    public static boolean isPoint(byte[] start, byte[] end) {
        int last = start.length - 1;
        while (last >= 0 && start[last] == -1) {
            last--;
        }
        if (last < 0) {
            return end.length == start.length + 1
                    && end[start.length] == 0
                    && Arrays.equals(start, 0, start.length, end, 0, start.length);
        }
        if (end.length != start.length
                || !Arrays.equals(start, 0, last, end, 0, last)
                || end[last] != (byte) (start[last] + 1)) {
            return false;
        }
        for (int i = last + 1; i < end.length; i++) {
            if (end[i] != 0) {
                return false;
            }
        }
        return true;
    }
}
