package io.coplane.types.json;

import io.coplane.types.EvalException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Parses JSON text, strictly RFC 8259, into a builder (expressions.md 6.9.2). Reused; one thread.
 *
 * <p>Errors are {@link EvalException}s whose text starts with {@code Illegal Json text: }; the detail is ours.
 */
public final class JsonParser {
    private static final int MOST_LEVELS = 128;
    private static final int LONGEST_PLAIN_INTEGER = 20;

    private final JsonBuilder builder;
    private byte[] text;
    private int start;
    private int at;
    private int end;
    private byte[] string = new byte[64];
    private int stringLength;

    /** @param builder gets the values; borrowed */
    public JsonParser(JsonBuilder builder) {
        this.builder = builder;
    }

    /**
     * Parses one value and pushes it.
     *
     * @param source UTF-8, checked by the caller
     */
    public void parse(byte[] source, int offset, int length) {
        text = source;
        start = offset;
        at = offset;
        end = offset + length;
        skipSpace();
        value(MOST_LEVELS);
        skipSpace();
        if (at < end) {
            throw peekError("trailing characters");
        }
    }

    /** True if the text is one JSON value. Leaves the builder as it was. */
    public boolean isValid(byte[] source, int offset, int length) {
        JsonParser probe = new JsonParser(new JsonBuilder());
        try {
            probe.parse(source, offset, length);
            return true;
        } catch (EvalException e) {
            return false;
        }
    }

    private void value(int levels) {
        if (at >= end) {
            throw peekError("EOF while parsing a value");
        }
        switch (text[at]) {
            case '{' -> object(levels);
            case '[' -> array(levels);
            case '"' -> {
                string();
                builder.pushString(string, 0, stringLength);
            }
            case 't' -> literal("true", JsonDocs.TRUE_LITERAL);
            case 'f' -> literal("false", JsonDocs.FALSE_LITERAL);
            case 'n' -> literal("null", JsonDocs.NULL_LITERAL);
            case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number();
            default -> throw peekError("expected value");
        }
    }

    private void object(int levels) {
        enter(levels);
        int mark = builder.mark();
        skipSpace();
        if (peek() == '}') {
            at++;
            builder.endObject(mark);
            return;
        }
        while (true) {
            if (peek() != '"') {
                throw keyError(followsComma());
            }
            string();
            byte[] key = Arrays.copyOf(string, stringLength);
            skipSpace();
            expect(':', "expected `:`", "EOF while parsing an object");
            skipSpace();
            value(levels - 1);
            builder.key(key, 0, key.length);
            skipSpace();
            if (peek() == '}') {
                at++;
                builder.endObject(mark);
                return;
            }
            expect(',', "expected `,` or `}`", "EOF while parsing an object");
            skipSpace();
        }
    }

    private void array(int levels) {
        enter(levels);
        int mark = builder.mark();
        skipSpace();
        if (peek() == ']') {
            at++;
            builder.endArray(mark);
            return;
        }
        if (at >= end) {
            throw peekError("EOF while parsing a list");
        }
        while (true) {
            value(levels - 1);
            skipSpace();
            if (peek() == ']') {
                at++;
                builder.endArray(mark);
                return;
            }
            expect(',', "expected `,` or `]`", "EOF while parsing a list");
            skipSpace();
            if (peek() == ']') {
                throw peekError("trailing comma");
            }
        }
    }

    private void enter(int levels) {
        if (levels <= 1) {
            throw peekError("recursion limit exceeded");
        }
        at++;
    }

    private void literal(String word, int literal) {
        for (int i = 0; i < word.length(); i++) {
            if (at >= end) {
                throw error("EOF while parsing a value");
            }
            if (text[at++] != word.charAt(i)) {
                throw error("expected ident");
            }
        }
        builder.pushLiteral(literal);
    }

    private void number() {
        int start = at;
        boolean negative = peek() == '-';
        if (negative) {
            at++;
        }
        int digitsFrom = at;
        digits();
        if (text[digitsFrom] == '0' && at - digitsFrom > 1) {
            at = digitsFrom + 1;
            throw peekError("invalid number");
        }
        boolean isInteger = true;
        if (peek() == '.') {
            at++;
            digits();
            isInteger = false;
        }
        if (peek() == 'e' || peek() == 'E') {
            at++;
            if (peek() == '+' || peek() == '-') {
                at++;
            }
            digits();
            isInteger = false;
        }
        if (!isInteger || !pushInteger(negative, digitsFrom)) {
            pushDouble(start);
        }
    }

