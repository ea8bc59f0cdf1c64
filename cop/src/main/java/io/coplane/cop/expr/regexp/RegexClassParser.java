package io.coplane.cop.expr.regexp;

import java.util.ArrayList;
import java.util.List;

/** Bracketed classes and the escapes that are characters or classes. */
final class RegexClassParser {
    private static final String META = "\\.+*?()|[]{}^$#&-~";
    private static final String UNCLOSED = "unclosed character class";
    private static final int NEST_LIMIT = 250;

    /** A character or a class. @param set null for a character */
    record Item(int codePoint, CodePointSet set, int start, int end) {
        boolean isClass() {
            return set != null;
        }
    }

    /** One open bracket. */
    private static final class Frame {
        final boolean negated;
        final int start;
        int end;
        CodePointSet left; // of the pending operator
        char operator; // 0 if none
        CodePointSet union = CodePointSet.EMPTY;

        Frame(boolean negated, int start) {
            this.negated = negated;
            this.start = start;
        }
    }

    private final RegexParser in;
    private final List<Frame> stack = new ArrayList<>();

    RegexClassParser(RegexParser in) {
        this.in = in;
    }

    /** Reads from the opening to the closing bracket. */
    CodePointSet bracketed() {
        stack.clear();
        while (true) {
            in.bumpSpace();
            if (in.atEnd()) {
                throw unclosed();
            }
            int c = in.peek();
            Frame frame = stack.isEmpty() ? null : stack.getLast();
            if (c == '[') {
                CodePointSet ascii = frame == null ? null : asciiClass();
                if (ascii != null) {
                    frame.union = frame.union.union(ascii);
                } else {
                    open();
                }
            } else if (c == ']') {
                in.position(in.position() + 1);
                CodePointSet closed = close(stack.removeLast());
                if (stack.isEmpty()) {
                    return closed;
                }
                stack.getLast().union = stack.getLast().union.union(closed);
            } else if ((c == '&' || c == '-' || c == '~') && in.peekAt(1) == c) {
                in.position(in.position() + 2);
                applyOperator(frame);
                frame.operator = (char) c;
            } else {
                frame.union = frame.union.union(range());
            }
        }
    }

    private void open() {
        int start = in.position();
        in.bumpOrFail(UNCLOSED, start);
        boolean negated = in.peek() == '^';
        if (negated) {
            in.bumpOrFail(UNCLOSED, start);
        }
        Frame frame = new Frame(negated, start);
        boolean any = false;
        while (in.peek() == '-') {
            frame.union = frame.union.union(CodePointSet.of('-', '-'));
            any = true;
            in.bumpOrFail(UNCLOSED, start);
        }
        if (!any && in.peek() == ']') {
            frame.union = CodePointSet.of(']', ']');
            in.bumpOrFail(UNCLOSED, start);
        }
        frame.end = in.position();
        stack.add(frame);
        if (stack.size() > NEST_LIMIT) {
            throw in.error(
                    "exceed the maximum number of nested parentheses/brackets (" + NEST_LIMIT + ")", start, frame.end);
        }
    }

    private io.coplane.types.EvalException unclosed() {
        Frame frame = stack.getLast();
        return in.error(UNCLOSED, frame.start, frame.end);
    }

    /** Operators have one precedence and go from left to right; a union binds tighter. */
    private void applyOperator(Frame frame) {
        CodePointSet right = in.has(RegexParser.CASE) ? in.foldCase(frame.union) : frame.union;
        frame.left = switch (frame.operator) {
            case '&' -> frame.left.intersect(right);
            case '-' -> frame.left.minus(right);
            case '~' -> frame.left.symmetricDifference(right);
            default -> right;
        };
        frame.union = CodePointSet.EMPTY;
    }

    private CodePointSet close(Frame frame) {
        applyOperator(frame);
        CodePointSet set = frame.left;
        if (!frame.negated) {
            return set;
        }
        if (in.has(RegexParser.NO_UNICODE)) {
            in.defer("pattern can match invalid UTF-8", frame.start, in.position());
        }
        return set.negate();
    }

    private CodePointSet range() {
        Item first = item();
        in.bumpSpace();
        if (in.atEnd()) {
            throw unclosed();
        }
        int next = in.peekAt(1);
        if (in.peek() != '-' || next == ']' || next == '-') {
            return first.isClass() ? first.set() : CodePointSet.of(first.codePoint(), first.codePoint());
        }
        in.position(in.position() + 1);
        in.bumpSpace();
        if (in.atEnd()) {
            throw unclosed();
        }
        Item last = item();
        for (Item end : new Item[] {first, last}) {
            if (end.isClass()) {
                throw in.error("invalid range boundary, must be a literal", end.start(), end.end());
            }
        }
        if (first.codePoint() > last.codePoint()) {
            throw in.error("invalid character class range, the start must be <= the end", first.start(), last.end());
        }
        CodePointSet.Builder builder = new CodePointSet.Builder();
        builder.addWithoutSurrogates(first.codePoint(), last.codePoint());
        return builder.build();
    }

