package io.coplane.cop.expr;

import io.coplane.types.EvalContext;
import io.coplane.types.json.JsonBuilder;
import io.coplane.types.json.JsonDocs;
import java.util.HexFormat;

/** Reads the JSON of vectors: JSON text, and {@code i64 n}, {@code u64 n}, {@code f64 x}, {@code time T:..}, {@code duration N:..}, {@code opaque TYPE hex}. */
final class VectorJson {
    private final String text;
    private final JsonBuilder builder;
    private final EvalContext eval;
    private int at;

    VectorJson(String text, JsonBuilder builder, EvalContext eval) {
        this.text = text;
        this.builder = builder;
        this.eval = eval;
    }

    void document() {
        value();
        skipSpace();
        if (at != text.length()) {
            throw new AssertionError("behind JSON at " + at + ": " + text);
        }
    }

    private void skipSpace() {
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
    }

    private void value() {
        skipSpace();
        char c = text.charAt(at);
        if (c == '[') {
            int mark = builder.mark();
            at++;
            for (skipSpace(); text.charAt(at) != ']'; skipSpace()) {
                if (text.charAt(at) == ',') {
                    at++;
                }
                value();
            }
            at++;
            builder.endArray(mark);
        } else if (c == '{') {
            object();
        } else if (c == '"') {
            byte[] string = VectorCase.utf8(string());
            builder.pushString(string, 0, string.length);
        } else {
            word();
        }
    }

    private void object() {
        int mark = builder.mark();
        at++;
        for (skipSpace(); text.charAt(at) != '}'; skipSpace()) {
            if (text.charAt(at) == ',') {
                at++;
                skipSpace();
            }
            byte[] key = VectorCase.utf8(string());
            skipSpace();
            at++; // the colon
            value();
            builder.key(key, 0, key.length);
        }
        at++;
        builder.endObject(mark);
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        at++;
        while (text.charAt(at) != '"') {
            char c = text.charAt(at++);
            if (c != '\\') {
                out.append(c);
                continue;
            }
            char escaped = text.charAt(at++);
            switch (escaped) {
                case 'n' -> out.append('\n');
                case 'r' -> out.append('\r');
                case 't' -> out.append('\t');
                case 'b' -> out.append('\b');
                case 'f' -> out.append('\f');
                case 'u' -> {
                    out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                }
                default -> out.append(escaped);
            }
        }
        at++;
        return out.toString();
    }

    private String plain() {
        skipSpace();
        int start = at;
        while (at < text.length() && ",]} ".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        return text.substring(start, at);
    }

    private void word() {
        String word = plain();
        switch (word) {
            case "null" -> builder.pushLiteral(JsonDocs.NULL_LITERAL);
            case "true" -> builder.pushBoolean(true);
            case "false" -> builder.pushBoolean(false);
            case "i64" -> builder.pushBits(JsonDocs.I64, Long.parseLong(plain()));
            case "u64" -> builder.pushBits(JsonDocs.U64, Long.parseUnsignedLong(plain()));
            case "f64" -> builder.pushBits(JsonDocs.DOUBLE, Double.doubleToRawLongBits(VectorValues.real(plain())));
            case "opaque" -> {
                int tp = VectorValues.tp(plain());
                byte[] bytes = HexFormat.of().parseHex(plain());
                builder.pushOpaque(tp, bytes, 0, bytes.length, bytes.length);
            }
            case "time" -> time();
            case "duration" -> {
                long[] duration = VectorTypes.duration(literal(), eval);
                builder.pushDuration(duration[0], (int) duration[1]);
            }
            default -> number(word);
        }
    }

    private VectorLiteral literal() {
        skipSpace();
        int start = at;
        int quotes = 0;
        int depth = 0;
        while (at < text.length() && (quotes < 2 || depth > 0 || ",]}".indexOf(text.charAt(at)) < 0)) {
            quotes += text.charAt(at) == '"' ? 1 : 0;
            depth += text.charAt(at) == '(' ? 1 : text.charAt(at) == ')' ? -1 : 0;
            at++;
        }
        return VectorLiteral.one(text.substring(start, at));
    }

    private void time() {
        VectorLiteral literal = literal();
        long core = VectorTypes.time(literal, eval);
        boolean date = (core & 15) == 14;
        builder.pushBits(date ? JsonDocs.DATE : (core & 1) != 0 ? JsonDocs.TIMESTAMP : JsonDocs.DATETIME, core);
    }

    private void number(String word) {
        if (word.matches("-?[0-9]+") && !word.equals("-0")) {
            try {
                long value = Long.parseLong(word);
                builder.pushBits(value == Long.MAX_VALUE ? JsonDocs.U64 : JsonDocs.I64, value);
                return;
            } catch (NumberFormatException e) {
                try {
                    builder.pushBits(JsonDocs.U64, Long.parseUnsignedLong(word));
                    return;
                } catch (NumberFormatException tooLarge) {
                    assert tooLarge != null;
                }
            }
        }
        builder.pushBits(JsonDocs.DOUBLE, Double.doubleToRawLongBits(Double.parseDouble(word)));
    }
}
