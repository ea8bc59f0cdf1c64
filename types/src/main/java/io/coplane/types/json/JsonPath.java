package io.coplane.types.json;

import io.coplane.types.EvalException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A parsed path expression (expressions.md 6.9.3). Immutable. */
public final class JsonPath {
    /** One step. */
    sealed interface Leg permits Key, AnyKey, Elements, AnyElement, Descend {}

    /** {@code .key}; a key that can't match anything is null. */
    record Key(byte[] name) implements Leg {}

    /** {@code .*}. */
    record AnyKey() implements Leg {}

    /** {@code [*]}. */
    record AnyElement() implements Leg {}

    /** {@code **}. */
    record Descend() implements Leg {}

    /** {@code [from]} ({@code isRange} false, both ends equal) or {@code [from to to]}. */
    record Elements(Index from, Index to, boolean isRange) implements Leg {}

    /** An index from the left, or from the last element: {@code last-offset}. */
    record Index(boolean fromLast, long offset) {
        /** Position in an array of {@code count} elements; negative where it lies before the first. */
        long in(int count) {
            return fromLast ? count - 1 - offset : offset;
        }
    }

    private final List<Leg> legs;
    private final boolean hasAsterisk;
    private final boolean hasRange;

    private JsonPath(List<Leg> legs) {
        this.legs = List.copyOf(legs);
        hasAsterisk = legs.stream()
                .anyMatch(leg -> leg instanceof AnyKey || leg instanceof AnyElement || leg instanceof Descend);
        hasRange = legs.stream().anyMatch(leg -> leg instanceof Elements elements && elements.isRange());
    }

    /**
     * Parses a path.
     *
     * @param text UTF-8, checked by the caller
     * @throws EvalException {@code Invalid JSON path expression. The error is around character position N.}
     */
    public static JsonPath parse(byte[] text, int offset, int length) {
        return new Parser(text, offset, length).path();
    }

    List<Leg> legs() {
        return legs;
    }

    /** True if it has {@code .*}, {@code [*]} or {@code **}. */
    public boolean hasAsterisk() {
        return hasAsterisk;
    }

    /** True if it has a range of elements. */
    public boolean hasRange() {
        return hasRange;
    }

    /** True if it may match more than one value. */
    public boolean mayMatchMany() {
        return hasAsterisk || hasRange;
    }

    /** How the reference's errors show a path. */
    public String debugText() {
        StringBuilder text = new StringBuilder("PathExpression { legs: [");
        int flags = 0;
        for (int i = 0; i < legs.size(); i++) {
            text.append(i == 0 ? "" : ", ");
            switch (legs.get(i)) {
                case Key key ->
                    text.append("Key(Key(")
                            .append(quoted(new String(key.name(), StandardCharsets.UTF_8)))
                            .append("))");
                case AnyKey ignored -> {
                    text.append("Key(Asterisk)");
                    flags |= 1;
                }
                case AnyElement ignored -> {
                    text.append("ArraySelection(Asterisk)");
                    flags |= 1;
                }
                case Descend ignored -> {
                    text.append("DoubleAsterisk");
                    flags |= 2;
                }
                case Elements elements
                when elements.isRange() -> {
                    text.append("ArraySelection(Range(")
                            .append(debugText(elements.from()))
                            .append(", ");
                    text.append(debugText(elements.to())).append("))");
                    flags |= 4;
                }
                case Elements elements ->
                    text.append("ArraySelection(Index(")
                            .append(debugText(elements.from()))
                            .append("))");
            }
        }
        return text.append("], flags: ").append(flags).append(" }").toString();
    }

    private static String debugText(Index index) {
        return (index.fromLast() ? "Right(" : "Left(") + index.offset() + ")";
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }

    private static final class Parser {
        private static final long MOST_INDEX = 0xffff_ffffL;

        private final byte[] text;
        private final int start;
        private final int end;
        private int at;

        private Parser(byte[] text, int offset, int length) {
            this.text = text;
            start = offset;
            at = offset;
            end = offset + length;
        }

        private JsonPath path() {
            skipSpace();
            if (peek() != '$') {
                throw error();
            }
            at++;
            List<Leg> legs = new ArrayList<>();
            skipSpace();
            while (at < end) {
                legs.add(leg());
                skipSpace();
            }
            if (!legs.isEmpty() && legs.getLast() instanceof Descend) {
                at = end - 1;
                throw error();
            }
            return new JsonPath(legs);
        }

