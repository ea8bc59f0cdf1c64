package io.coplane.types.text;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Strict UTF-8 over byte ranges (RFC 3629: no surrogates, no overlong forms). Allocates nothing; any thread. */
public final class Utf8 {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final int REPLACEMENT = 0xfffd;
    private static final long HIGH_BITS = 0x8080808080808080L;

    private Utf8() {}

    /** True if the range is well-formed. */
    public static boolean isValid(byte[] bytes, int offset, int length) {
        return validPrefix(bytes, offset, length) == length;
    }

    /** Bytes of the longest well-formed prefix. */
    public static int validPrefix(byte[] bytes, int offset, int length) {
        int end = offset + length;
        int at = offset;
        while (true) {
            at = skipAscii(bytes, at, end);
            if (at >= end) {
                return length;
            }
            int width = sequenceLength(bytes, at, end);
            if (width == 0) {
                return at - offset;
            }
            at += width;
        }
    }

    /** Index of the first byte at or after {@code at} that is not ASCII, or {@code end}. */
    public static int skipAscii(byte[] bytes, int at, int end) {
        int i = at;
        while (i + Long.BYTES <= end && ((long) LONGS.get(bytes, i) & HIGH_BITS) == 0) {
            i += Long.BYTES;
        }
        while (i < end && bytes[i] >= 0) {
            i++;
        }
        return i;
    }

    /** Bytes (1 to 4) of the well-formed sequence at {@code at}, or 0 if there is none. {@code at < end}. */
    public static int sequenceLength(byte[] bytes, int at, int end) {
        int lead = bytes[at] & 0xff;
        if (lead < 0x80) {
            return 1;
        }
        if (lead < 0xc2 || lead > 0xf4) {
            return 0;
        }
        if (lead < 0xe0) {
            return end - at >= 2 && isContinuation(bytes[at + 1]) ? 2 : 0;
        }
        if (lead < 0xf0) {
            if (end - at < 3 || !isContinuation(bytes[at + 1]) || !isContinuation(bytes[at + 2])) {
                return 0;
            }
            int second = bytes[at + 1] & 0xff;
            boolean bad = lead == 0xe0 && second < 0xa0 || lead == 0xed && second > 0x9f;
            return bad ? 0 : 3;
        }
        if (end - at < 4
                || !isContinuation(bytes[at + 1])
                || !isContinuation(bytes[at + 2])
                || !isContinuation(bytes[at + 3])) {
            return 0;
        }
        int second = bytes[at + 1] & 0xff;
        boolean bad = lead == 0xf0 && second < 0x90 || lead == 0xf4 && second > 0x8f;
        return bad ? 0 : 4;
    }

    /** Code point of the well-formed sequence of {@code width} bytes at {@code at}. */
    public static int codePoint(byte[] bytes, int at, int width) {
        int lead = bytes[at];
        return switch (width) {
            case 1 -> lead;
            case 2 -> (lead & 0x1f) << 6 | bytes[at + 1] & 0x3f;
            case 3 -> (lead & 0x0f) << 12 | (bytes[at + 1] & 0x3f) << 6 | bytes[at + 2] & 0x3f;
            default ->
                (lead & 0x07) << 18 | (bytes[at + 1] & 0x3f) << 12 | (bytes[at + 2] & 0x3f) << 6 | bytes[at + 3] & 0x3f;
        };
    }

    /** Bytes that {@link #put} writes for a code point. */
    public static int width(int codePoint) {
        if (codePoint < 0x80) {
            return 1;
        }
        if (codePoint < 0x800) {
            return 2;
        }
        return codePoint < 0x10000 ? 3 : 4;
    }

    /**
     * Writes a code point.
     *
     * @param out at least 4 bytes free from {@code at} on
     * @return index behind it
     */
    public static int put(int codePoint, byte[] out, int at) {
        if (codePoint < 0x80) {
            out[at] = (byte) codePoint;
            return at + 1;
        }
        if (codePoint < 0x800) {
            out[at] = (byte) (0xc0 | codePoint >> 6);
            out[at + 1] = (byte) (0x80 | codePoint & 0x3f);
            return at + 2;
        }
        if (codePoint < 0x10000) {
            out[at] = (byte) (0xe0 | codePoint >> 12);
            out[at + 1] = (byte) (0x80 | codePoint >> 6 & 0x3f);
            out[at + 2] = (byte) (0x80 | codePoint & 0x3f);
            return at + 3;
        }
        out[at] = (byte) (0xf0 | codePoint >> 18);
        out[at + 1] = (byte) (0x80 | codePoint >> 12 & 0x3f);
        out[at + 2] = (byte) (0x80 | codePoint >> 6 & 0x3f);
        out[at + 3] = (byte) (0x80 | codePoint & 0x3f);
        return at + 4;
    }

