package io.coplane.bench;

import com.github.luben.zstd.ZstdInputStream;
import io.coplane.cop.Coprocessor;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.snapshot.Snapshot;
import io.coplane.snapshot.SnapshotBuilder;
import io.coplane.worker.replay.AnswerComparer;
import io.coplane.worker.replay.Corpus;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.Corpus.Recorded;
import io.coplane.worker.replay.CorpusLayout;
import io.coplane.worker.replay.Shape;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * Recorded requests of data set {@code analytic} against {@code testdata/reference-speed.tsv}, one thread, in one JVM: speed = (reference's best / its
 * calibrator) / (our best / our calibrator), so 2 is twice as fast. The snapshot is built once and scanned by each run: our figures include file
 * blocks, merge, MVCC and the encoded response; the reference's start from decoded rows in memory.
 *
 * <p>Arguments: {@code [mem|ln|mixed] [runs]}. Requests whose answer is not equal to the recorded one are left out and counted.
 */
public final class ReferenceSpeed {
    private static final double REFERENCE_CALIBRATOR_MILLIS = 16.3;
    private static final int WARM_UPS = 12;
    private static final int DEFAULT_RUNS = 9;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int MAX_RESPONSE_BYTES = 1 << 30;

    private ReferenceSpeed() {}

    /** Runs all lines and prints the table. */
    public static void main(String[] args) throws IOException {
        Shape shape = args.length > 0 ? Shape.valueOf(args[0].toUpperCase(Locale.ROOT)) : Shape.LN;
        int runs = args.length > 1 ? Integer.parseInt(args[1]) : DEFAULT_RUNS;
        Path testData = Path.of(System.getProperty("coplane.testdata"));
        DataSet dataSet = Corpus.open(testData).load("analytic");
        Path directory = Files.createTempDirectory("coplane-speed");
        MemoryLimiter limiter = new MemoryLimiter(Long.MAX_VALUE / 4);
        try (DirectoryStore store = new DirectoryStore(directory, "", 2)) {
            CorpusLayout layout = CorpusLayout.build(dataSet.versions(), shape, store, 1_000, OptionalInt.empty(), 1);
            SnapshotBuilder builder = new SnapshotBuilder(store, limiter, Runnable::run, new byte[0]);
            List<Line> lines = lines(testData.resolve("reference-speed.tsv"));
            warmUp(lines, dataSet, layout, builder);
            double before = calibrate(testData);
            List<Result> results = new ArrayList<>();
            for (Line line : lines) {
                results.add(measure(line, dataSet.requests().get(line.ordinal), layout, builder, runs));
            }
            double after = calibrate(testData);
            print(results, before, after, shape);
        } finally {
            delete(directory);
        }
    }

    private record Line(int ordinal, String plan, long rows, double bestMillis) {}

    /** @param bestMillis negative where the answer differs */
    private record Result(Line line, double bestMillis) {
        double speed(double calibratorMillis) {
            return line.bestMillis / REFERENCE_CALIBRATOR_MILLIS / (bestMillis / calibratorMillis);
        }
    }

