package io.coplane.cop.expr.regexp;

import io.coplane.cop.expr.regexp.Node.LookKind;
import io.coplane.types.EvalException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Parses a pattern (expressions.md 9.2). Syntax errors are thrown at once; errors of the second kind (unknown properties, bytes that are no text)
 * only if the syntax is right, as the reference finds them in a second pass.
 */
final class RegexParser {
    static final int CASE = 1;
    static final int MULTI_LINE = 2;
    static final int DOT_ALL = 4;
    static final int SWAP_GREED = 8;
    static final int NO_UNICODE = 16;
    static final int VERBOSE = 32;
    static final int CRLF = 64;

    private static final int NEST_LIMIT = 250;

    /** One open group, and the branches and parts read in it so far. */
    private static final class Frame {
        final int openAt;
        final int groupIndex; // 0: does not capture
        final int outerFlags;
        final List<Node> branches = new ArrayList<>();
        List<Node> parts = new ArrayList<>();
        boolean repeatable; // the last thing read can be repeated

        Frame(int openAt, int groupIndex, int outerFlags) {
            this.openAt = openAt;
            this.groupIndex = groupIndex;
            this.outerFlags = outerFlags;
        }

        Node close() {
            Node last =
                    parts.size() == 1 ? parts.getFirst() : parts.isEmpty() ? new Node.Empty() : new Node.Concat(parts);
            if (branches.isEmpty()) {
                return last;
            }
            branches.add(last);
            return new Node.Alternation(branches);
        }
    }

    private final int[] pattern;
    private final List<Frame> stack = new ArrayList<>();
    private final Map<String, RegexError.Span> names = new HashMap<>();
    private final RegexClassParser classes = new RegexClassParser(this);
    private int at;
    private int flags;
    private int groups;
    private EvalException deferred;

    RegexParser(int[] pattern) {
        this.pattern = pattern;
    }

    /** Groups that capture. */
    int groups() {
        return groups;
    }

    Node parse() {
        stack.add(new Frame(0, 0, 0));
        for (bumpSpace(); !atEnd(); bumpSpace()) {
            step();
        }
        if (stack.size() > 1) {
            int open = stack.getLast().openAt;
            throw error("unclosed group", open, open + 1);
        }
        Node node = stack.getFirst().close();
        checkDepth(node, 0);
        if (deferred != null) {
            throw deferred;
        }
        return node;
    }

    private void step() {
        Frame frame = stack.getLast();
        switch (peek()) {
            case '(' -> openGroup();
            case ')' -> {
                if (stack.size() == 1) {
                    throw error("unopened group", at, at + 1);
                }
                at++;
                Node body = frame.close();
                stack.removeLast();
                flags = frame.outerFlags;
                push(frame.groupIndex > 0 ? new Node.Group(body, frame.groupIndex) : body);
            }
            case '|' -> {
                at++;
                Node branch = frame.parts.size() == 1
                        ? frame.parts.getFirst()
                        : frame.parts.isEmpty() ? new Node.Empty() : new Node.Concat(frame.parts);
                frame.branches.add(branch);
                frame.parts = new ArrayList<>();
                frame.repeatable = false;
            }
            case '[' -> push(new Node.Chars(classes.bracketed()));
            case '?' -> repeat(0, 1);
            case '*' -> repeat(0, Node.UNBOUNDED);
            case '+' -> repeat(1, Node.UNBOUNDED);
            case '{' -> countedRepeat();
            case '.' -> {
                at++;
                push(new Node.Chars(dot(at - 1)));
            }
            case '^' -> {
                at++;
                push(new Node.Look(
                        has(MULTI_LINE) ? has(CRLF) ? LookKind.START_CRLF : LookKind.START_LINE : LookKind.START_TEXT));
            }
            case '$' -> {
                at++;
                push(new Node.Look(
                        has(MULTI_LINE) ? has(CRLF) ? LookKind.END_CRLF : LookKind.END_LINE : LookKind.END_TEXT));
            }
            case '\\' -> escape();
            default -> push(literal(pattern[at++]));
        }
    }

