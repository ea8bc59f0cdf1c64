package io.coplane.types.collation;

import io.coplane.types.ByteSink;

/**
 * Compares, hashes and weighs byte ranges by a collation (coprocessor.md 8.2, expressions.md 10.2). Allocates nothing; immutable, any thread.
 *
 * <p>Strings that are equal by {@link #compare} have the same hash and sort key, unless one of them is not UTF-8.
 */
public abstract sealed class Collator permits BytesCollator, WeightCollator, UcaCollator {
    private static final long HASH_FACTOR = 0x9e3779b97f4a7c15L;

    /** True if trailing spaces (bytes 0x20) don't count. */
    final boolean pads;

    Collator(boolean pads) {
        this.pads = pads;
    }

    /** Order of two strings: -1, 0 or 1. */
    public final int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
        if (!pads) {
            return compareWhole(a, aOffset, aOffset + aLength, b, bOffset, bOffset + bLength);
        }
        return compareWhole(a, aOffset, trimmedEnd(a, aOffset, aLength), b, bOffset, trimmedEnd(b, bOffset, bLength));
    }

    /** Order where trailing spaces count, whatever the collation says. */
    public final int compareNoPad(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
        return compareWhole(a, aOffset, aOffset + aLength, b, bOffset, bOffset + bLength);
    }

    /** {@code compare(...) == 0}. */
    public final boolean equals(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
        return compare(a, aOffset, aLength, b, bOffset, bLength) == 0;
    }

    /** A hash that equal strings share. */
    public final long hash(byte[] bytes, int offset, int length) {
        return hashWhole(bytes, offset, pads ? trimmedEnd(bytes, offset, length) : offset + length);
    }

    /** Appends the sort key: bytes whose unsigned order is that of the collation. */
    public final void writeSortKey(byte[] bytes, int offset, int length, ByteSink out) {
        writeWhole(bytes, offset, pads ? trimmedEnd(bytes, offset, length) : offset + length, out);
    }

    /** Index behind the last byte that is not a space, or {@code offset}. */
    public static int trimmedEnd(byte[] bytes, int offset, int length) {
        int end = offset + length;
        while (end > offset && bytes[end - 1] == ' ') {
            end--;
        }
        return end;
    }

    /** True if two characters alone are equal, as LIKE wants it (expressions.md 9.1). */
    abstract boolean sameCharacter(int a, int b);

    /** True if an undecodable character equals any (else it equals none), as LIKE wants it. */
    abstract boolean undecodableMatches();

    abstract int compareWhole(byte[] a, int aStart, int aEnd, byte[] b, int bStart, int bEnd);

    abstract long hashWhole(byte[] bytes, int start, int end);

    abstract void writeWhole(byte[] bytes, int start, int end, ByteSink out);

    static long mix(long hash, long unit) {
        long h = (hash ^ unit) * HASH_FACTOR;
        return h ^ h >>> 32;
    }

    static int signum(int difference) {
        return Integer.signum(difference);
    }
}
