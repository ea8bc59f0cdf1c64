package io.coplane.sst;

import static java.lang.Long.rotateRight;

/**
 * The 64-bit FarmHash variant that filters and object keys use (sst.md 4.1).
 *
 * <p>Not the common one: for lengths above 64 the loop runs {@code length / 64} times, so that lengths 128, 192, ... give other results.
 */
public final class Fingerprint64 {
    private static final long K0 = 0xc3a5c85c97cb3127L;
    private static final long K1 = 0xb492b66fbe98f273L;
    private static final long K2 = 0x9ae16a3b2f90404fL;
    private static final int ROUND_BYTES = 64;

    private Fingerprint64() {}

    /** Hashes {@code length} bytes of {@code bytes} from {@code offset}. */
    public static long hash(byte[] bytes, int offset, int length) {
        if (length <= 16) {
            return upTo16(bytes, offset, length);
        }
        if (length <= 32) {
            return upTo32(bytes, offset, length);
        }
        if (length <= ROUND_BYTES) {
            return upTo64(bytes, offset, length);
        }
        return longer(bytes, offset, length);
    }

    /** Hashes a whole array. */
    public static long hash(byte[] bytes) {
        return hash(bytes, 0, bytes.length);
    }

    private static long f64(byte[] s, int at) {
        return (long) Bytes.LE_LONG.get(s, at);
    }

    private static long f32(byte[] s, int at) {
        return (int) Bytes.LE_INT.get(s, at) & 0xFFFF_FFFFL;
    }

    private static long mix(long v) {
        return v ^ (v >>> 47);
    }

    private static long combine(long u, long v, long m) {
        long a = mix((u ^ v) * m);
        return mix((v ^ a) * m) * m;
    }

    private static long upTo16(byte[] s, int o, int length) {
        long m = K2 + 2L * length;
        if (length >= 8) {
            long a = f64(s, o) + K2;
            long b = f64(s, o + length - 8);
            long c = rotateRight(b, 37) * m + a;
            long d = (rotateRight(a, 25) + b) * m;
            return combine(c, d, m);
        }
        if (length >= 4) {
            return combine(length + (f32(s, o) << 3), f32(s, o + length - 4), m);
        }
        if (length > 0) {
            long a = s[o] & 0xFF;
            long b = s[o + (length >> 1)] & 0xFF;
            long c = s[o + length - 1] & 0xFF;
            long y = a + (b << 8);
            long z = length + (c << 2);
            return mix(y * K2 ^ z * K0) * K2;
        }
        return K2;
    }

    private static long upTo32(byte[] s, int o, int length) {
        long m = K2 + 2L * length;
        long a = f64(s, o) * K1;
        long b = f64(s, o + 8);
        long c = f64(s, o + length - 8) * m;
        long d = f64(s, o + length - 16) * K2;
        return combine(rotateRight(a + b, 43) + rotateRight(c, 30) + d, a + rotateRight(b + K2, 18) + c, m);
    }

    private static long upTo64(byte[] s, int o, int length) {
        long m = K2 + 2L * length;
        long a = f64(s, o) * K2;
        long b = f64(s, o + 8);
        long c = f64(s, o + length - 8) * m;
        long d = f64(s, o + length - 16) * K2;
        long y = rotateRight(a + b, 43) + rotateRight(c, 30) + d;
        long z = combine(y, a + rotateRight(b + K2, 18) + c, m);
        long e = f64(s, o + 16) * m;
        long f = f64(s, o + 24);
        long g = (y + f64(s, o + length - 32)) * m;
        long h = (z + f64(s, o + length - 24)) * m;
        return combine(rotateRight(e + f, 43) + rotateRight(g, 30) + h, e + rotateRight(f + a, 18) + g, m);
    }

    private static long longer(byte[] s, int o, int length) {
        long x = 81;
        long y = 2480279821605975764L;
        long z = mix(y * K2 + 113) * K2;
        long v0 = 0;
        long v1 = 0;
        long w0 = 0;
        long w1 = 0;
        x = x * K2 + f64(s, o);
        int last = o + length - ROUND_BYTES;
        int rounds = length / ROUND_BYTES;
        for (int round = 0; round <= rounds; round++) {
            // the last round is over the last 64 bytes, with another multiplier
            boolean finish = round == rounds;
            int p = finish ? last : o + round * ROUND_BYTES;
            long m = finish ? K1 + ((z & 255) << 1) : K1;
            if (finish) {
                w0 += (length - 1) & 63;
                v0 += w0;
                w0 += v0;
            }
            long nine = finish ? 9 : 1;
            x = rotateRight(x + y + v0 + f64(s, p + 8), 37) * m;
            y = rotateRight(y + v1 + f64(s, p + 48), 42) * m;
            x ^= w1 * nine;
            y += v0 * nine + f64(s, p + 40);
            z = rotateRight(z + w0, 33) * m;
            long a = v1 * m + f64(s, p);
            long b = rotateRight(x + w0 + a + f64(s, p + 24), 21);
            long c = a;
            a += f64(s, p + 8) + f64(s, p + 16);
            b += rotateRight(a, 44);
            v0 = a + f64(s, p + 24);
            v1 = b + c;
            a = z + w1 + f64(s, p + 32);
            b = rotateRight(y + f64(s, p + 16) + a + f64(s, p + 56), 21);
            c = a;
            a += f64(s, p + 40) + f64(s, p + 48);
            b += rotateRight(a, 44);
            w0 = a + f64(s, p + 56);
            w1 = b + c;
            long swap = z;
            z = x;
            x = swap;
            if (finish) {
                return combine(combine(v0, w0, m) + mix(y) * K0 + z, combine(v1, w1, m) + x, m);
            }
        }
        throw new AssertionError("the last round returns");
    }
}
