package io.coplane.bench;

import io.coplane.nativecache.DirectoryStore;
import io.coplane.proto.coprocessor.Response;
import io.coplane.worker.replay.AnswerComparer;
import io.coplane.worker.replay.Corpus;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.Corpus.Recorded;
import io.coplane.worker.replay.CorpusLayout;
import io.coplane.worker.replay.Shape;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * How long does a worker take from the start of its process, by {@code bin/coplane serve}, to its first right answer to a recorded request over HTTP? Prints each
 * run and the median; processor time says more where the machine is busy. Goal: 1.5 s.
 */
public final class StartTime {
    private static final int RUNS = 10;
    private static final String DATA_SET = "smoke";
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int MILLIS_PER_TICK = 10;

    private StartTime() {}

    /** Arguments: number of runs; none = 10. */
    public static void main(String[] args) throws IOException {
        int runs = args.length == 0 ? RUNS : Integer.parseInt(args[0]);
        Path folder = Files.createTempDirectory("coplane-start");
        try (DirectoryStore store = new DirectoryStore(folder, "", 1)) {
            DataSet dataSet =
                    Corpus.open(Path.of(System.getProperty("coplane.testdata"))).load(DATA_SET);
            CorpusLayout layout =
                    CorpusLayout.build(dataSet.versions(), Shape.MIXED, store, 1_000, OptionalInt.empty(), 1);
            Recorded recorded = dataSet.requests().stream()
                    .filter(request -> request.shape().equals("TableScan,Selection"))
                    .findFirst()
                    .orElseThrow();
            byte[] body = layout.body(recorded.request());
            once(folder, body, recorded); // the launcher may have to build or to prepare
            double[] millis = new double[runs];
            double[] cpuMillis = new double[runs];
            for (int i = 0; i < runs; i++) {
                double[] run = once(folder, body, recorded);
                millis[i] = run[0];
                cpuMillis[i] = run[1];
                System.out.printf(Locale.ROOT, "run %d: %.0f ms, processor time %.0f ms%n", i + 1, run[0], run[1]);
            }
            Arrays.sort(millis);
            Arrays.sort(cpuMillis);
            System.out.printf(
                    Locale.ROOT,
                    "start to first right answer: median %.0f ms, fastest %.0f ms, slowest %.0f ms; processor time, median %.0f ms%n",
                    millis[runs / 2],
                    millis[0],
                    millis[runs - 1],
                    cpuMillis[runs / 2]);
        } finally {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private static double[] once(Path folder, byte[] body, Recorded recorded) throws IOException {
        try (LaunchedWorker worker = LaunchedWorker.start(folder);
                Socket socket = worker.connect()) {
            byte[] answer = LaunchedWorker.exchange(socket, "/coprocessor", body);
            double millis = (System.nanoTime() - worker.startNanos()) / NANOS_PER_MILLI;
            double cpuMillis = worker.cpuTicks() * (double) MILLIS_PER_TICK;
            var differences = new AnswerComparer().compare(recorded, Response.parseFrom(answer));
            if (!differences.isEmpty()) {
                throw new IllegalStateException("the answer is wrong: " + differences);
            }
            return new double[] {millis, cpuMillis};
        }
    }
}
