package io.coplane.types.collation;

/** The linear part of GB18030: four-byte codes. */
final class Gb18030 {
    private static final int SUPPLEMENTARY_LINEAR = 189_000;

    private Gb18030() {}

    /** Four-byte code of a code point above U+FFFF. */
    static int linearCode(int codePoint) {
        return code(SUPPLEMENTARY_LINEAR + codePoint - 0x10000);
    }

    /** Four-byte code of a linear number: 0 is 81 30 81 30. */
    static int code(int linear) {
        int fourth = linear % 10 + 0x30;
        int third = linear / 10 % 126 + 0x81;
        int second = linear / 1260 % 10 + 0x30;
        int first = linear / 12600 + 0x81;
        return first << 24 | second << 16 | third << 8 | fourth;
    }

    /** Linear number of a four-byte code. */
    static int linear(int code) {
        return (((code >>> 24) - 0x81) * 10 + (code >>> 16 & 0xff) - 0x30) * 1260
                + ((code >>> 8 & 0xff) - 0x81) * 10
                + (code & 0xff)
                - 0x30;
    }
}
