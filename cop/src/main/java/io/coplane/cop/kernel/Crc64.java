package io.coplane.cop.kernel;

/** CRC-64/XZ, eight bytes at a step (coprocessor.md 7): reflected polynomial C96C5795D7870F42, initial and final XOR all ones. */
public final class Crc64 {
    /** State before the first byte. */
    public static final long START = -1L;

    private static final long POLYNOMIAL = 0xc96c_5795_d787_0f42L;
    private static final int SLICES = 8;
    /** Entry {@code slice * 256 + byte}: the byte followed by {@code slice} zero bytes. */
    private static final long[] TABLE = table();

    private Crc64() {}

    private static long[] table() {
        long[] table = new long[SLICES * 256];
        for (int i = 0; i < 256; i++) {
            long crc = i;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 1) != 0 ? crc >>> 1 ^ POLYNOMIAL : crc >>> 1;
            }
            table[i] = crc;
        }
        for (int i = 256; i < table.length; i++) {
            long before = table[i - 256];
            table[i] = before >>> 8 ^ table[(int) (before & 0xff)];
        }
        return table;
    }

    /** Takes bytes into a state. */
    public static long update(long state, byte[] bytes, int offset, int length) {
        long crc = state;
        int at = offset;
        int left = length;
        for (; left >= Long.BYTES; left -= Long.BYTES, at += Long.BYTES) {
            long word = crc ^ HeapWords.longAt(bytes, at);
            crc = TABLE[7 << 8 | (int) (word & 0xff)]
                    ^ TABLE[6 << 8 | (int) (word >>> 8 & 0xff)]
                    ^ TABLE[5 << 8 | (int) (word >>> 16 & 0xff)]
                    ^ TABLE[4 << 8 | (int) (word >>> 24 & 0xff)]
                    ^ TABLE[3 << 8 | (int) (word >>> 32 & 0xff)]
                    ^ TABLE[2 << 8 | (int) (word >>> 40 & 0xff)]
                    ^ TABLE[1 << 8 | (int) (word >>> 48 & 0xff)]
                    ^ TABLE[(int) (word >>> 56)];
        }
        for (; left > 0; left--) {
            crc = crc >>> 8 ^ TABLE[(int) ((crc ^ bytes[at++]) & 0xff)];
        }
        return crc;
    }

    /** The checksum of a state. */
    public static long end(long state) {
        return ~state;
    }
}