    private Item item() {
        int start = in.position();
        if (in.peek() != '\\') {
            int c = in.peek();
            in.position(start + 1);
            return new Item(c, null, start, start + 1);
        }
        int next = in.peekAt(1);
        if (next == 'A' || next == 'z' || next == 'b' || next == 'B' || next == '<' || next == '>') {
            throw in.error("invalid escape sequence found in character class", start, start + 2);
        }
        return escape();
    }

    /** {@code [:name:]} or {@code [:^name:]}; null if it is none, then nothing is consumed. */
    private CodePointSet asciiClass() {
        int start = in.position();
        if (in.peekAt(1) != ':') {
            return null;
        }
        in.position(start + 2);
        boolean negated = !in.atEnd() && in.peek() == '^';
        if (negated) {
            in.position(start + 3);
        }
        int nameStart = in.position();
        while (!in.atEnd() && in.peek() != ':') {
            in.position(in.position() + 1);
        }
        CodePointSet set = null;
        if (!in.atEnd() && in.peekAt(1) == ']') {
            set = asciiClass(in.text(nameStart, in.position()));
        }
        if (set == null) {
            in.position(start);
            return null;
        }
        in.position(in.position() + 2);
        return negated ? set.negate() : set;
    }

    private static CodePointSet asciiClass(String name) {
        return switch (name) {
            case "alnum" -> CodePointSet.of('0', '9', 'A', 'Z', 'a', 'z');
            case "alpha" -> CodePointSet.of('A', 'Z', 'a', 'z');
            case "ascii" -> CodePointSet.of(0, 0x7f);
            case "blank" -> CodePointSet.of('\t', '\t', ' ', ' ');
            case "cntrl" -> CodePointSet.of(0, 0x1f, 0x7f, 0x7f);
            case "digit" -> CodePointSet.of('0', '9');
            case "graph" -> CodePointSet.of('!', '~');
            case "lower" -> CodePointSet.of('a', 'z');
            case "print" -> CodePointSet.of(' ', '~');
            case "punct" -> CodePointSet.of('!', '/', ':', '@', '[', '`', '{', '~');
            case "space" -> CodePointSet.of('\t', '\r', ' ', ' ');
            case "upper" -> CodePointSet.of('A', 'Z');
            case "word" -> CodePointSet.of('0', '9', 'A', 'Z', 'a', 'z', '_', '_');
            case "xdigit" -> CodePointSet.of('0', '9', 'A', 'F', 'a', 'f');
            default -> null;
        };
    }

    /** Reads an escape that is a character or a class; the backslash is next. */
    Item escape() {
        int start = in.position();
        in.position(start + 1);
        if (in.atEnd()) {
            throw in.error("incomplete escape sequence, reached end of pattern prematurely", start, in.position());
        }
        int c = in.peek();
        if (c >= '0' && c <= '9') {
            throw in.error("backreferences are not supported", start, in.position() + 1);
        }
        switch (c) {
            case 'x', 'u', 'U' -> {
                return hex(start);
            }
            case 'p', 'P' -> {
                return property(start);
            }
            case 'd', 'D', 's', 'S', 'w', 'W' -> {
                in.position(in.position() + 1);
                return new Item(0, perl(c, start), start, in.position());
            }
            default -> in.position(in.position() + 1);
        }
        int literal = switch (c) {
            case 'a' -> 0x07;
            case 'f' -> 0x0c;
            case 't' -> 0x09;
            case 'n' -> 0x0a;
            case 'r' -> 0x0d;
            case 'v' -> 0x0b;
            default -> META.indexOf(c) >= 0 || isEscapable(c) ? c : -1;
        };
        if (literal < 0) {
            throw in.error("unrecognized escape sequence", start, in.position());
        }
        return new Item(literal, null, start, in.position());
    }

    private static boolean isEscapable(int c) {
        boolean alphanumeric = c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z';
        return c < 0x80 && !alphanumeric && c != '<' && c != '>';
    }

