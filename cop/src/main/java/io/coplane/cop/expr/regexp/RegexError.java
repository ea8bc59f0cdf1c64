package io.coplane.cop.expr.regexp;

import io.coplane.types.EvalException;
import java.util.ArrayList;
import java.util.List;

/** Texts of pattern errors (expressions.md 9.2): the debug form of the reference's engine, with the pattern and carets under the place. */
final class RegexError {
    private static final int REGEXP = 1139;
    private static final String DIVIDER = "~".repeat(79);

    private RegexError() {}

    /** A place in the pattern, in characters. */
    record Span(int start, int end) {}

    /** Any pattern error. */
    static EvalException invalid(String debugText) {
        return EvalException.coded(REGEXP, "Invalid regexp pattern: " + debugText);
    }

    /**
     * A syntax error.
     *
     * @param spans the place, then places that it refers to
     */
    static EvalException syntax(int[] pattern, String message, Span... spans) {
        StringBuilder text = new StringBuilder("Syntax(\n").append(DIVIDER).append("\nregex parse error:\n");
        boolean multiLine = false;
        for (int c : pattern) {
            multiLine |= c == '\n';
        }
        if (multiLine) {
            text.append(DIVIDER).append('\n');
        }
        List<int[]> lines = lines(pattern);
        int width = lines.size() <= 1 ? 0 : Integer.toString(lines.size()).length();
        List<String> notes = new ArrayList<>();
        int lineStart = 0;
        for (int i = 0; i < lines.size(); i++) {
            int[] line = lines.get(i);
            if (width > 0) {
                String number = Integer.toString(i + 1);
                text.append(" ".repeat(width - number.length())).append(number).append(": ");
            } else {
                text.append("    ");
            }
            text.append(new String(line, 0, line.length)).append('\n');
            carets(text, width == 0 ? 4 : 2 + width, lineStart, line.length, spans);
            lineStart += line.length + 1;
        }
        if (multiLine) {
            text.append(DIVIDER).append('\n');
            for (Span span : spans) {
                if (lineOf(pattern, span.start()) != lineOf(pattern, span.end())) {
                    notes.add("on line " + (lineOf(pattern, span.start()) + 1) + " (column "
                            + (columnOf(pattern, span.start()) + 1) + ") through line "
                            + (lineOf(pattern, span.end()) + 1) + " (column " + columnOf(pattern, span.end()) + ")");
                }
            }
            if (!notes.isEmpty()) {
                text.append(String.join("\n", notes)).append('\n');
            }
        }
        text.append("error: ").append(message).append('\n').append(DIVIDER).append("\n)");
        return invalid(text.toString());
    }

    private static void carets(StringBuilder text, int padding, int lineStart, int lineLength, Span[] spans) {
        StringBuilder notes = new StringBuilder();
        int column = 0;
        for (Span span : sorted(spans)) {
            int start = span.start() - lineStart;
            int end = span.end() - lineStart;
            if (start < 0 || start > lineLength || end > lineLength) {
                continue;
            }
            for (; column < start; column++) {
                notes.append(' ');
            }
            for (int i = 0; i < Math.max(1, end - start); i++) {
                notes.append('^');
                column++;
            }
        }
        if (!notes.isEmpty()) {
            text.append(" ".repeat(padding)).append(notes).append('\n');
        }
    }

    private static Span[] sorted(Span[] spans) {
        Span[] copy = spans.clone();
        java.util.Arrays.sort(copy, java.util.Comparator.comparingInt(Span::start));
        return copy;
    }

    private static List<int[]> lines(int[] pattern) {
        List<int[]> lines = new ArrayList<>();
        int start = 0;
        for (int i = 0; i <= pattern.length; i++) {
            if (i == pattern.length || pattern[i] == '\n') {
                lines.add(java.util.Arrays.copyOfRange(pattern, start, i));
                start = i + 1;
            }
        }
        return lines;
    }

    private static int lineOf(int[] pattern, int at) {
        int line = 0;
        for (int i = 0; i < at && i < pattern.length; i++) {
            line += pattern[i] == '\n' ? 1 : 0;
        }
        return line;
    }

    private static int columnOf(int[] pattern, int at) {
        int column = 0;
        for (int i = 0; i < at && i < pattern.length; i++) {
            column = pattern[i] == '\n' ? 0 : column + 1;
        }
        return column;
    }
}