    /** Pushes an integer that has a 64-bit form: below 2^63 - 1 signed, from there to 2^64 - 1 unsigned. */
    private boolean pushInteger(boolean negative, int digitsFrom) {
        if (at - digitsFrom > LONGEST_PLAIN_INTEGER) {
            return false;
        }
        long value = 0;
        for (int i = digitsFrom; i < at; i++) {
            int digit = text[i] - '0';
            if (Long.compareUnsigned(value, Long.divideUnsigned(-1L - digit, 10)) > 0) {
                return false;
            }
            value = value * 10 + digit;
        }
        if (!negative) {
            boolean signed = value >= 0 && value < Long.MAX_VALUE;
            builder.pushBits(signed ? JsonDocs.I64 : JsonDocs.U64, value);
            return true;
        }
        if (value == 0 || Long.compareUnsigned(value, Long.MIN_VALUE) > 0) {
            return false;
        }
        builder.pushBits(JsonDocs.I64, -value);
        return true;
    }

    private void pushDouble(int start) {
        double value = Double.parseDouble(new String(text, start, at - start, StandardCharsets.US_ASCII));
        if (Double.isInfinite(value)) {
            throw error("number out of range");
        }
        builder.pushBits(JsonDocs.DOUBLE, Double.doubleToRawLongBits(value));
    }

    private void digits() {
        int start = at;
        while (at < end && text[at] >= '0' && text[at] <= '9') {
            at++;
        }
        if (at == start) {
            throw peekError(at == end ? "EOF while parsing a value" : "invalid number");
        }
    }

    /** Reads a quoted string into {@link #string}. */
    private void string() {
        at++;
        stringLength = 0;
        while (true) {
            if (at >= end) {
                throw error("EOF while parsing a string");
            }
            byte b = text[at++];
            if (b == '"') {
                return;
            }
            if (b >= 0 && b < ' ') {
                throw error("control character (\\\\u0000-\\\\u001F) found while parsing a string");
            }
            if (b == '\\') {
                escape();
            } else {
                add(b);
            }
        }
    }

    private void escape() {
        if (at >= end) {
            throw error("EOF while parsing a string");
        }
        switch (text[at++]) {
            case '"' -> add('"');
            case '\\' -> add('\\');
            case '/' -> add('/');
            case 'b' -> add('\b');
            case 'f' -> add('\f');
            case 'n' -> add('\n');
            case 'r' -> add('\r');
            case 't' -> add('\t');
            case 'u' -> unicode();
            default -> throw error("invalid escape");
        }
    }

    private void unicode() {
        int unit = hex4();
        int point = unit;
        if (unit >= 0xdc00 && unit <= 0xdfff) {
            throw error("lone leading surrogate in hex escape");
        }
        if (unit >= 0xd800 && unit <= 0xdbff) {
            if (at + 1 >= end || text[at] != '\\' || text[at + 1] != 'u') {
                throw error("unexpected end of hex escape");
            }
            at += 2;
            int low = hex4();
            if (low < 0xdc00 || low > 0xdfff) {
                throw error("lone leading surrogate in hex escape");
            }
            point = Character.toCodePoint((char) unit, (char) low);
        }
        ensureString(4);
        stringLength = Utf8Points.put(string, stringLength, point);
    }

    private int hex4() {
        if (end - at < 4) {
            throw error("EOF while parsing a string");
        }
        int value = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit(text[at++], 16);
            if (digit < 0) {
                throw error("invalid escape");
            }
            value = value << 4 | digit;
        }
        return value;
    }

    private void add(int b) {
        ensureString(1);
        string[stringLength++] = (byte) b;
    }

    private void ensureString(int more) {
        if (more > string.length - stringLength) {
            string = Arrays.copyOf(string, 2 * string.length);
        }
    }

    private int peek() {
        return at < end ? text[at] : -1;
    }

    private void expect(char c, String message, String atEnd) {
        if (peek() != c) {
            throw peekError(at >= end ? atEnd : message);
        }
        at++;
    }

    private void skipSpace() {
        while (at < end && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) {
            at++;
        }
    }

    /** What stands where a key must. */
    private EvalException keyError(boolean afterComma) {
        if (at >= end) {
            return peekError(afterComma ? "EOF while parsing a value" : "EOF while parsing an object");
        }
        return peekError(afterComma && text[at] == '}' ? "trailing comma" : "key must be a string");
    }

    private boolean followsComma() {
        int back = at - 1;
        while (back > start && (text[back] == ' ' || text[back] == '\t' || text[back] == '\n' || text[back] == '\r')) {
            back--;
        }
        return text[back] == ',';
    }

    /** An error at the byte that comes next. */
    private EvalException peekError(String detail) {
        return errorAt(detail, Math.min(end, at + 1));
    }

    /** An error at the byte read last. */
    private EvalException error(String detail) {
        return errorAt(detail, at);
    }

    /** The reference's parser gives line and column, both from 1; the column counts the bytes of the line up to the error. */
    private EvalException errorAt(String detail, int behind) {
        int line = 1;
        int column = 0;
        for (int i = start; i < behind; i++) {
            if (text[i] == '\n') {
                line++;
                column = 0;
            } else {
                column++;
            }
        }
        return EvalException.uncoded("invalid data type: Illegal Json text: Error(\"" + detail + "\", line: " + line
                + ", column: " + column + ")");
    }
}