    private CodePointSet perl(int c, int start) {
        boolean ascii = in.has(RegexParser.NO_UNICODE);
        CodePointSet set = switch (c) {
            case 'd', 'D' -> ascii ? asciiClass("digit") : UnicodeProperties.digit();
            case 's', 'S' -> ascii ? asciiClass("space") : UnicodeProperties.whiteSpace();
            default -> ascii ? asciiClass("word") : UnicodeProperties.word();
        };
        boolean negated = c < 'a';
        if (negated && ascii) {
            in.defer("pattern can match invalid UTF-8", start, in.position());
        }
        return negated ? set.negate() : set;
    }

    private Item hex(int start) {
        int digits = switch (in.peek()) {
            case 'x' -> 2;
            case 'u' -> 4;
            default -> 8;
        };
        String unexpectedEnd = "incomplete escape sequence, reached end of pattern prematurely";
        bump(unexpectedEnd);
        if (in.peek() == '{') {
            return hexInBraces(start);
        }
        int first = in.position();
        long value = 0;
        for (int i = 0; i < digits; i++) {
            if (i > 0) {
                bump(unexpectedEnd);
            }
            value = value << 4 | hexDigit();
        }
        in.position(in.position() + 1);
        int end = in.position();
        in.bumpSpace();
        return character(value, start, first, end);
    }

    /** Moves on by one; the error of the end of the pattern has no width. */
    private void bump(String message) {
        in.position(in.position() + 1);
        in.bumpSpace();
        in.requireMoreAt(message, in.position(), in.position());
    }

    private int hexDigit() {
        int digit = in.peek() < 0x80 ? Character.digit(in.peek(), 16) : -1;
        if (digit < 0) {
            throw in.error("invalid hexadecimal digit", in.position(), in.position() + 1);
        }
        return digit;
    }

    private Item hexInBraces(int start) {
        int brace = in.position();
        long value = 0;
        int count = 0;
        while (true) {
            in.position(in.position() + 1);
            in.bumpSpace();
            in.requireMore("incomplete escape sequence, reached end of pattern prematurely", brace);
            if (in.peek() == '}') {
                break;
            }
            value = Math.min(value << 4 | hexDigit(), 1L << 40);
            count++;
        }
        int end = in.position();
        in.position(end + 1);
        in.bumpSpace();
        if (count == 0) {
            throw in.error("hexadecimal literal empty", brace, in.position());
        }
        return character(value, start, brace + 1, end);
    }

    private Item character(long value, int start, int first, int end) {
        if (value > CodePointSet.MAX || value >= 0xd800 && value <= 0xdfff) {
            throw in.error("hexadecimal literal is not a Unicode scalar value", first, end);
        }
        return new Item((int) value, null, start, in.position());
    }

    private Item property(int start) {
        boolean negated = in.peek() == 'P';
        bump("incomplete escape sequence, reached end of pattern prematurely");
        String name;
        if (in.peek() == '{') {
            int first = in.position() + 1;
            while (!in.atEnd() && in.peek() != '}') {
                in.position(in.position() + 1);
            }
            in.requireMoreAt(
                    "incomplete escape sequence, reached end of pattern prematurely", in.position(), in.position());
            name = in.text(first, in.position());
            in.position(in.position() + 1);
        } else {
            if (in.peek() == '\\') {
                throw in.error("invalid Unicode character class", in.position(), in.position() + 1);
            }
            name = in.text(in.position(), in.position() + 1);
            in.position(in.position() + 1);
            in.bumpSpace();
        }
        int end = in.position();
        if (in.has(RegexParser.NO_UNICODE)) {
            in.defer("Unicode not allowed here", start, end);
        }
        CodePointSet set = property(name, start, end);
        boolean invert = negated != name.contains("!=");
        return new Item(0, invert ? set.negate() : set, start, end);
    }

    private CodePointSet property(String name, int start, int end) {
        int at = name.indexOf("!=");
        int width = 2;
        if (at < 0) {
            width = 1;
            at = name.indexOf(':') >= 0 ? name.indexOf(':') : name.indexOf('=');
        }
        CodePointSet set;
        if (at < 0) {
            set = UnicodeProperties.byName(name);
            if (set == null) {
                in.defer("Unicode property not found", start, end);
            }
        } else {
            String property = name.substring(0, at);
            set = UnicodeProperties.byName(property, name.substring(at + width));
            if (set == null) {
                boolean known = UnicodeProperties.hasProperty(property);
                in.defer(known ? "Unicode property value not found" : "Unicode property not found", start, end);
            }
        }
        if (set == null) {
            return CodePointSet.EMPTY;
        }
        return in.has(RegexParser.CASE) ? in.foldCase(set) : set;
    }
}
