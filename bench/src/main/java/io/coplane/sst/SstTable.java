package io.coplane.sst;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs {@link SstBenchmark} and {@link RocksBenchmark} and prints one Markdown table: {@code bin/bench storage}. All ratios are speeds, so more is better: of
 * the reference's figures (each by its own calibrator), of the codec alone, of RocksDB, the last two in the same run.
 */
public final class SstTable {
    private static final double REFERENCE_CALIBRATOR_MILLIS = 15.6;
    private static final List<String> COMPRESSIONS = List.of("NONE", "LZ4", "ZSTD");
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    /** Ours, then RocksDB's of the same. */
    private static final Map<String, String> PEERS =
            Map.of("write", "rocksWrite", "scan", "rocksScan", "scanCached", "rocksScanCached", "get", "rocksGet");

    private SstTable() {}

    /** @param args of JMH: iterations and the like */
    @SuppressWarnings("forbidden")
    public static void main(String[] args) throws RunnerException, IOException, CommandLineOptionException {
        var options = new OptionsBuilder()
                .parent(new CommandLineOptions(args))
                .include(SstBenchmark.class.getName())
                .include(RocksBenchmark.class.getName())
                .addProfiler(GCProfiler.class)
                .jvmArgsAppend("-Xms2g", "-Xmx2g")
                .build();
        var millis = new HashMap<String, Double>();
        var allocated = new HashMap<String, Double>();
        for (RunResult result : new Runner(options).run()) {
            String[] names = result.getParams().getBenchmark().split("\\.", -1);
            String name = (names[names.length - 2].equals("RocksBenchmark") ? "rocks/" : "") + names[names.length - 1]
                    + " " + result.getParams().getParam("compression");
            millis.put(name, result.getPrimaryResult().getStatistics().getMin()); // as the reference's: the best
            Result<?> bytes = result.getSecondaryResults().get(ALLOCATED);
            allocated.put(name, bytes == null ? 0 : bytes.getScore());
        }
        print(millis, allocated, reference(), System.out);
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

    private static void print(
            Map<String, Double> millis, Map<String, Double> allocated, Map<String, Double> reference, PrintStream to) {
        to.println(
                "| operation | compression | ms | ns an entry | heap bytes an entry | of the reference | of the codec "
                        + "| of RocksDB |");
        to.println("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
        for (String operation :
                List.of("build", "decode", "decodeAgain", "scan", "scanAgain", "get", "codec", "calibrator")) {
            for (String compression : COMPRESSIONS) {
                double ours = millis.get(operation + " " + compression);
                double calibrator = millis.get("calibrator " + compression);
                Double theirs = reference.get((operation.equals("scanAgain") ? "scan" : operation) + " " + compression);
                boolean decodes =
                        (operation.startsWith("scan") || operation.startsWith("decode")) && !compression.equals("NONE");
                line(
                        to,
                        operation,
                        compression,
                        ours,
                        allocated.get(operation + " " + compression),
                        theirs == null ? "-" : ratio(theirs / REFERENCE_CALIBRATOR_MILLIS, ours / calibrator),
                        decodes ? ratio(millis.get("codec " + compression), ours) : "-",
                        "-");
            }
        }
        for (String operation : List.of("write", "scan", "scanCached", "get")) {
            for (String compression : COMPRESSIONS) {
                double ours = millis.get("rocks/" + operation + " " + compression);
                double theirs = millis.get("rocks/" + PEERS.get(operation) + " " + compression);
                line(
                        to,
                        operation + ", RocksDB's entries",
                        compression,
                        ours,
                        allocated.get("rocks/" + operation + " " + compression),
                        "-",
                        "-",
                        ratio(theirs, ours));
            }
        }
    }

    private static String ratio(double theirs, double ours) {
        return String.format(Locale.ROOT, "%.2f", theirs / ours);
    }

    private static void line(
            PrintStream to,
            String operation,
            String compression,
            double ours,
            double allocated,
            String ofReference,
            String ofCodec,
            String ofRocks) {
        to.println(String.format(
                Locale.ROOT,
                "| %s | %s | %.3f | %.1f | %.2f | %s | %s | %s |",
                operation,
                compression.toLowerCase(Locale.ROOT),
                ours,
                ours * 1e6 / SstData.ROWS,
                allocated / SstData.ROWS,
                ofReference,
                ofCodec,
                ofRocks));
    }
}
