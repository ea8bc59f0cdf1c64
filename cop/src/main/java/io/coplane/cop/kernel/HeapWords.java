package io.coplane.cop.kernel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Little-endian and big-endian words in heap arrays. */
final class HeapWords {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle BIG_LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private HeapWords() {}

    static float floatAt(byte[] bytes, int at) {
        return Float.intBitsToFloat((int) INT.get(bytes, at));
    }

    static int intAt(byte[] bytes, int at) {
        return (int) INT.get(bytes, at);
    }

    static long longAt(byte[] bytes, int at) {
        return (long) LONG.get(bytes, at);
    }

    static long bigLongAt(byte[] bytes, int at) {
        return (long) BIG_LONG.get(bytes, at);
    }

    static void putBigLong(byte[] bytes, int at, long value) {
        BIG_LONG.set(bytes, at, value);
    }
}
