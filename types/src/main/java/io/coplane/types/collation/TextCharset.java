package io.coplane.types.collation;

import io.coplane.types.EvalException;
import io.coplane.types.text.Utf8;
import java.util.Locale;

/**
 * Charsets that text converts to and from UTF-8 (coprocessor.md 8.6, expressions.md 11) and their case mapping. Tables are built on first use and
 * shared; any thread.
 */
public enum TextCharset {
    UTF8("utf8"),
    UTF8MB4("utf8mb4"),
    LATIN1("latin1"),
    ASCII("ascii"),
    BINARY("binary"),
    GBK("gbk"),
    GB18030("gb18030");

    /** {@link #encode} writes at most this many bytes per byte read. */
    public static final int MAX_ENCODED_FACTOR = 4;
    /** {@link #decode} writes at most this many bytes per byte read. */
    public static final int MAX_DECODED_FACTOR = 3;

    private static final int CANNOT_CONVERT = 3854;
    private static final int SHOWN_BYTES = 6;

    private final String label;

    TextCharset(String label) {
        this.label = label;
    }

    /** Charset of a name on the wire; fails for a name that is not known. */
    public static TextCharset of(String name) {
        for (TextCharset charset : values()) {
            if (charset.label.equals(name)) {
                return charset;
            }
        }
        throw EvalException.uncoded("Unsupported charset : " + name);
    }

    /** True if bytes stay as they are when encoded. */
    public boolean isIdentity() {
        return this != GBK && this != GB18030;
    }

    /**
     * UTF-8 to this charset.
     *
     * @param out at least {@link #MAX_ENCODED_FACTOR} times {@code length} free from {@code at} on
     * @return index behind what was written
     * @throws EvalException if GBK or GB18030 text is not UTF-8
     */
    public int encode(byte[] text, int offset, int length, byte[] out, int at) {
        if (isIdentity()) {
            System.arraycopy(text, offset, out, at, length);
            return at + length;
        }
        requireUtf8(text, offset, length);
        return this == GBK
                ? ChineseCodes.encodeGbk(text, offset, offset + length, out, at)
                : ChineseCodes.encodeGb18030(text, offset, offset + length, out, at);
    }

    /**
     * This charset to UTF-8.
     *
     * @param out at least {@link #MAX_DECODED_FACTOR} times {@code length} free from {@code at} on
     * @return index behind what was written
     * @throws EvalException 3854 if the bytes are no text of this charset
     */
    public int decode(byte[] bytes, int offset, int length, byte[] out, int at) {
        int end = switch (this) {
            case GBK -> ChineseCodes.decode(bytes, offset, offset + length, true, out, at);
            case GB18030 -> ChineseCodes.decode(bytes, offset, offset + length, false, out, at);
            case UTF8, UTF8MB4, LATIN1 -> copyIf(Utf8.isValid(bytes, offset, length), bytes, offset, length, out, at);
            case ASCII ->
                copyIf(
                        Utf8.skipAscii(bytes, offset, offset + length) == offset + length,
                        bytes,
                        offset,
                        length,
                        out,
                        at);
            case BINARY -> copyIf(true, bytes, offset, length, out, at);
        };
        if (end < 0) {
            throw cannotConvert(bytes, offset, length);
        }
        return end;
    }

    private static void requireUtf8(byte[] text, int offset, int length) {
        if (!Utf8.isValid(text, offset, length)) {
            throw EvalException.uncoded("encoding failed");
        }
    }

    private static int copyIf(boolean valid, byte[] bytes, int offset, int length, byte[] out, int at) {
        if (!valid) {
            return -1;
        }
        System.arraycopy(bytes, offset, out, at, length);
        return at + length;
    }

    private EvalException cannotConvert(byte[] bytes, int offset, int length) {
        StringBuilder shown = new StringBuilder("'");
        for (int i = offset; i < offset + Math.min(length, SHOWN_BYTES); i++) {
            if (bytes[i] >= 0) {
                shown.append((char) bytes[i]);
            } else {
                shown.append(String.format(Locale.ROOT, "\\x%X", bytes[i] & 0xff));
            }
        }
        shown.append(length > SHOWN_BYTES ? "...'" : "'");
        return EvalException.coded(CANNOT_CONVERT, "Cannot convert string " + shown + " from binary to " + label);
    }

    /**
     * Upper case, one character at a time.
     *
     * @param out at least twice {@code length} free from {@code at} on
     * @return index behind what was written
     * @throws EvalException if the text is not UTF-8
     */
    public int upper(byte[] text, int offset, int length, byte[] out, int at) {
        requireUtf8(text, offset, length);
        int to = at;
        for (int i = offset; i < offset + length; ) {
            int c = text[i];
            if (c >= 0) {
                out[to++] = (byte) (c >= 'a' && c <= 'z' ? c - 0x20 : c);
                i++;
                continue;
            }
            int width = Utf8.sequenceLength(text, i, offset + length);
            to = Utf8.put(CaseMapping.upper(Utf8.codePoint(text, i, width), this), out, to);
            i += width;
        }
        return to;
    }

    /** Lower case; as {@link #upper}. */
    public int lower(byte[] text, int offset, int length, byte[] out, int at) {
        requireUtf8(text, offset, length);
        int to = at;
        for (int i = offset; i < offset + length; ) {
            int c = text[i];
            if (c >= 0) {
                out[to++] = (byte) (c >= 'A' && c <= 'Z' ? c + 0x20 : c);
                i++;
                continue;
            }
            int width = Utf8.sequenceLength(text, i, offset + length);
            to = Utf8.put(CaseMapping.lower(Utf8.codePoint(text, i, width), this), out, to);
            i += width;
        }
        return to;
    }
}
