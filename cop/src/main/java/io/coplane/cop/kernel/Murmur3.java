package io.coplane.cop.kernel;

/** MurmurHash3 x64 128-bit, seed 0 (coprocessor.md 6.1). Reused; one thread. */
public final class Murmur3 {
    private static final long C1 = 0x87c3_7b91_1142_53d5L;
    private static final long C2 = 0x4cf5_ad43_2745_937fL;
    private static final int BLOCK_BYTES = 16;

    private long h1;
    private long h2;

    /** Hashes bytes; read the halves with {@link #first()} and {@link #second()}. */
    public void hash(byte[] bytes, int offset, int length) {
        long a = 0;
        long b = 0;
        int blocks = length / BLOCK_BYTES;
        for (int i = 0; i < blocks; i++) {
            int at = offset + i * BLOCK_BYTES;
            a ^= mixFirst(HeapWords.longAt(bytes, at));
            a = (Long.rotateLeft(a, 27) + b) * 5 + 0x52dc_e729L;
            b ^= mixSecond(HeapWords.longAt(bytes, at + Long.BYTES));
            b = (Long.rotateLeft(b, 31) + a) * 5 + 0x3849_5ab5L;
        }
        int tail = offset + blocks * BLOCK_BYTES;
        int rest = length % BLOCK_BYTES;
        if (rest > Long.BYTES) {
            b ^= mixSecond(tailWord(bytes, tail + Long.BYTES, rest - Long.BYTES));
        }
        if (rest > 0) {
            a ^= mixFirst(tailWord(bytes, tail, Math.min(rest, Long.BYTES)));
        }
        a ^= length;
        b ^= length;
        a += b;
        b += a;
        a = finish(a);
        b = finish(b);
        h1 = a + b;
        h2 = b + h1;
    }

    private static long mixFirst(long k) {
        return Long.rotateLeft(k * C1, 31) * C2;
    }

    private static long mixSecond(long k) {
        return Long.rotateLeft(k * C2, 33) * C1;
    }

    private static long tailWord(byte[] bytes, int at, int count) {
        long word = 0;
        for (int i = count - 1; i >= 0; i--) {
            word = word << 8 | bytes[at + i] & 0xff;
        }
        return word;
    }

    private static long finish(long value) {
        long x = value;
        x ^= x >>> 33;
        x *= 0xff51_afd7_ed55_8ccdL;
        x ^= x >>> 33;
        x *= 0xc4ce_b9fe_1a85_ec53L;
        return x ^ x >>> 33;
    }

    /** First half of the last hash. */
    public long first() {
        return h1;
    }

    /** Second half of the last hash. */
    public long second() {
        return h2;
    }
}
