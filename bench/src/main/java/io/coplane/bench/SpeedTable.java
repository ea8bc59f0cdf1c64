package io.coplane.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Figures of the reference, ours beside them, and the Markdown table of both. */
final class SpeedTable {
    static final double REFERENCE_CALIBRATOR_MILLIS = 16.3;

    private SpeedTable() {}

    /** A request and the reference's best time. */
    record Line(int ordinal, String plan, long rows, double bestMillis) {}

    /** Best times of one piece of work by both clocks. */
    record Times(double wallMillis, double cpuMillis) {
        double by(boolean cpu) {
            return cpu ? cpuMillis : wallMillis;
        }

        Times mean(Times other) {
            return new Times((wallMillis + other.wallMillis) / 2, (cpuMillis + other.cpuMillis) / 2);
        }
    }

    /**
     * What we measured.
     *
     * @param times null where the answer differs
     * @param difference the first one, or empty
     * @param allocatedBytes heap bytes allocated by one execution
     */
    record Result(Line line, Times times, String difference, long allocatedBytes) {
        double speed(Times calibrator, boolean cpu) {
            return line.bestMillis / REFERENCE_CALIBRATOR_MILLIS / (times.by(cpu) / calibrator.by(cpu));
        }
    }

    static List<Line> read(Path file) throws IOException {
        List<Line> lines = new ArrayList<>();
        for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
            if (!line.startsWith("#") && !line.startsWith("ordinal")) {
                String[] fields = line.split("\t", -1);
                lines.add(new Line(
                        Integer.parseInt(fields[0]),
                        fields[1],
                        Long.parseLong(fields[2]),
                        Double.parseDouble(fields[4])));
            }
        }
        return lines;
    }

    static void print(List<Result> results, Times before, Times after, SpeedOptions options, PrintStream out) {
        boolean cpu = options.cpu();
        Times calibrator = before.mean(after);
        out.printf(
                Locale.ROOT,
                "`bin/bench speed %s%s`: calibrator %.2f ms before, %.2f ms after (CPU %.2f, %.2f; reference's machine %.1f)%s%n%n",
                options.source(),
                cpu ? " --cpu" : "",
                before.wallMillis,
                after.wallMillis,
                before.cpuMillis,
                after.cpuMillis,
                REFERENCE_CALIBRATOR_MILLIS,
                Math.abs(before.by(cpu) - after.by(cpu)) > 0.05 * Math.min(before.by(cpu), after.by(cpu))
                        ? ". **More than 5 % apart: run again.**"
                        : "");
        out.println("| request | plan | rows | theirs ms | ours ms | ours CPU ms | bytes a row | speed |");
        out.println("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
        List<Result> equal = results.stream()
                .filter(result -> result.times != null)
                .sorted(Comparator.comparingDouble(result -> result.speed(calibrator, cpu)))
                .toList();
        for (Result result : equal) {
            Line line = result.line;
            out.printf(
                    Locale.ROOT,
                    "| %d | %s | %d | %.3f | %.3f | %.3f | %.1f | %.2f |%n",
                    line.ordinal,
                    line.plan,
                    line.rows,
                    line.bestMillis,
                    result.times.wallMillis,
                    result.times.cpuMillis,
                    (double) result.allocatedBytes / line.rows,
                    result.speed(calibrator, cpu));
        }
        results.stream()
                .filter(result -> result.times == null)
                .forEach(result -> out.printf(
                        Locale.ROOT,
                        "| %d | %s | %d | %.3f | not equal: %s | | | |%n",
                        result.line.ordinal,
                        result.line.plan,
                        result.line.rows,
                        result.line.bestMillis,
                        result.difference));
        out.println();
        if (!equal.isEmpty()) {
            out.printf(
                    Locale.ROOT,
                    "%d of %d requests equal. Speed: minimum %.2f, median %.2f, maximum %.2f%n",
                    equal.size(),
                    results.size(),
                    equal.getFirst().speed(calibrator, cpu),
                    equal.get(equal.size() / 2).speed(calibrator, cpu),
                    equal.getLast().speed(calibrator, cpu));
        }
    }
}
