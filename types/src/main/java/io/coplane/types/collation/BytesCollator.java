package io.coplane.types.collation;

import io.coplane.types.ByteSink;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Unsigned byte order: binary and the _bin collations that need no decoding. */
final class BytesCollator extends Collator {
    static final BytesCollator PADDING = new BytesCollator(true);
    static final BytesCollator NO_PADDING = new BytesCollator(false);

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private BytesCollator(boolean pads) {
        super(pads);
    }

    @Override
    boolean sameCharacter(int a, int b) {
        return a == b;
    }

    @Override
    boolean undecodableMatches() {
        return false;
    }

    @Override
    int compareWhole(byte[] a, int aStart, int aEnd, byte[] b, int bStart, int bEnd) {
        return signum(Arrays.compareUnsigned(a, aStart, aEnd, b, bStart, bEnd));
    }

    @Override
    long hashWhole(byte[] bytes, int start, int end) {
        long hash = (long) end - start;
        int at = start;
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            hash = mix(hash, (long) LONGS.get(bytes, at));
        }
        long tail = 0;
        for (; at < end; at++) {
            tail = tail << 8 | bytes[at] & 0xff;
        }
        return mix(hash, tail);
    }

    @Override
    void writeWhole(byte[] bytes, int start, int end, ByteSink out) {
        out.put(bytes, start, end - start);
    }
}
