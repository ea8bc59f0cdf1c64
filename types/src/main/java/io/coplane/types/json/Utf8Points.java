package io.coplane.types.json;

/** Writes code points as UTF-8. */
final class Utf8Points {
    private Utf8Points() {}

    /**
     * Writes a code point that is no surrogate.
     *
     * @return the offset behind it
     */
    static int put(byte[] target, int offset, int point) {
        int at = offset;
        if (point < 0x80) {
            target[at++] = (byte) point;
        } else if (point < 0x800) {
            target[at++] = (byte) (0xc0 | point >> 6);
            target[at++] = (byte) (0x80 | point & 0x3f);
        } else if (point < 0x10000) {
            target[at++] = (byte) (0xe0 | point >> 12);
            target[at++] = (byte) (0x80 | point >> 6 & 0x3f);
            target[at++] = (byte) (0x80 | point & 0x3f);
        } else {
            target[at++] = (byte) (0xf0 | point >> 18);
            target[at++] = (byte) (0x80 | point >> 12 & 0x3f);
            target[at++] = (byte) (0x80 | point >> 6 & 0x3f);
            target[at++] = (byte) (0x80 | point & 0x3f);
        }
        return at;
    }
}