    private static List<Line> lines(Path file) throws IOException {
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

    /** Every plan once over, so that profiles are as polluted as in a server. */
    private static void warmUp(List<Line> lines, DataSet dataSet, CorpusLayout layout, SnapshotBuilder builder) {
        for (int round = 0; round < WARM_UPS; round++) {
            for (Line line : lines) {
                Request request = dataSet.requests().get(line.ordinal).request();
                try (Snapshot snapshot = snapshot(request, layout, builder)) {
                    execute(request, snapshot);
                }
            }
        }
    }

    private static Result measure(
            Line line, Recorded recorded, CorpusLayout layout, SnapshotBuilder builder, int runs) {
        Request request = recorded.request();
        try (Snapshot snapshot = snapshot(request, layout, builder)) {
            Response answer = execute(request, snapshot);
            if (!new AnswerComparer().compare(recorded, answer).isEmpty()) {
                return new Result(line, -1);
            }
            long best = Long.MAX_VALUE;
            for (int run = 0; run < runs; run++) {
                long start = System.nanoTime();
                execute(request, snapshot);
                best = Math.min(best, System.nanoTime() - start);
            }
            return new Result(line, best / NANOS_PER_MILLI);
        }
    }

    private static Snapshot snapshot(Request request, CorpusLayout layout, SnapshotBuilder builder) {
        RemoteRequestBody parts = RemoteRequestBody.split(MemorySegment.ofArray(layout.body(request)));
        return builder.build(parts.memData(), parts.snapData(), DeadlineCheck.NONE)
                .join();
    }

    private static Response execute(Request request, Snapshot snapshot) {
        return Coprocessor.execute(request, snapshot, MAX_RESPONSE_BYTES, Clock.system(), DeadlineCheck.NONE);
    }

    /** Milliseconds to decompress {@code analytic.mvcc.zst} whole, best of nine: the calibrator of the reference's figures. */
    private static double calibrate(Path testData) throws IOException {
        byte[] packed = Files.readAllBytes(testData.resolve("corpus").resolve("analytic.mvcc.zst"));
        int bytes;
        try (InputStream in = new ZstdInputStream(new BufferedInputStream(
                Files.newInputStream(testData.resolve("corpus").resolve("analytic.mvcc.zst"))))) {
            bytes = in.readAllBytes().length;
        }
        byte[] target = new byte[bytes];
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 9; i++) {
            long start = System.nanoTime();
            long unpacked = com.github.luben.zstd.Zstd.decompressByteArray(target, 0, bytes, packed, 0, packed.length);
            best = Math.min(best, System.nanoTime() - start);
            if (unpacked != bytes) {
                throw new IllegalStateException("calibrator unpacked " + unpacked + " of " + bytes + " bytes");
            }
        }
        return best / NANOS_PER_MILLI;
    }

    private static void print(List<Result> results, double before, double after, Shape shape) {
        double calibrator = (before + after) / 2;
        System.out.printf(
                Locale.ROOT,
                "shape %s, calibrator %.2f ms before, %.2f ms after (reference's machine: %.1f ms)%s%n%n",
                shape,
                before,
                after,
                REFERENCE_CALIBRATOR_MILLIS,
                Math.abs(before - after) > 0.05 * before ? ": MORE THAN 5 % APART, RUN AGAIN" : "");
        System.out.printf(
                Locale.ROOT,
                "%7s %-36s %8s %10s %10s %7s%n",
                "ordinal",
                "plan",
                "rows",
                "theirs ms",
                "ours ms",
                "speed");
        List<Double> speeds = new ArrayList<>();
        int left = 0;
        for (Result result : results) {
            Line line = result.line;
            if (result.bestMillis < 0) {
                left++;
                System.out.printf(
                        Locale.ROOT,
                        "%7d %-36s %8d %10.3f   not equal%n",
                        line.ordinal,
                        line.plan,
                        line.rows,
                        line.bestMillis);
                continue;
            }
            double speed = result.speed(calibrator);
            speeds.add(speed);
            System.out.printf(
                    Locale.ROOT,
                    "%7d %-36s %8d %10.3f %10.3f %7.2f%n",
                    line.ordinal,
                    line.plan,
                    line.rows,
                    line.bestMillis,
                    result.bestMillis,
                    speed);
        }
        double[] sorted =
                speeds.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        System.out.printf(
                Locale.ROOT,
                "%n%d of %d requests equal; speed: minimum %.2f, median %.2f, maximum %.2f%n",
                sorted.length,
                sorted.length + left,
                sorted.length == 0 ? 0 : sorted[0],
                sorted.length == 0 ? 0 : sorted[sorted.length / 2],
                sorted.length == 0 ? 0 : Arrays.stream(sorted).max().getAsDouble());
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
