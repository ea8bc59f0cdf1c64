package io.coplane.worker.replay;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Integers in arrays, little-endian. */
final class LittleEndian {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private LittleEndian() {}

    static int int32(byte[] bytes, int at) {
        return (int) INT.get(bytes, at);
    }

    static long int64(byte[] bytes, int at) {
        return (long) LONG.get(bytes, at);
    }
}
