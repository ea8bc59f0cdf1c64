package io.coplane.sst;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** Runs {@link SstBenchmark} and prints its figures beside the reference's and the codec's. */
public final class SstTable {
    private static final double REFERENCE_CALIBRATOR_MILLIS = 15.6;
    private static final List<String> COMPRESSIONS = List.of("NONE", "LZ4", "ZSTD");

    private SstTable() {}

    /** @param args of JMH: iterations and the like */
    @SuppressWarnings("forbidden")
    public static void main(String[] args) throws RunnerException, IOException, CommandLineOptionException {
        var options = new OptionsBuilder()
                .parent(new CommandLineOptions(args))
                .include(SstBenchmark.class.getName())
                .jvmArgsAppend("-Xms2g", "-Xmx2g")
                .build();
        var millis = new HashMap<String, Double>();
        for (RunResult result : new Runner(options).run()) {
            String name = result.getParams().getBenchmark();
            String compression = result.getParams().getParam("compression");
            millis.put(
                    name.substring(name.lastIndexOf('.') + 1) + " " + compression,
                    result.getPrimaryResult().getStatistics().getMin()); // as the reference's figures: the best
        }
        print(millis, reference(), System.out);
    }

    private static Map<String, Double> reference() throws IOException {
        Path file = Path.of(System.getProperty("coplane.testdata", "testdata"), "reference-storage-speed.tsv");
        var reference = new HashMap<String, Double>();
        for (String line : Files.readAllLines(file)) {
            String[] fields = line.split("\t", -1);
            if (!line.startsWith("#") && fields.length > 2 && !fields[0].equals("operation")) {
                String compression = fields[1].replace("zstd3", "zstd").toUpperCase(Locale.ROOT);
                reference.put(fields[0] + " " + compression, Double.valueOf(fields[2]));
            }
        }
        return reference;
    }

    private static void print(Map<String, Double> millis, Map<String, Double> reference, PrintStream to) {
        to.println("operation\tcompression\tms\tns_per_entry\tof_reference\tof_codec");
        for (String operation : List.of("build", "scan", "scanAgain", "get", "codec", "calibrator")) {
            for (String compression : COMPRESSIONS) {
                double ours = millis.get(operation + " " + compression);
                double calibrator = millis.get("calibrator " + compression);
                Double theirs = reference.get((operation.equals("scanAgain") ? "scan" : operation) + " " + compression);
                String ofReference = theirs == null
                        ? "-"
                        : String.format(
                                Locale.ROOT, "%.2f", ours / calibrator / (theirs / REFERENCE_CALIBRATOR_MILLIS));
                String ofCodec = compression.equals("NONE") || !operation.startsWith("scan")
                        ? "-"
                        : String.format(Locale.ROOT, "%.2f", ours / millis.get("codec " + compression));
                to.println(String.format(
                        Locale.ROOT,
                        "%s\t%s\t%.3f\t%.1f\t%s\t%s",
                        operation,
                        compression,
                        ours,
                        ours * 1e6 / SstData.ROWS,
                        ofReference,
                        ofCodec));
            }
        }
    }
}
