package io.coplane.bench;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdInputStream;
import com.sun.management.ThreadMXBean;
import io.coplane.bench.SpeedTable.Line;
import io.coplane.bench.SpeedTable.Result;
import io.coplane.bench.SpeedTable.Times;
import io.coplane.cop.Coprocessor;
import io.coplane.cop.DecodedRows;
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
import io.coplane.worker.replay.Difference;
import io.coplane.worker.replay.Shape;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * Recorded requests of data set {@code analytic} against {@code testdata/reference-speed.tsv}, one thread, in one JVM: speed = (reference's best / its
 * calibrator) / (our best / our calibrator), so 2 is twice as fast.
 *
 * <p>{@code rows} starts where the reference's figures start, from a sorted vector of decoded rows in memory. {@code ln}, {@code mem} and {@code mixed}
 * start from a snapshot that was built once: our figures then include file blocks, merge and MVCC. All end with the encoded response. Arguments:
 * {@link SpeedOptions}. Every line's answer is compared with the recorded one first; one that differs is not timed.
 */
public final class ReferenceSpeed {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int CALIBRATIONS = 9;
    private static final int MAX_RESPONSE_BYTES = 1 << 30;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final SpeedOptions options;
    private final CorpusLayout layout;
    private final SnapshotBuilder builder;
    private final AnswerComparer comparer;
    private final Map<Long, DecodedRows> decodedRows = new HashMap<>();

    private ReferenceSpeed(SpeedOptions options, DataSet dataSet, DirectoryStore store) {
        this.options = options;
        Shape shape = options.layout().orElse(Shape.LN);
        layout = CorpusLayout.build(dataSet.versions(), shape, store, 1_000, OptionalInt.empty(), 1);
        builder = new SnapshotBuilder(store, new MemoryLimiter(Long.MAX_VALUE / 4), Runnable::run, new byte[0]);
        comparer = new AnswerComparer(dataSet.versions(), layout.prefix(), this::once);
    }

    /** Runs the lines and prints the table. */
    public static void main(String[] args) throws IOException {
        SpeedOptions options = SpeedOptions.parse(args);
        Path testData = Path.of(System.getProperty("coplane.testdata"));
        DataSet dataSet = Corpus.open(testData).load("analytic");
        Path directory = Files.createTempDirectory("coplane-speed");
        try (DirectoryStore store = new DirectoryStore(directory, "", 2)) {
            ReferenceSpeed speed = new ReferenceSpeed(options, dataSet, store);
            List<Line> lines = SpeedTable.read(testData.resolve("reference-speed.tsv"));
            speed.warmUp(lines, dataSet);
            Times before = calibrate(testData);
            List<Result> results = new ArrayList<>();
            for (Line line : lines) {
                if (options.measures(line)) {
                    results.add(speed.measure(line, dataSet.requests().get(line.ordinal())));
                }
            }
            SpeedTable.print(results, before, calibrate(testData), options, System.out);
        } finally {
            delete(directory);
        }
    }

    /** Every plan over and over, so that profiles are as polluted as in a server. */
    private void warmUp(List<Line> lines, DataSet dataSet) {
        for (int round = 0; round < options.warmUps(); round++) {
            for (Line line : lines) {
                once(dataSet.requests().get(line.ordinal()).request());
            }
        }
    }

    private Response once(Request request) {
        try (Snapshot snapshot = snapshot(request)) {
            return execute(request, snapshot);
        }
    }

    private Result measure(Line line, Recorded recorded) {
        Request request = recorded.request();
        try (Snapshot snapshot = snapshot(request)) {
            List<Difference> differences = comparer.compare(recorded, execute(request, snapshot));
            if (!differences.isEmpty()) {
                return new Result(line, null, differences.getFirst().toString(), 0);
            }
            long wall = Long.MAX_VALUE;
            long cpu = Long.MAX_VALUE;
            long allocated = Long.MAX_VALUE;
            for (int run = 0; run < options.runs(); run++) {
                long startBytes = THREADS.getCurrentThreadAllocatedBytes();
                long startCpu = THREADS.getCurrentThreadCpuTime();
                long start = System.nanoTime();
                execute(request, snapshot);
                wall = Math.min(wall, System.nanoTime() - start);
                cpu = Math.min(cpu, THREADS.getCurrentThreadCpuTime() - startCpu);
                allocated = Math.min(allocated, THREADS.getCurrentThreadAllocatedBytes() - startBytes);
            }
            return new Result(line, new Times(wall / NANOS_PER_MILLI, cpu / NANOS_PER_MILLI), "", allocated);
        }
    }

    private Snapshot snapshot(Request request) {
        RemoteRequestBody parts = RemoteRequestBody.split(MemorySegment.ofArray(layout.body(request)));
        return builder.build(parts.memData(), parts.snapData(), DeadlineCheck.NONE)
                .join();
    }

    private Response execute(Request request, Snapshot snapshot) {
        if (options.layout().isEmpty()) {
            return decodedRows
                    .computeIfAbsent(request.getStartTs(), readTs -> DecodedRows.of(snapshot, readTs))
                    .execute(request, snapshot.guard(), MAX_RESPONSE_BYTES);
        }
        return Coprocessor.execute(request, snapshot, MAX_RESPONSE_BYTES, Clock.system(), DeadlineCheck.NONE);
    }

    /** Decompresses {@code analytic.mvcc.zst} whole, best of nine: the calibrator of the reference's figures. */
    private static Times calibrate(Path testData) throws IOException {
        byte[] packed = Files.readAllBytes(testData.resolve("corpus").resolve("analytic.mvcc.zst"));
        int bytes;
        try (InputStream in = new ZstdInputStream(new ByteArrayInputStream(packed))) {
            bytes = in.readAllBytes().length;
        }
        byte[] target = new byte[bytes];
        long wall = Long.MAX_VALUE;
        long cpu = Long.MAX_VALUE;
        for (int i = 0; i < CALIBRATIONS; i++) {
            long startCpu = THREADS.getCurrentThreadCpuTime();
            long start = System.nanoTime();
            long unpacked = Zstd.decompressByteArray(target, 0, bytes, packed, 0, packed.length);
            wall = Math.min(wall, System.nanoTime() - start);
            cpu = Math.min(cpu, THREADS.getCurrentThreadCpuTime() - startCpu);
            if (unpacked != bytes) {
                throw new IllegalStateException("calibrator unpacked " + unpacked + " of " + bytes + " bytes");
            }
        }
        return new Times(wall / NANOS_PER_MILLI, cpu / NANOS_PER_MILLI);
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