    private CodePointSet dot(int start) {
        if (has(NO_UNICODE)) {
            defer("pattern can match invalid UTF-8", start, at);
        }
        if (has(DOT_ALL)) {
            return CodePointSet.EMPTY.negate();
        }
        return (has(CRLF) ? CodePointSet.of('\n', '\n', '\r', '\r') : CodePointSet.of('\n', '\n')).negate();
    }

    private void push(Node node) {
        Frame frame = stack.getLast();
        frame.parts.add(node);
        frame.repeatable = true;
    }

    private Node literal(int codePoint) {
        CodePointSet one = CodePointSet.of(codePoint, codePoint);
        return new Node.Chars(has(CASE) ? foldCase(one) : one);
    }

    /** Closes a set over case; without Unicode only over ASCII letters. */
    CodePointSet foldCase(CodePointSet set) {
        if (!has(NO_UNICODE)) {
            return UnicodeProperties.closeOverCase(set);
        }
        CodePointSet.Builder builder = new CodePointSet.Builder();
        builder.addAll(set);
        for (int c = 'a'; c <= 'z'; c++) {
            if (set.contains(c) || set.contains(c - 32)) {
                builder.add(c, c);
                builder.add(c - 32, c - 32);
            }
        }
        return builder.build();
    }

    // ---- repetition

    private Node takeRepeatable() {
        Frame frame = stack.getLast();
        if (!frame.repeatable) {
            throw error("repetition operator missing expression", at, at);
        }
        return frame.parts.removeLast();
    }

    private void repeat(int min, int max) {
        Node body = takeRepeatable();
        at++;
        pushRepeat(body, min, max);
    }

    private void pushRepeat(Node body, int min, int max) {
        boolean greedy = true;
        if (!atEnd() && peek() == '?') {
            greedy = false;
            at++;
        }
        push(new Node.Repeat(body, min, max, greedy != has(SWAP_GREED)));
    }

    private void countedRepeat() {
        Node body = takeRepeatable();
        int start = at;
        String unclosed = "unclosed counted repetition";
        bumpOrFail(unclosed, start);
        int min = decimal();
        int max = min;
        requireMore(unclosed, start);
        if (peek() == ',') {
            bumpOrFail(unclosed, start);
            max = peek() == '}' ? Node.UNBOUNDED : decimal();
        }
        if (atEnd() || peek() != '}') {
            throw error(unclosed, start, at);
        }
        at++;
        bumpSpace();
        boolean greedy = true;
        if (!atEnd() && peek() == '?') {
            greedy = false;
            at++;
        }
        if (min > max) {
            throw error("invalid repetition count range, the start must be <= the end", start, at);
        }
        push(new Node.Repeat(body, min, max, greedy != has(SWAP_GREED)));
    }

    private int decimal() {
        while (!atEnd() && UnicodeProperties.isWhiteSpace(peek())) {
            at++;
        }
        int start = at;
        long value = 0;
        while (!atEnd() && peek() >= '0' && peek() <= '9') {
            value = Math.min(value * 10 + peek() - '0', 1L << 40);
            at++;
            bumpSpace();
        }
        int end = at;
        while (!atEnd() && UnicodeProperties.isWhiteSpace(peek())) {
            at++;
        }
        if (start == end) {
            throw error("repetition quantifier expects a valid decimal", start, end);
        }
        if (value > 0xffffffffL) {
            throw error("decimal literal invalid", start, end);
        }
        return (int) Math.min(value, Node.UNBOUNDED - 1);
    }

    // ---- groups

    private void openGroup() {
        int open = at++;
        bumpSpace();
        for (String look : new String[] {"?=", "?!", "?<=", "?<!"}) {
            if (skip(look)) {
                throw error("look-around, including look-ahead and look-behind, is not supported", open, at);
            }
        }
        int inner = at;
        int outer = flags;
        if (skip("?P<") || skip("?<")) {
            int index = ++groups;
            groupName();
            stack.add(new Frame(open, index, outer));
        } else if (skip("?")) {
            requireMoreAt("unclosed group", open, open + 1);
            boolean any = parseFlags();
            int closing = pattern[at++];
            if (closing == ':') {
                stack.add(new Frame(open, 0, outer));
                return;
            }
            if (!any) {
                throw error("repetition operator missing expression", inner, inner);
            }
            stack.getLast().repeatable = false;
        } else {
            stack.add(new Frame(open, ++groups, outer));
        }
    }