        private Leg leg() {
            switch (peek()) {
                case '.' -> {
                    at++;
                    skipSpace();
                    if (peek() == '*') {
                        at++;
                        return new AnyKey();
                    }
                    return new Key(peek() == '"' ? quotedKey() : bareKey());
                }
                case '[' -> {
                    at++;
                    skipSpace();
                    Leg leg = elements();
                    skipSpace();
                    if (peek() != ']') {
                        throw error();
                    }
                    at++;
                    return leg;
                }
                case '*' -> {
                    if (at + 1 >= end || text[at + 1] != '*') {
                        throw error();
                    }
                    at += 2;
                    return new Descend();
                }
                default -> throw error();
            }
        }

        private Leg elements() {
            if (peek() == '*') {
                at++;
                return new AnyElement();
            }
            Index from = index();
            int save = at;
            int spaces = skipSpace();
            if (spaces == 0 || !word("to")) {
                at = save;
                return new Elements(from, from, false);
            }
            if (skipSpace() == 0) {
                throw error();
            }
            int endsAt = at;
            Index to = index();
            boolean bad = from.fromLast() == to.fromLast()
                    && (from.fromLast() ? from.offset() < to.offset() : from.offset() > to.offset());
            if (bad) {
                at = endsAt;
                throw error();
            }
            return new Elements(from, to, true);
        }

        private Index index() {
            if (!word("last")) {
                return new Index(false, uint32());
            }
            int save = at;
            skipSpace();
            if (peek() != '-') {
                at = save;
                return new Index(true, 0);
            }
            at++;
            skipSpace();
            return new Index(true, uint32());
        }

        private long uint32() {
            int from = at;
            long value = 0;
            while (at < end && text[at] >= '0' && text[at] <= '9') {
                value = value * 10 + (text[at] - '0');
                if (value > MOST_INDEX) {
                    throw error();
                }
                at++;
            }
            if (at == from) {
                throw error();
            }
            return value;
        }

        private byte[] quotedKey() {
            int from = ++at;
            while (at < end && text[at] != '"') {
                at++;
            }
            if (at == end || at == from) {
                throw error();
            }
            byte[] inside = Arrays.copyOfRange(text, from, at++);
            byte[] key = new byte[inside.length * 3];
            int length;
            try {
                length = JsonUnquote.unescape(inside, 0, inside.length, key);
            } catch (EvalException e) {
                return null; // it can't match: expressions.md 6.9.3
            }
            for (int i = 0; i < length; i++) {
                if (key[i] >= 0 && key[i] < ' ') {
                    return null;
                }
            }
            return Arrays.copyOf(key, length);
        }

        private byte[] bareKey() {
            int from = at;
            while (at < end && !isKeyEnd(text[at])) {
                at++;
            }
            if (at == from || text[from] >= '0' && text[from] <= '9') {
                at = from;
                throw error();
            }
            for (int i = from; i < at; i++) {
                byte b = text[i];
                boolean allowed = b < 0 || b == '_' || b == '$' || Character.isLetterOrDigit(b);
                if (!allowed) {
                    at = from;
                    throw error();
                }
            }
            return Arrays.copyOfRange(text, from, at);
        }

        private static boolean isKeyEnd(byte b) {
            return b == '.' || b == '[' || b == '*' || isSpace(b);
        }

        private static boolean isSpace(byte b) {
            return b == ' ' || b == '\t' || b == '\n' || b == '\r';
        }

        private boolean word(String word) {
            byte[] bytes = word.getBytes(StandardCharsets.US_ASCII);
            if (end - at < bytes.length || !Arrays.equals(text, at, at + bytes.length, bytes, 0, bytes.length)) {
                return false;
            }
            at += bytes.length;
            return true;
        }

        private int skipSpace() {
            int from = at;
            while (at < end && isSpace(text[at])) {
                at++;
            }
            return at - from;
        }

        private int peek() {
            return at < end ? text[at] : -1;
        }

        private EvalException error() {
            return EvalException.uncoded(
                    "Invalid JSON path expression. The error is around character position " + (at - start + 1) + ".");
        }
    }
}