    /** Code points of a well-formed range. */
    public static int countCodePoints(byte[] bytes, int offset, int length) {
        int count = 0;
        for (int i = offset; i < offset + length; i++) {
            count += isContinuation(bytes[i]) ? 0 : 1;
        }
        return count;
    }

    /**
     * Bytes of the invalid sequence at {@code at}, as the usual lossy decoding replaces it by one U+FFFD: the longest start of a well-formed
     * sequence, at least one byte.
     */
    public static int invalidLength(byte[] bytes, int at, int end) {
        int lead = bytes[at] & 0xff;
        if (lead < 0xc2 || lead > 0xf4 || at + 1 >= end) {
            return 1;
        }
        int second = bytes[at + 1] & 0xff;
        int low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        int high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (lead < 0xe0 || second < low || second > high) {
            return 1;
        }
        if (lead < 0xf0 || at + 2 >= end || !isContinuation(bytes[at + 2])) {
            return 2;
        }
        return 3;
    }

    /** Index of the first byte behind leading Unicode white space. */
    public static int skipWhiteSpace(byte[] bytes, int offset, int end) {
        int at = offset;
        while (at < end) {
            int width = whiteSpaceLength(bytes, at, end);
            if (width == 0) {
                break;
            }
            at += width;
        }
        return at;
    }

    /** Index behind the last character that is not Unicode white space; {@code offset} if there is none. */
    public static int trimEnd(byte[] bytes, int offset, int end) {
        int to = end;
        while (to > offset) {
            int last = bytes[to - 1];
            if (last >= 0) {
                if (!isAsciiWhiteSpace(last)) {
                    break;
                }
                to--;
            } else if (to - 2 >= offset && whiteSpaceLength(bytes, to - 2, to) == 2) {
                to -= 2;
            } else if (to - 3 >= offset && whiteSpaceLength(bytes, to - 3, to) == 3) {
                to -= 3;
            } else {
                break;
            }
        }
        return to;
    }

    /** Bytes of the White_Space character at {@code at}, or 0. */
    public static int whiteSpaceLength(byte[] bytes, int at, int end) {
        int lead = bytes[at];
        if (lead >= 0) {
            return isAsciiWhiteSpace(lead) ? 1 : 0;
        }
        int width = sequenceLength(bytes, at, end);
        if (width != 2 && width != 3) {
            return 0;
        }
        return isWhiteSpace(codePoint(bytes, at, width)) ? width : 0;
    }

    /** The Unicode property White_Space. */
    public static boolean isWhiteSpace(int codePoint) {
        return codePoint < 0x80
                ? isAsciiWhiteSpace(codePoint)
                : codePoint == 0x85
                        || codePoint == 0xa0
                        || codePoint == 0x1680
                        || codePoint >= 0x2000 && codePoint <= 0x200a
                        || codePoint == 0x2028
                        || codePoint == 0x2029
                        || codePoint == 0x202f
                        || codePoint == 0x205f
                        || codePoint == 0x3000;
    }

    /** The range as text; ill-formed sequences become U+FFFD, by the rule of {@link #invalidLength}. */
    public static String lossy(byte[] bytes, int offset, int length) {
        int valid = validPrefix(bytes, offset, length);
        if (valid == length) {
            return new String(bytes, offset, length, StandardCharsets.UTF_8);
        }
        StringBuilder text = new StringBuilder(length);
        int end = offset + length;
        int at = offset;
        while (true) {
            int good = validPrefix(bytes, at, end - at);
            text.append(new String(bytes, at, good, StandardCharsets.UTF_8));
            at += good;
            if (at == end) {
                return text.toString();
            }
            text.append((char) REPLACEMENT);
            at += invalidLength(bytes, at, end);
        }
    }

    private static boolean isAsciiWhiteSpace(int c) {
        return c == ' ' || c >= '\t' && c <= '\r';
    }

    private static boolean isContinuation(byte b) {
        return b < (byte) 0xc0; // as signed: 0x80 .. 0xbf
    }
}
