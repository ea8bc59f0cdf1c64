package io.coplane.types.collation;

import io.coplane.types.text.Utf8;
import java.nio.charset.StandardCharsets;

/** GBK and GB18030 from and to UTF-8. */
final class ChineseCodes {
    private static final int UNMAPPED = '?';
    private static final int EURO = 0x20ac;
    private static final int PRIVATE_FIRST = 0xe000;
    private static final int PRIVATE_LAST = 0xf8ff;
    /** The one private character that the web's GBK encoder refuses. */
    private static final int UNENCODABLE = 0xe5e5;

    private static final int SUPPLEMENTARY_LINEAR = 189_000;
    private static final int LINEAR_CODES = 39_420;

    private ChineseCodes() {}

    /** Holder: built on first use. */
    private static final class Encoding {
        static final int[] GBK = WeightTables.gbk();
        static final int[] GB18030 = WeightTables.gb18030();

        private Encoding() {}
    }

    /** Holder: built on first use. 0 is unmapped. */
    private static final class Decoding {
        static final char[] TWO_BYTES = new char[0x10000];
        static final char[] FOUR_BYTES = new char[LINEAR_CODES];

        static {
            for (char c = 0x80; c < 0xffff; c++) {
                int code = Encoding.GB18030[c];
                if (code < 0) {
                    FOUR_BYTES[Gb18030.linear(code)] = c;
                } else if (code != UNMAPPED) {
                    TWO_BYTES[code] = c;
                }
            }
            FOUR_BYTES[Gb18030.linear(Encoding.GB18030[0xffff])] = 0xffff;
        }

        private Decoding() {}
    }

    /** Well-formed UTF-8 to GBK; characters without a code become {@code &#n;}. */
    static int encodeGbk(byte[] text, int start, int end, byte[] out, int at) {
        int to = at;
        for (int i = start; i < end; ) {
            int width = Utf8.sequenceLength(text, i, end);
            int codePoint = Utf8.codePoint(text, i, width);
            i += width;
            int code = gbkCode(codePoint);
            if (code == UNMAPPED && codePoint != '?') {
                byte[] reference = ("&#" + codePoint + ";").getBytes(StandardCharsets.US_ASCII);
                System.arraycopy(reference, 0, out, to, reference.length);
                to += reference.length;
            } else {
                to = put(code, out, to);
            }
        }
        return to;
    }

    private static int gbkCode(int codePoint) {
        if (codePoint > 0xffff) {
            return UNMAPPED;
        }
        int code = Encoding.GBK[codePoint];
        boolean mayBePrivate =
                code == UNMAPPED && codePoint >= PRIVATE_FIRST && codePoint <= PRIVATE_LAST && codePoint != UNENCODABLE;
        if (mayBePrivate && Encoding.GB18030[codePoint] > 0) {
            return Encoding.GB18030[codePoint];
        }
        return code;
    }

    /** Well-formed UTF-8 to GB18030, which has a code for every character. */
    static int encodeGb18030(byte[] text, int start, int end, byte[] out, int at) {
        int to = at;
        for (int i = start; i < end; ) {
            int width = Utf8.sequenceLength(text, i, end);
            int codePoint = Utf8.codePoint(text, i, width);
            to = put(codePoint > 0xffff ? Gb18030.linearCode(codePoint) : Encoding.GB18030[codePoint], out, to);
            i += width;
        }
        return to;
    }

    /**
     * GBK (with the four-byte codes, as the web decodes it) or GB18030 to UTF-8.
     *
     * @param gbk true: byte 80 is the Euro sign
     * @return index behind what was written, or -1 if the bytes are no such text
     */
    static int decode(byte[] bytes, int start, int end, boolean gbk, byte[] out, int at) {
        int to = at;
        for (int i = start; i < end; ) {
            int lead = bytes[i] & 0xff;
            int codePoint;
            if (lead < 0x80) {
                codePoint = lead;
                i++;
            } else if (lead == 0x80 && gbk) {
                codePoint = EURO;
                i++;
            } else {
                int second = i + 1 < end && lead > 0x80 && lead < 0xff ? bytes[i + 1] & 0xff : 0;
                if (second >= 0x40) {
                    codePoint = Decoding.TWO_BYTES[lead << 8 | second];
                    i += 2;
                } else if (second >= 0x30 && second <= 0x39 && i + 3 < end) {
                    codePoint = fourBytes(lead, second, bytes[i + 2] & 0xff, bytes[i + 3] & 0xff);
                    i += 4;
                } else {
                    return -1;
                }
                if (codePoint == 0) {
                    return -1;
                }
            }
            to = Utf8.put(codePoint, out, to);
        }
        return to;
    }

    /** Code point of a four-byte code, 0 if there is none. */
    private static int fourBytes(int first, int second, int third, int fourth) {
        if (third < 0x81 || third > 0xfe || fourth < 0x30 || fourth > 0x39) {
            return 0;
        }
        int linear = Gb18030.linear(first << 24 | second << 16 | third << 8 | fourth);
        if (linear < LINEAR_CODES) {
            return Decoding.FOUR_BYTES[linear];
        }
        int codePoint = 0x10000 + linear - SUPPLEMENTARY_LINEAR;
        return codePoint >= 0x10000 && codePoint <= Character.MAX_CODE_POINT ? codePoint : 0;
    }

    private static int put(int code, byte[] out, int at) {
        int to = at;
        if (code < 0) { // four bytes: the first is 80 or more
            out[to++] = (byte) (code >> 24);
            out[to++] = (byte) (code >> 16);
        }
        if (code < 0 || code > 0xff) {
            out[to++] = (byte) (code >> 8);
        }
        out[to++] = (byte) code;
        return to;
    }
}
