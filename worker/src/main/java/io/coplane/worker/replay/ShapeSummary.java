package io.coplane.worker.replay;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What the shapes have in common and what not: the same data must give the same outcome in each. */
final class ShapeSummary {
    private static final int MOST_NAMED = 50;

    private ShapeSummary() {}

    /** Prints a line a shape, then the requests that pass in some shapes only. */
    static void print(PrintWriter out, Map<Shape, ReplayReport> reports) {
        out.printf(Locale.ROOT, "%n%-12s %8s %8s %12s%n", "shape", "equal", "differ", "unsupported");
        reports.forEach((shape, report) -> out.printf(
                Locale.ROOT,
                "%-12s %8d %8d %12d%n",
                shape.text(),
                report.all() - report.notPassed(),
                report.differing(),
                report.unsupported()));
        Map<String, List<String>> failing = new TreeMap<>();
        reports.forEach((shape, report) -> report.failedOrdinals()
                .forEach((dataSet, ordinals) -> ordinals.forEach(
                        ordinal -> failing.computeIfAbsent(dataSet + " " + ordinal, id -> new ArrayList<>())
                                .add(shape.text()))));
        List<String> uneven = failing.entrySet().stream()
                .filter(request -> request.getValue().size() < reports.size())
                .map(request -> "  " + request.getKey() + " fails only as " + String.join(", ", request.getValue()))
                .toList();
        out.println();
        out.println(
                uneven.isEmpty()
                        ? "Every request has the same outcome in all shapes."
                        : "Outcome depends on the shape:");
        uneven.stream().limit(MOST_NAMED).forEach(out::println);
        if (uneven.size() > MOST_NAMED) {
            out.println("  and " + (uneven.size() - MOST_NAMED) + " more");
        }
    }
}
