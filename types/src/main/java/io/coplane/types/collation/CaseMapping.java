package io.coplane.types.collation;

/**
 * Simple case mapping of Unicode 15 with what GBK and GB18030 leave alone (expressions.md 11, appendix B). One character to one character.
 */
final class CaseMapping {
    /** Pairs that Unicode 16 added: first and last of each run. */
    private static final int[] NEWER = {
        0x1c89, 0x1c8a, 0xa7cb, 0xa7cd, 0xa7da, 0xa7dc, 0x10d50, 0x10d65, 0x10d70, 0x10d85
    };

    private static final int[] GBK_LOWER_KEEPS = {0x216a, 0x216b};

    private static final int[] GBK_UPPER_KEEPS = {
        0xe0, 0xe1, 0xe8, 0xea, 0xec, 0xed, 0xf2, 0xf3, 0xf9, 0xfa, 0xfc, 0xfc, 0x101, 0x101, 0x113, 0x113, 0x11b,
        0x11b, 0x12b, 0x12b, 0x144, 0x144, 0x148, 0x148, 0x14d, 0x14d, 0x16b, 0x16b, 0x1ce, 0x1ce, 0x1d0, 0x1d0, 0x1d2,
        0x1d2, 0x1d4, 0x1d4, 0x1d6, 0x1d6, 0x1d8, 0x1d8, 0x1da, 0x1da, 0x1dc, 0x1dc
    };

    private static final int[] GB18030_KEEPS = {
        0x25c, 0x25c, 0x261, 0x261, 0x265, 0x266, 0x26a, 0x26a, 0x26c, 0x26c, 0x282, 0x282, 0x287, 0x287, 0x29d, 0x29e,
        0x37f, 0x37f, 0x3f3, 0x3f3, 0x526, 0x52f, 0x10c7, 0x10c7, 0x10cd, 0x10cd, 0x10d0, 0x10fa, 0x10fd, 0x10ff,
        0x13a0, 0x13f5, 0x13f8, 0x13fd, 0x1c80, 0x1c88, 0x1c90, 0x1cba, 0x1cbd, 0x1cbf, 0x1d79, 0x1d79, 0x1d7d, 0x1d7d,
        0x1d8e, 0x1d8e, 0x2cf2, 0x2cf3, 0x2d27, 0x2d27, 0x2d2d, 0x2d2d, 0xa660, 0xa661, 0xa698, 0xa69b, 0xa78d, 0xa78d,
        0xa790, 0xa794, 0xa796, 0xa7ae, 0xa7b0, 0xa7bf, 0xa7c2, 0xa7ca, 0xa7f5, 0xa7f6, 0xab53, 0xab53, 0xab70, 0xabbf,
        0x104b0, 0x104d3, 0x104d8, 0x104fb, 0x10c80, 0x10cb2, 0x10cc0, 0x10cf2, 0x118a0, 0x118df, 0x16e40, 0x16e7f,
        0x1e900, 0x1e943
    };

    private CaseMapping() {}

    static int upper(int codePoint, TextCharset charset) {
        boolean keeps = switch (charset) {
            case GBK -> in(GBK_UPPER_KEEPS, codePoint);
            case GB18030 -> in(GB18030_KEEPS, codePoint) || gb18030Lower(codePoint) != codePoint;
            case UTF8, UTF8MB4, LATIN1, ASCII, BINARY -> false;
        };
        return keeps ? codePoint : known(codePoint, Character.toUpperCase(codePoint));
    }

    static int lower(int codePoint, TextCharset charset) {
        boolean keeps = switch (charset) {
            case GBK -> in(GBK_LOWER_KEEPS, codePoint);
            case GB18030 -> in(GB18030_KEEPS, codePoint);
            case UTF8, UTF8MB4, LATIN1, ASCII, BINARY -> false;
        };
        if (keeps) {
            return codePoint;
        }
        int own = charset == TextCharset.GB18030 ? gb18030Lower(codePoint) : codePoint;
        return own != codePoint ? own : known(codePoint, Character.toLowerCase(codePoint));
    }

    private static int gb18030Lower(int codePoint) {
        return switch (codePoint) {
            case 0x00b5 -> 0x03bc;
            case 0x03d0 -> 0x03b2;
            case 0x03d1 -> 0x03b8;
            case 0x03d5 -> 0x03c6;
            case 0x03d6 -> 0x03c0;
            case 0x03f0 -> 0x03ba;
            case 0x03f1 -> 0x03c1;
            case 0x03f5 -> 0x03b5;
            case 0x1e9b -> 0x1e61;
            case 0x1fbe -> 0x03b9;
            case 0x01c5, 0x01c8, 0x01cb, 0x01f2, 0x03c2 -> codePoint + 1;
            default -> codePoint;
        };
    }

    private static int known(int codePoint, int mapped) {
        return in(NEWER, codePoint) || in(NEWER, mapped) ? codePoint : mapped;
    }

    private static boolean in(int[] runs, int codePoint) {
        for (int i = 0; i < runs.length; i += 2) {
            if (codePoint >= runs[i] && codePoint <= runs[i + 1]) {
                return true;
            }
        }
        return false;
    }
}
