package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Key bytes: unsigned order between heap and native memory, and the keyspace prefix rule (sst.md 2.1). */
final class Bytes {
    static final VarHandle BE_LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    static final VarHandle LE_LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    static final VarHandle LE_INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    static final VarHandle LE_SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

    static final int KEYSPACE_PREFIX_BYTES = 4;
    private static final byte KEYSPACE_MARK = 'x';

    private Bytes() {}

    /** Unsigned lexicographic order; shorter first among equal prefixes. */
    static int compare(byte[] a, int aOffset, int aLength, MemorySegment b, long bOffset, int bLength) {
        int shared = Math.min(aLength, bLength);
        int i = 0;
        for (; i + Long.BYTES <= shared; i += Long.BYTES) {
            long x = (long) BE_LONG.get(a, aOffset + i);
            long y = b.get(Layouts.BE_LONG, bOffset + i);
            if (x != y) {
                return Long.compareUnsigned(x, y);
            }
        }
        for (; i < shared; i++) {
            int order = (a[aOffset + i] & 0xFF) - (b.get(Layouts.BYTE, bOffset + i) & 0xFF);
            if (order != 0) {
                return order;
            }
        }
        return aLength - bLength;
    }

    /** Unsigned lexicographic order of a key range and a whole key. */
    static int compare(byte[] a, int aOffset, int aLength, byte[] b) {
        return Arrays.compareUnsigned(a, aOffset, aOffset + aLength, b, 0, b.length);
    }

    /** Whether a key of this length begins with a keyspace prefix. */
    static boolean hasKeyspace(byte[] key, int offset, int length) {
        return length >= KEYSPACE_PREFIX_BYTES && key[offset] == KEYSPACE_MARK;
    }

    /** Whether key bytes in a file begin with a keyspace prefix. */
    static boolean hasKeyspace(MemorySegment key, long offset, int length) {
        return length >= KEYSPACE_PREFIX_BYTES && key.get(Layouts.BYTE, offset) == KEYSPACE_MARK;
    }

    /** The inner key of a key that comes from a file. */
    static byte[] trim(byte[] key) {
        return hasKeyspace(key, 0, key.length) ? Arrays.copyOfRange(key, KEYSPACE_PREFIX_BYTES, key.length) : key;
    }
}