    private void groupName() {
        String unexpectedEnd = "unclosed capture group name";
        requireMoreAt(unexpectedEnd, at, at);
        int start = at;
        while (!atEnd() && peek() != '>') {
            int c = peek();
            boolean fits = c == '_'
                    || Character.isAlphabetic(c)
                    || at > start && (c == '.' || c == '[' || c == ']' || Character.isLetterOrDigit(c));
            if (!fits) {
                throw error("invalid capture group character", at, at + 1);
            }
            at++;
        }
        int end = at;
        requireMoreAt(unexpectedEnd, at, at);
        at++;
        if (start == end) {
            throw error("empty capture group name", start, start);
        }
        String name = new String(pattern, start, end - start);
        RegexError.Span earlier = names.putIfAbsent(name, new RegexError.Span(start, end));
        if (earlier != null) {
            throw RegexError.syntax(pattern, "duplicate capture group name", new RegexError.Span(start, end), earlier);
        }
    }

    /** @return false if there is no flag */
    private boolean parseFlags() {
        Map<Integer, RegexError.Span> seen = new HashMap<>();
        boolean negated = false;
        int dangling = -1;
        boolean any = false;
        while (peek() != ':' && peek() != ')') {
            int c = peek();
            RegexError.Span place = new RegexError.Span(at, at + 1);
            int bit = flag(c);
            if (c != '-' && bit == 0) {
                throw error("unrecognized flag", at, at + 1);
            }
            RegexError.Span earlier = seen.putIfAbsent(c, place);
            if (earlier != null) {
                throw RegexError.syntax(
                        pattern, c == '-' ? "flag negation operator repeated" : "duplicate flag", place, earlier);
            }
            any = true;
            if (c == '-') {
                negated = true;
                dangling = at;
            } else {
                dangling = -1;
                boolean on = negated == (c == 'u');
                flags = on ? flags | bit : flags & ~bit;
            }
            at++;
            requireMoreAt("expected flag but got end of regex", at, at);
        }
        if (dangling >= 0) {
            throw error("dangling flag negation operator", dangling, dangling + 1);
        }
        return any;
    }

    private static int flag(int c) {
        return switch (c) {
            case 'i' -> CASE;
            case 'm' -> MULTI_LINE;
            case 's' -> DOT_ALL;
            case 'U' -> SWAP_GREED;
            case 'u' -> NO_UNICODE;
            case 'R' -> CRLF;
            case 'x' -> VERBOSE;
            default -> 0;
        };
    }

    // ---- escapes

    private void escape() {
        LookKind look = lookEscape();
        if (look != null) {
            push(new Node.Look(look));
            return;
        }
        RegexClassParser.Item item = classes.escape();
        push(item.isClass() ? new Node.Chars(item.set()) : literal(item.codePoint()));
    }

    /** An escape that is a condition, or null; then nothing is consumed. */
    private LookKind lookEscape() {
        if (at + 1 >= pattern.length) {
            return null;
        }
        int start = at;
        boolean ascii = has(NO_UNICODE);
        LookKind kind = switch (pattern[at + 1]) {
            case 'A' -> LookKind.START_TEXT;
            case 'z' -> LookKind.END_TEXT;
            case 'B' -> ascii ? LookKind.ASCII_NOT_WORD : LookKind.NOT_WORD;
            case '<' -> ascii ? LookKind.ASCII_WORD_START : LookKind.WORD_START;
            case '>' -> ascii ? LookKind.ASCII_WORD_END : LookKind.WORD_END;
            case 'b' -> ascii ? LookKind.ASCII_WORD : LookKind.WORD;
            default -> null;
        };
        if (kind == null) {
            return null;
        }
        at += 2;
        boolean plainWord = pattern[start + 1] == 'b';
        if (plainWord && !atEnd() && peek() == '{') {
            LookKind special = specialBoundary(start);
            return special == null ? kind : special;
        }
        return kind;
    }

