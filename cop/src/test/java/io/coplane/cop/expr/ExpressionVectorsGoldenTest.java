package io.coplane.cop.expr;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.testing.TestData;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Every vector of a scalar function, against the reference's answer. Functions that do not pass yet stand in {@code pending-signatures.txt};
 * one that is listed and passes, and one that is not and fails, both fail the build.
 */
class ExpressionVectorsGoldenTest {
    private static final String PENDING = "pending-signatures.txt";
    private static final Set<String> GROUPS = Set.of(
            "arithmetic",
            "op",
            "compare",
            "in",
            "control",
            "math",
            "string",
            "time",
            "cast",
            "json",
            "like",
            "regexp",
            "misc",
            "encryption",
            "vector");

    @Test
    void everySignatureThatIsNotPendingAnswersAsTheReference() throws IOException {
        Map<String, List<String>> failures = new TreeMap<>();
        Map<String, Integer> counts = new LinkedHashMap<>();
        int passed = 0;
        for (VectorCase vector : vectors()) {
            counts.merge(vector.sig(), 1, Integer::sum);
            String failure = vector.run();
            if (failure == null) {
                passed++;
            } else {
                failures.computeIfAbsent(vector.sig(), sig -> new ArrayList<>()).add(failure);
            }
        }
        report(failures, counts, passed);

        Set<String> pending = pending();
        Set<String> broken = new TreeSet<>(failures.keySet());
        broken.removeAll(pending);
        Set<String> fixed = new TreeSet<>(pending);
        fixed.removeAll(failures.keySet());
        assertThat(broken).as("fail but are not listed as pending").isEmpty();
        assertThat(fixed).as("pass and are still listed as pending").isEmpty();
    }

    private static List<VectorCase> vectors() throws IOException {
        List<VectorCase> all = new ArrayList<>();
        int number = 0;
        for (String line : Files.readAllLines(TestData.expressionVectors())) {
            number++;
            String[] fields = line.split("\t", -1);
            if (!line.startsWith("#") && GROUPS.contains(fields[0])) {
                all.add(VectorCase.parse(number, fields));
            }
        }
        assertThat(all).hasSizeGreaterThan(5_000);
        return all;
    }

    private static Set<String> pending() throws IOException {
        try (var in = ExpressionVectorsGoldenTest.class.getResourceAsStream(PENDING)) {
            Set<String> names = new TreeSet<>(List.of(new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .strip()
                    .split("\\s+")));
            names.remove("");
            return names;
        }
    }

    /** What fails and why, for whoever works on it. */
    private static void report(Map<String, List<String>> failures, Map<String, Integer> counts, int passed) {
        StringBuilder text = new StringBuilder();
        int total = counts.values().stream().mapToInt(Integer::intValue).sum();
        text.append("passed ").append(passed).append(" of ").append(total).append('\n');
        failures.forEach((sig, list) -> {
            text.append(sig)
                    .append(' ')
                    .append(list.size())
                    .append(" of ")
                    .append(counts.get(sig))
                    .append('\n');
            list.forEach(failure -> text.append("    ").append(failure).append('\n'));
        });
        try {
            Files.writeString(Path.of("target", "expression-vectors.txt"), text.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
