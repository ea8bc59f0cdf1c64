package io.coplane.worker.replay;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.worker.Logs;
import io.coplane.worker.Worker;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.coplane.worker.config.WorkerConfig;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.Corpus.Recorded;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code coplane demo}: a worker of its own on a temporary store answers recorded requests over HTTP. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        description =
                "Starts a worker in a temporary directory, sends it requests that a real TiDB once sent, and compares every answer with"
                        + " the reference's. Exit status 0 only if all are equal.")
public final class DemoCommand implements Callable<Integer> {
    private static final String ALL_OF = "smoke";
    private static final String SOME_OF = "analytic";
    private static final int MOST_DIFFERENCES = 5;
    private static final long SMOKE_FILES = 1_000;
    private static final long ANALYTIC_FILES = 2_000;
    private static final long SEED = 1;
    private static final long DAG = 103;
    private static final double NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    @Option(names = "--data", description = "Folder of the recorded data sets. Default: the project's testdata.")
    private Path data;

    @Spec
    private CommandSpec spec;

    private PrintWriter out;
    private int asked;
    private int equal;
    private long askedNanos;
    private long scannedRows;

    /** Made by picocli. */
    public DemoCommand() {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        Logs.configure("warn", "");
        out = spec.commandLine().getOut();
        Corpus corpus = Corpus.open(data == null ? ReplayCommand.projectData() : data);
        Path folder = Files.createTempDirectory("coplane-demo");
        try {
            return run(corpus, folder);
        } finally {
            ReplayCommand.delete(folder);
        }
    }

    private int run(Corpus corpus, Path folder) throws IOException, InterruptedException {
        WorkerConfig config = ConfigLoader.load(
                Optional.empty(),
                Map.of(
                        "addr",
                        "127.0.0.1:0",
                        "cop-addr",
                        "",
                        "dfs.backend",
                        "local",
                        "dfs.local-dir",
                        folder.toString(),
                        "coplane.fixed-clock-micros",
                        ReplayCommand.RECORDED_WALL_MICROS),
                Map.of());
        long held;
        try (Worker worker = Worker.start(config, Machine.read(Map.of()));
                DirectoryStore store = new DirectoryStore(folder, "", 2);
                HttpTarget target = new HttpTarget(
                        URI.create("http://127.0.0.1:" + worker.address().getPort()), store)) {
            out.println("A worker listens on 127.0.0.1:" + worker.address().getPort() + "; its files are in " + folder
                    + ".");
            DataSet smoke = load(corpus, ALL_OF);
            ask(smoke, smoke.requests(), Shape.MIXED, SMOKE_FILES, target);
            DataSet analytic = load(corpus, SOME_OF);
            ask(analytic, oneOfEachShape(analytic), Shape.MIXED, ANALYTIC_FILES, target);
            held = worker.memory().usedBytes() - worker.cachedBytes();
        }
        out.println();
        out.printf(
                Locale.ROOT,
                "%d requests, %d equal, %d different. %,d rows scanned, %.1f ms a request. Memory still held by requests: %d bytes.%n",
                asked,
                equal,
                asked - equal,
                scannedRows,
                askedNanos / NANOS_PER_MILLI / Math.max(1, asked),
                held);
        return equal == asked && asked > 0 && held == 0 ? 0 : 1;
    }

    private DataSet load(Corpus corpus, String name) throws IOException {
        DataSet dataSet = corpus.load(name);
        out.println();
        out.printf(
                Locale.ROOT,
                "Data set %s: %,d versions of rows and index entries, laid out as memtable, L0 files and levels 1 to 3.%n",
                name,
                dataSet.versions().count());
        return dataSet;
    }

    /** The first request of each executor shape. */
    private static List<Recorded> oneOfEachShape(DataSet dataSet) {
        Set<String> seen = new HashSet<>();
        return dataSet.requests().stream()
                .filter(recorded -> seen.add(recorded.shape()))
                .toList();
    }

    private void ask(DataSet dataSet, List<Recorded> requests, Shape shape, long firstFileId, HttpTarget target)
            throws IOException, InterruptedException {
        CorpusLayout layout =
                CorpusLayout.build(dataSet.versions(), shape, target.store(), firstFileId, OptionalInt.empty(), SEED);
        AnswerComparer comparer =
                new AnswerComparer(dataSet.versions(), layout.prefix(), request -> send(target, layout.body(request)));
        for (Recorded recorded : requests) {
            byte[] body = layout.body(recorded.request());
            long start = System.nanoTime();
            Response answer = target.send(body);
            long nanos = System.nanoTime() - start;
            show(recorded, answer, nanos, comparer.compare(recorded, answer));
        }
    }

    private static Response send(HttpTarget target, byte[] body) {
        try {
            return target.send(body);
        } catch (IOException e) {
            throw new CoplaneException(ErrorCode.STORE_UNAVAILABLE, "no answer to a request of the comparer: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CoplaneException(ErrorCode.SHUTTING_DOWN, "interrupted while comparing", e);
        }
    }

    private void show(Recorded recorded, Response answer, long nanos, List<Difference> differences) {
        asked++;
        askedNanos += nanos;
        long scanned = answer.getExecDetailsV2().getScanDetailV2().getProcessedVersions();
        scannedRows += scanned;
        out.println();
        out.printf(Locale.ROOT, "%s: %s%n", recorded.id(), PlanText.ranges(recorded.request()));
        out.print(PlanText.of(recorded.request()).tree("    "));
        out.printf(
                Locale.ROOT,
                "    %,d rows scanned, %s returned, %.1f ms: %s%n",
                scanned,
                returned(recorded, answer),
                nanos / NANOS_PER_MILLI,
                differences.isEmpty() ? "equal" : "DIFFERENT");
        if (differences.isEmpty()) {
            equal++;
        }
        for (Difference difference : differences.subList(0, Math.min(MOST_DIFFERENCES, differences.size()))) {
            out.println("      " + difference);
        }
    }

    /** Rows of an answer; of one without rows, its bytes. */
    private static String returned(Recorded recorded, Response answer) {
        if (!answer.getOtherError().isEmpty()) {
            return "an error";
        }
        if (recorded.request().getTp() != DAG) {
            return answer.getData().size() + " bytes";
        }
        try {
            SelectResponse select = Messages.parse(SelectResponse.parser(), answer.getData());
            DAGRequest plan =
                    Messages.parse(DAGRequest.parser(), recorded.request().getData());
            PlanShape shape = PlanShape.of(plan, recorded.request().getPagingSize());
            int rows = RowTable.decode(
                            select.getChunksList(), shape.outputs(), select.getEncodeType() != EncodeType.TypeDefault)
                    .rows()
                    .size();
            return String.format(Locale.ROOT, "%,d", rows);
        } catch (CoplaneException e) {
            return "an answer that can't be read (" + e.getMessage() + ")";
        }
    }
}