    private LookKind specialBoundary(int boundaryStart) {
        int start = at++;
        bumpSpace();
        requireMoreAt(
                "found either the beginning of a special word boundary or a bounded repetition on a \\b with an opening"
                        + " brace, but no closing brace",
                boundaryStart,
                at);
        int contents = at;
        if (!isBoundaryName(peek())) {
            at = start;
            return null;
        }
        StringBuilder name = new StringBuilder();
        while (!atEnd() && isBoundaryName(peek())) {
            name.appendCodePoint(pattern[at++]);
            bumpSpace();
        }
        if (atEnd() || peek() != '}') {
            throw error(
                    "special word boundary assertion is either unclosed or contains an invalid character", start, at);
        }
        int end = at++;
        boolean ascii = has(NO_UNICODE);
        return switch (name.toString()) {
            case "start" -> ascii ? LookKind.ASCII_WORD_START : LookKind.WORD_START;
            case "end" -> ascii ? LookKind.ASCII_WORD_END : LookKind.WORD_END;
            case "start-half" -> ascii ? LookKind.ASCII_WORD_START_HALF : LookKind.WORD_START_HALF;
            case "end-half" -> ascii ? LookKind.ASCII_WORD_END_HALF : LookKind.WORD_END_HALF;
            default ->
                throw error(
                        "unrecognized special word boundary assertion, valid choices are: start, end, start-half or"
                                + " end-half",
                        contents,
                        end);
        };
    }

    private static boolean isBoundaryName(int c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-';
    }

    // ---- what the class parser shares

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    boolean atEnd() {
        return at >= pattern.length;
    }

    int peek() {
        return pattern[at];
    }

    /** The character {@code ahead} characters on, -1 behind the end. */
    int peekAt(int ahead) {
        return at + ahead < pattern.length ? pattern[at + ahead] : -1;
    }

    int position() {
        return at;
    }

    void position(int position) {
        at = position;
    }

    /** Moves on by one, then over what the verbose mode ignores; fails at the end of the pattern. */
    void bumpOrFail(String message, int start) {
        at++;
        bumpSpace();
        requireMore(message, start);
    }

    void requireMore(String message, int start) {
        if (atEnd()) {
            throw error(message, start, at);
        }
    }

    void requireMoreAt(String message, int start, int end) {
        if (atEnd()) {
            throw error(message, start, end);
        }
    }

    /** In verbose mode skips white space and comments. */
    void bumpSpace() {
        while (has(VERBOSE) && !atEnd()) {
            if (UnicodeProperties.isWhiteSpace(peek())) {
                at++;
            } else if (peek() == '#') {
                while (!atEnd() && peek() != '\n') {
                    at++;
                }
            } else {
                return;
            }
        }
    }

    private boolean skip(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (peekAt(i) != text.charAt(i)) {
                return false;
            }
        }
        at += text.length();
        return true;
    }

    String text(int start, int end) {
        return new String(pattern, start, end - start);
    }

    EvalException error(String message, int start, int end) {
        return RegexError.syntax(pattern, message, new RegexError.Span(start, end));
    }

    /** Keeps the first error of the second pass. */
    void defer(String message, int start, int end) {
        if (deferred == null) {
            deferred = error(message, start, end);
        }
    }

    private void checkDepth(Node node, int depth) {
        if (depth > NEST_LIMIT) {
            throw error("exceed the maximum number of nested parentheses/brackets (" + NEST_LIMIT + ")", 0, 1);
        }
        switch (node) {
            case Node.Repeat repeat -> checkDepth(repeat.body(), depth + 1);
            case Node.Group group -> checkDepth(group.body(), depth + 1);
            case Node.Concat concat -> concat.parts().forEach(part -> checkDepth(part, depth + 1));
            case Node.Alternation alternation ->
                alternation.branches().forEach(branch -> checkDepth(branch, depth + 1));
            case Node.Empty ignored -> {}
            case Node.Chars ignored -> {}
            case Node.Look ignored -> {}
        }
    }
}
