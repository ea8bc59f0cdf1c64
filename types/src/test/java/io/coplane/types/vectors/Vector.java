package io.coplane.types.vectors;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.testing.TestData;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * One line of expression-vectors.tsv.
 *
 * @param args literals in order
 */
public record Vector(int line, String operation, List<String> args, String context, String expect) {
    /** The lines of a group with one of the operations; fails if there is none. */
    public static Stream<Vector> of(String group, String... operations) {
        List<Vector> found = new ArrayList<>();
        List<String> wanted = List.of(operations);
        int number = 0;
        for (String line : lines()) {
            number++;
            String[] fields = line.split("\t", -1);
            if (fields[0].equals(group) && wanted.contains(fields[1])) {
                found.add(new Vector(number, fields[1], split(fields[2]), fields[3], fields[4]));
            }
        }
        assertThat(found).as("vectors of %s %s", group, wanted).isNotEmpty();
        return found.stream();
    }

    /** Value of {@code key=} in the context, or null. */
    public String setting(String key) {
        for (String part : context.split("[;,]", -1)) {
            String trimmed = part.strip();
            if (trimmed.startsWith(key + "=")) {
                return trimmed.substring(key.length() + 1);
            }
        }
        return null;
    }

    /** Bytes of a {@code B:"..."} or {@code X:hex} literal; what follows the literal is not looked at. */
    public static byte[] bytes(String literal) {
        if (literal.startsWith("X:")) {
            String hex = literal.substring(2);
            byte[] bytes = new byte[hex.length() / 2];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
            }
            return bytes;
        }
        return text(literal).getBytes(StandardCharsets.UTF_8);
    }

    /** The text between the first pair of double quotes, escapes resolved. */
    public static String text(String literal) {
        StringBuilder text = new StringBuilder();
        for (int i = literal.indexOf('"') + 1; literal.charAt(i) != '"'; i++) {
            char c = literal.charAt(i);
            if (c != '\\') {
                text.append(c);
                continue;
            }
            i++;
            switch (literal.charAt(i)) {
                case 'n' -> text.append('\n');
                case 'r' -> text.append('\r');
                case 't' -> text.append('\t');
                case 'b' -> text.append('\b');
                case 'f' -> text.append('\f');
                case 'u' -> {
                    text.append((char) Integer.parseInt(literal.substring(i + 1, i + 5), 16));
                    i += 4;
                }
                default -> text.append(literal.charAt(i));
            }
        }
        return text.toString();
    }

    private static List<String> lines() {
        try {
            return Files.readAllLines(TestData.expressionVectors(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> split(String args) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        boolean quoted = false;
        int start = 0;
        for (int i = 0; i < args.length(); i++) {
            char c = args.charAt(i);
            if (c == '\\' && quoted) {
                i++;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (!quoted && (c == '(' || c == '[' || c == '{')) {
                depth++;
            } else if (!quoted && (c == ')' || c == ']' || c == '}')) {
                depth--;
            } else if (!quoted && depth == 0 && args.startsWith(", ", i)) {
                parts.add(args.substring(start, i));
                start = i + 2;
            }
        }
        if (!args.isEmpty()) {
            parts.add(args.substring(start));
        }
        return parts;
    }

    @Override
    public String toString() {
        return line + " " + operation + " " + args + " " + context + " -> " + expect;
    }
}
