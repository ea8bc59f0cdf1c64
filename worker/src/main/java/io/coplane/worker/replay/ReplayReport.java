package io.coplane.worker.replay;

import io.coplane.worker.replay.Corpus.Recorded;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What a replay found. One thread. */
public final class ReplayReport {
    private static final int KEPT_FAILURES_PER_GROUP = 2;

    /** Outcomes of a group of requests. */
    private static final class Tally {
        private int passed;
        private int failed;
        private int unsupported;

        private int notPassed() {
            return failed + unsupported;
        }

        private int all() {
            return passed + failed + unsupported;
        }
    }

    /** A request that did not pass, with what differs. */
    public record Failure(Recorded recorded, List<Difference> differences) {
        boolean isUnsupported() {
            String ours = differences.getFirst().ours().toLowerCase(Locale.ROOT);
            String what = differences.getFirst().what();
            return what.endsWith("other_error")
                    && (ours.contains("not supported") || ours.contains("unsupported") || ours.contains("not built"));
        }
    }

    private final Map<String, Tally> byDataSet = new TreeMap<>();
    private final Map<String, Tally> byShape = new TreeMap<>();
    private final Map<String, Tally> bySignature = new TreeMap<>();
    private final Map<String, List<Failure>> examples = new TreeMap<>();
    private final Map<String, List<Integer>> failedOrdinals = new TreeMap<>();
    private final Tally total = new Tally();

    void passed(Recorded recorded) {
        groups(recorded).forEach(tally -> tally.passed++);
    }

    void failed(Failure failure) {
        Recorded recorded = failure.recorded();
        boolean unsupported = failure.isUnsupported();
        for (Tally tally : groups(recorded)) {
            if (unsupported) {
                tally.unsupported++;
            } else {
                tally.failed++;
            }
        }
        failedOrdinals
                .computeIfAbsent(recorded.dataSet(), name -> new ArrayList<>())
                .add(recorded.ordinal());
        List<Failure> kept = examples.computeIfAbsent(group(failure), key -> new ArrayList<>());
        if (kept.size() < KEPT_FAILURES_PER_GROUP) {
            kept.add(failure);
        }
    }

    /** Ordinals that did not pass, by data set. */
    public Map<String, List<Integer>> failedOrdinals() {
        return failedOrdinals;
    }

    /** Requests that did not pass. */
    public int notPassed() {
        return total.notPassed();
    }

    /** Requests whose answer differs; those answered as unsupported are not among them. */
    public int differing() {
        return total.failed;
    }

    /** Requests answered as unsupported. */
    int unsupported() {
        return total.unsupported;
    }

    /** Requests sent. */
    public int all() {
        return total.all();
    }

    /**
     * Prints the tables and the first differences.
     *
     * @param mostExamples differences explained
     */
    public void print(PrintWriter out, int mostExamples) {
        table(out, "data set", byDataSet, false);
        table(out, "executors", byShape, true);
        table(out, "signature", bySignature, true);
        out.printf(
                Locale.ROOT,
                "%n%d requests: %d equal, %d differ, %d unsupported%n",
                all(),
                total.passed,
                total.failed,
                total.unsupported);
        int shown = 0;
        for (List<Failure> failures : examples.values()) {
            for (Failure failure : failures) {
                if (shown++ < mostExamples) {
                    explain(out, failure);
                }
            }
        }
    }

    /** Prints what differs in one request. */
    static void explain(PrintWriter out, Failure failure) {
        Recorded recorded = failure.recorded();
        out.printf(Locale.ROOT, "%n  %s: %s %s%n", recorded.id(), recorded.shape(), recorded.signatures());
        failure.differences().stream().limit(4).forEach(difference -> out.println("    " + difference));
    }

    private List<Tally> groups(Recorded recorded) {
        List<Tally> tallies = new ArrayList<>();
        tallies.add(total);
        tallies.add(byDataSet.computeIfAbsent(recorded.dataSet(), name -> new Tally()));
        tallies.add(byShape.computeIfAbsent(recorded.shape(), name -> new Tally()));
        for (String signature : recorded.signatures().stream().distinct().toList()) {
            tallies.add(bySignature.computeIfAbsent(signature, name -> new Tally()));
        }
        return tallies;
    }

    /** Failures that look alike are explained once or twice. */
    private static String group(Failure failure) {
        Difference first = failure.differences().getFirst();
        String alike = failure.isUnsupported()
                ? first.ours()
                : first.what() + failure.recorded().signatures();
        StringBuilder key = new StringBuilder();
        alike.chars().filter(c -> c < '0' || c > '9').forEach(c -> key.append((char) c));
        return key.toString();
    }

    private static void table(PrintWriter out, String title, Map<String, Tally> tallies, boolean onlyFailing) {
        out.printf(Locale.ROOT, "%n%-60s %8s %8s %12s%n", title, "equal", "differ", "unsupported");
        tallies.entrySet().stream()
                .filter(entry -> !onlyFailing || entry.getValue().notPassed() > 0)
                .sorted(Comparator.comparing((Map.Entry<String, Tally> entry) ->
                        onlyFailing ? -entry.getValue().notPassed() : 0))
                .forEach(entry -> out.printf(
                        Locale.ROOT,
                        "%-60s %8d %8d %12d%n",
                        entry.getKey(),
                        entry.getValue().passed,
                        entry.getValue().failed,
                        entry.getValue().unsupported));
    }
}
