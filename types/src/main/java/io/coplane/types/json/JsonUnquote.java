package io.coplane.types.json;

import io.coplane.types.ByteSink;
import io.coplane.types.EvalException;

/** JSON_UNQUOTE: escapes of text undone (expressions.md 6.9.6). */
public final class JsonUnquote {
    private JsonUnquote() {}

    /**
     * Appends a JSON value unquoted: a string's characters with escapes undone once more, times and opaques without quotes, other values as text.
     */
    public static void append(ByteSink out, byte[] data, long ref) {
        switch (JsonDocs.type(ref)) {
            case JsonDocs.STRING ->
                appendUnescaped(out, data, JsonDocs.bytesStart(data, ref), JsonDocs.bytesLength(data, ref));
            case JsonDocs.OPAQUE, JsonDocs.DATE, JsonDocs.DATETIME, JsonDocs.TIMESTAMP, JsonDocs.TIME ->
                JsonText.appendUnquotedScalar(out, data, ref);
            case JsonDocs.OBJECT, JsonDocs.ARRAY, JsonDocs.LITERAL, JsonDocs.I64, JsonDocs.U64, JsonDocs.DOUBLE ->
                JsonText.append(out, data, ref);
            default -> throw JsonDocs.corrupt("unknown JSON type " + JsonDocs.type(ref), JsonDocs.at(ref));
        }
    }

    /** Appends text (what stands inside the quotes) with its escapes undone. */
    public static void appendUnescaped(ByteSink out, byte[] text, int offset, int length) {
        out.ensure(length); // no escape is shorter than what it stands for
        out.advance(unescape(text, offset, length, out.bytes(), out.length()));
    }

    static int unescape(byte[] text, int offset, int length, byte[] target) {
        return unescape(text, offset, length, target, 0);
    }

    private static int unescape(byte[] text, int offset, int length, byte[] target, int from) {
        int end = offset + length;
        int to = from;
        int at = offset;
        while (at < end) {
            byte b = text[at++];
            if (b != '\\') {
                target[to++] = b;
                continue;
            }
            if (at == end) {
                throw EvalException.uncoded("Incomplete escaped sequence");
            }
            byte escaped = text[at++];
            if (escaped == 'u') {
                to = Utf8Points.put(target, to, point(text, at, end));
                at += 4;
            } else {
                target[to++] = single(escaped);
            }
        }
        return to - from;
    }

    private static byte single(byte escaped) {
        return switch (escaped) {
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            default -> escaped;
        };
    }

    private static int point(byte[] text, int at, int end) {
        if (end - at < 4) {
            throw EvalException.uncoded("Invalid unicode, byte len too short");
        }
        int point = 0;
        for (int i = at; i < at + 4; i++) {
            int digit = Character.digit(text[i], 16);
            if (digit < 0) {
                throw EvalException.uncoded("invalid digit found in string");
            }
            point = point << 4 | digit;
        }
        if (point >= 0xd800 && point <= 0xdfff) {
            throw EvalException.uncoded("invalid unicode code point");
        }
        return point;
    }
}
