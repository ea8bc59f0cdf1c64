package io.coplane.types.codec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Multi-byte integers in a byte array; the caller has checked that they lie inside. */
final class Endian {
    private static final VarHandle LE_SHORT =
            MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LE_INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LE_LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle BE_SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle BE_LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private Endian() {}

    static int shortLe(byte[] bytes, int at) {
        return (short) LE_SHORT.get(bytes, at);
    }

    static int unsignedShortLe(byte[] bytes, int at) {
        return shortLe(bytes, at) & 0xffff;
    }

    static int unsignedShortBe(byte[] bytes, int at) {
        return (short) BE_SHORT.get(bytes, at) & 0xffff;
    }

    static int intLe(byte[] bytes, int at) {
        return (int) LE_INT.get(bytes, at);
    }

    static long unsignedIntLe(byte[] bytes, int at) {
        return intLe(bytes, at) & 0xffff_ffffL;
    }

    static long longLe(byte[] bytes, int at) {
        return (long) LE_LONG.get(bytes, at);
    }

    static long longBe(byte[] bytes, int at) {
        return (long) BE_LONG.get(bytes, at);
    }

    static void putLongLe(byte[] bytes, int at, long value) {
        LE_LONG.set(bytes, at, value);
    }

    static void putLongBe(byte[] bytes, int at, long value) {
        BE_LONG.set(bytes, at, value);
    }

    static void putIntLe(byte[] bytes, int at, int value) {
        LE_INT.set(bytes, at, value);
    }
}
