package io.coplane.snapshot;

import io.coplane.sst.SstBenchmark;
import io.coplane.sst.SstData;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs {@link SnapshotScanBenchmark} and prints its figures beside the reference's scan of one table and its point get, measured with the same
 * calibrator. The reference's figures have no merge, no visibility and no copy of rows.
 */
public final class SnapshotTable {
    private static final double REFERENCE_CALIBRATOR_MILLIS = 15.6;

    private SnapshotTable() {}

    /** @param args of JMH: iterations and the like */
    @SuppressWarnings("forbidden")
    public static void main(String[] args) throws RunnerException, IOException, CommandLineOptionException {
        var options = new OptionsBuilder()
                .parent(new CommandLineOptions(args))
                .include(SnapshotScanBenchmark.class.getName() + ".(scanForward|scanReverse|merge|points)")
                .include(SstBenchmark.class.getName() + ".calibrator")
                .param("compression", "NONE", "LZ4", "ZSTD")
                .jvmArgsAppend("-Xms2g", "-Xmx2g")
                .build();
        var millis = new TreeMap<String, Double>();
        for (RunResult result : new Runner(options).run()) {
            String name = result.getParams().getBenchmark();
            String shape = result.getParams().getParam("shape");
            millis.put(
                    name.substring(name.lastIndexOf('.') + 1) + "\t" + (shape == null ? "-" : shape) + "\t"
                            + result.getParams().getParam("compression"),
                    result.getPrimaryResult().getStatistics().getMin()); // as the reference's figures: the best
        }
        print(millis, System.out);
    }

    private static void print(Map<String, Double> millis, PrintStream to) throws IOException {
        to.println("operation\tshape\tcompression\tms\tns_per_row\tof_reference");
        for (Map.Entry<String, Double> entry : millis.entrySet()) {
            String[] fields = entry.getKey().split("\t", -1);
            double theirs = reference(
                    switch (fields[0]) {
                        case "points" -> "get";
                        case "calibrator" -> "none";
                        default -> "scan";
                    },
                    fields[2]);
            if (Double.isNaN(theirs)) {
                continue;
            }
            double calibrator = millis.get("calibrator\t-\t" + fields[2]);
            to.println(String.format(
                    Locale.ROOT,
                    "%s\t%.3f\t%.1f\t%.2f",
                    entry.getKey(),
                    entry.getValue(),
                    entry.getValue() * 1e6 / SstData.ROWS,
                    entry.getValue() / calibrator / (theirs / REFERENCE_CALIBRATOR_MILLIS)));
        }
    }

    private static double reference(String operation, String compression) throws IOException {
        Path file = Path.of(System.getProperty("coplane.testdata", "testdata"), "reference-storage-speed.tsv");
        for (String line : Files.readAllLines(file)) {
            String[] fields = line.split("\t", -1);
            if (fields[0].equals(operation)
                    && fields[1]
                            .replace("zstd3", "zstd")
                            .toUpperCase(Locale.ROOT)
                            .equals(compression)) {
                return Double.parseDouble(fields[2]);
            }
        }
        return Double.NaN; // the calibrator; gets with compression, which nobody measures
    }
}
