package io.coplane.cop.expr;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One literal of expression-vectors.tsv; the syntax stands in the head of that file.
 *
 * @param kind NULL, I, U, R, D, B (also for X), T, N, J, V or E
 * @param text what follows the kind, unquoted for B, T and N
 * @param bytes of B and X, the name of E
 * @param suffix type of T, fsp of N, ordinal of E
 * @param attributes field type attributes
 */
record VectorLiteral(String kind, String text, byte[] bytes, String suffix, Map<String, String> attributes) {
    private static final byte[] NONE = {};

    /** Splits and parses an argument list. */
    static List<VectorLiteral> list(String args) {
        List<VectorLiteral> all = new ArrayList<>();
        Reader in = new Reader(args);
        while (!in.atEnd()) {
            all.add(in.literal());
            in.skip(", ");
        }
        return all;
    }

    /** Parses one literal that fills the text. */
    static VectorLiteral one(String text) {
        Reader in = new Reader(text);
        VectorLiteral literal = in.literal();
        if (!in.atEnd()) {
            throw new AssertionError("not a literal: " + text);
        }
        return literal;
    }

    /** Attributes {@code {k=v,...}} as a map. */
    static Map<String, String> attributes(String text) {
        Map<String, String> map = new LinkedHashMap<>();
        for (String part : text.substring(1, text.length() - 1).split(",", -1)) {
            if (!part.isEmpty()) {
                int at = part.indexOf('=');
                map.put(part.substring(0, at), part.substring(at + 1));
            }
        }
        return map;
    }

    private static final class Reader {
        private final String text;
        private int at;

        Reader(String text) {
            this.text = text;
        }

        boolean atEnd() {
            return at >= text.length();
        }

        void skip(String expected) {
            if (text.startsWith(expected, at)) {
                at += expected.length();
            }
        }

        VectorLiteral literal() {
            if (text.startsWith("NULL", at)) {
                at += 4;
                return new VectorLiteral("NULL", "", NONE, "", attributesHere());
            }
            String kind = text.substring(at, at + 1);
            if (text.charAt(at + 1) != ':') {
                throw new AssertionError("no literal at " + at + ": " + text);
            }
            at += 2;
            String payload = "";
            byte[] bytes = NONE;
            String suffix = "";
            switch (kind) {
                case "B" -> bytes = quoted();
                case "X" -> {
                    bytes = HexFormat.of().parseHex(word());
                    kind = "B";
                }
                case "T" -> {
                    payload = new String(quoted(), StandardCharsets.UTF_8);
                    suffix = at();
                }
                case "N" -> {
                    if (text.charAt(at) == '"') {
                        payload = new String(quoted(), StandardCharsets.UTF_8);
                    } else {
                        int end = text.indexOf('@', at);
                        payload = "#" + text.substring(at, end);
                        at = end;
                    }
                    suffix = at();
                }
                case "J" -> payload = json();
                case "V" -> payload = bracketed();
                case "E" -> {
                    skip("(B:");
                    bytes = quoted();
                    skip(", ");
                    suffix = word();
                    skip(")");
                }
                default -> payload = word();
            }
            return new VectorLiteral(kind, payload, bytes, suffix, attributesHere());
        }

        private Map<String, String> attributesHere() {
            if (atEnd() || text.charAt(at) != '{') {
                return Map.of();
            }
            int end = text.indexOf('}', at) + 1;
            Map<String, String> map = attributes(text.substring(at, end));
            at = end;
            return map;
        }

        private String word() {
            int start = at;
            while (!atEnd() && ",{)".indexOf(text.charAt(at)) < 0) {
                at++;
            }
            return text.substring(start, at);
        }

        /** {@code @TYPE(fsp)} or {@code @fsp}. */
        private String at() {
            if (atEnd() || text.charAt(at) != '@') {
                return "";
            }
            int start = ++at;
            int depth = 0;
            while (!atEnd() && (depth > 0 || ",{".indexOf(text.charAt(at)) < 0)) {
                depth += text.charAt(at) == '(' ? 1 : text.charAt(at) == ')' ? -1 : 0;
                at++;
            }
            return text.substring(start, at);
        }

        private String bracketed() {
            int end = text.indexOf(']', at) + 1;
            String found = text.substring(at, end);
            at = end;
            return found;
        }

        /** JSON text up to a comma outside of strings and brackets; a word such as {@code i64 5} is JSON too. */
        private String json() {
            int start = at;
            int depth = 0;
            boolean inString = false;
            while (!atEnd()) {
                char c = text.charAt(at);
                if (inString) {
                    if (c == '\\') {
                        at++;
                    } else if (c == '"') {
                        inString = false;
                    }
                } else if (c == '"') {
                    inString = true;
                } else if (c == '{' || c == '[' || c == '(') {
                    depth++;
                } else if (c == '}' || c == ']' || c == ')') {
                    depth--;
                } else if (c == ',' && depth == 0) {
                    break;
                }
                at++;
            }
            return text.substring(start, at);
        }

        private byte[] quoted() {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            StringBuilder plain = new StringBuilder();
            at++;
            while (text.charAt(at) != '"') {
                char c = text.charAt(at++);
                if (c == '\\') {
                    char escaped = text.charAt(at++);
                    switch (escaped) {
                        case 'n' -> plain.append('\n');
                        case 'r' -> plain.append('\r');
                        case 't' -> plain.append('\t');
                        case 'b' -> plain.append('\b');
                        case 'f' -> plain.append('\f');
                        case 'u' -> {
                            plain.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                            at += 4;
                        }
                        default -> plain.append(escaped);
                    }
                } else {
                    plain.append(c);
                }
            }
            at++;
            out.writeBytes(plain.toString().getBytes(StandardCharsets.UTF_8));
            return out.toByteArray();
        }
    }
}
