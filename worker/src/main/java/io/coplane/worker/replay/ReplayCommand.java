package io.coplane.worker.replay;

import io.coplane.engine.DataPlane;
import io.coplane.engine.DataPlaneConfig;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.store.StoreUrl;
import io.coplane.worker.replay.Corpus.DataSet;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code coplane replay}: recorded requests through a data plane in this process or a worker at a URL. */
@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        description =
                "Sends recorded TiDB requests and compares the answers with the reference's. Exit status 1 if any differs.")
public final class ReplayCommand implements Callable<Integer> {
    /** When the reference answered: 2026-11-29T12:00:00Z, in microseconds. */
    static final long RECORDED_WALL_MICROS = 1_795_953_600_000_000L;

    private static final long FIRST_FILE_ID = 1_000;
    private static final long FILE_IDS_PER_LAYOUT = 1_000;
    private static final int IO_THREADS = 4;

    @Option(names = "--data", description = "Folder of the recorded data sets. Default: the project's testdata.")
    private Path data;

    @Option(names = "--name", defaultValue = "*", description = "Data sets by glob. Default: all.")
    private String name;

    @Option(
            names = "--shape",
            defaultValue = "MIXED",
            converter = Shapes.Converter.class,
            completionCandidates = Shapes.Names.class,
            description = "How data is laid out: ${COMPLETION-CANDIDATES}. Default: mixed.")
    private Shapes shapes;

    @Option(names = "--url", description = "A running worker, for example http://127.0.0.1:19000; needs --store.")
    private URI url;

    @Option(
            names = "--store",
            paramLabel = "URL",
            description =
                    "Where files are laid and read: DIR, file:DIR?prefix=P or s3://BUCKET/PREFIX?endpoint=E&region=R."
                            + " With --url it must be the worker's own. Default: a temporary directory.")
    private String storeUrl;

    @Option(names = "--grpc", description = "Through gRPC, with a storage node of our own that hands out the data.")
    private boolean isGrpc;

    @Option(names = "--keyspace", description = "Lay data and ranges out under this keyspace.")
    private Integer keyspaceId;

    @Option(names = "--limit", defaultValue = "2147483647", description = "Most requests a data set.")
    private int limit;

    @Option(names = "--seed", defaultValue = "1", description = "Seed of the layout. Default: 1.")
    private long seed;

    @Option(names = "--differences", defaultValue = "10", description = "Most differences explained. Default: 10.")
    private int mostExamples;

    @Option(
            names = "--write-ratchet",
            description =
                    "Write what does not pass to this file; with all shapes, in the first one. Reasons that it gives stay.")
    private Path ratchet;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        Corpus corpus = Corpus.open(data == null ? projectData() : data);
        List<String> names = corpus.names(name);
        if (names.isEmpty()) {
            out.println("no data set is called " + name);
            return 1;
        }
        Map<Shape, ReplayReport> reports = new EnumMap<>(Shape.class);
        shapes.list().forEach(shape -> reports.put(shape, new ReplayReport()));
        if (url != null) {
            try (ObjectStore store =
                            StoreUrl.parse(storeUrl == null ? "." : storeUrl).open(System.getenv(), IO_THREADS);
                    HttpTarget target = new HttpTarget(url, store)) {
                replay(corpus, names, target, reports);
            }
        } else if (storeUrl != null) {
            try (ObjectStore store = StoreUrl.parse(storeUrl).open(System.getenv(), IO_THREADS)) {
                replayHere(corpus, names, reports, store);
            }
        } else {
            Path directory = Files.createTempDirectory("coplane-replay");
            try (ObjectStore store = new DirectoryStore(directory, "", IO_THREADS)) {
                replayHere(corpus, names, reports, store);
            } finally {
                delete(directory);
            }
        }
        ReplayReport first = reports.values().iterator().next();
        first.print(out, mostExamples);
        if (reports.size() > 1) {
            ShapeSummary.print(out, reports);
        }
        out.flush();
        if (ratchet != null) {
            Ratchet failing = Ratchet.of(first.failedOrdinals());
            if (Files.exists(ratchet)) {
                failing.withReasonsOf(Ratchet.read(ratchet));
            }
            failing.write(ratchet);
        }
        return reports.values().stream().allMatch(report -> report.notPassed() == 0) ? 0 : 1;
    }

    private void replayHere(Corpus corpus, List<String> names, Map<Shape, ReplayReport> reports, ObjectStore store)
            throws IOException, InterruptedException {
        int cores = Runtime.getRuntime().availableProcessors();
        DataPlaneConfig config = DataPlaneConfig.defaults(
                        cores, Runtime.getRuntime().maxMemory())
                .withMasterKey(CorpusLayout.MASTER_KEY);
        try (DataPlane plane = DataPlane.open(config, store, recordedClock(), new PrometheusRegistry());
                ReplayTarget target = isGrpc ? new GrpcTarget(plane, store) : new InProcessTarget(plane, store)) {
            replay(corpus, names, target, reports);
        }
    }

    private void replay(Corpus corpus, List<String> names, ReplayTarget target, Map<Shape, ReplayReport> reports)
            throws IOException, InterruptedException {
        OptionalInt keyspace = keyspaceId == null ? OptionalInt.empty() : OptionalInt.of(keyspaceId);
        int threads = Runtime.getRuntime().availableProcessors();
        Progress bar = new Progress(spec.commandLine().getErr(), names.size() * reports.size());
        long firstFileId = FIRST_FILE_ID;
        for (String dataSetName : names) {
            DataSet dataSet = corpus.load(dataSetName);
            for (Map.Entry<Shape, ReplayReport> each : reports.entrySet()) {
                Shape shape = each.getKey();
                String title = reports.size() == 1 ? dataSetName : dataSetName + " as " + shape.text();
                bar.start(title, Math.min(limit, dataSet.requests().size()));
                new Replay(target, shape, keyspace, seed, threads)
                        .run(dataSet, firstFileId, limit, each.getValue(), bar::done);
                firstFileId += FILE_IDS_PER_LAYOUT;
            }
        }
        bar.end();
    }

    /** A clock that stands where the recorded answers were made; only its durations run. */
    static Clock recordedClock() {
        Clock system = Clock.system();
        return new Clock() {
            @Override
            public long wallMicros() {
                return RECORDED_WALL_MICROS;
            }

            @Override
            public long nanoTime() {
                return system.nanoTime();
            }
        };
    }

    /** The project's test data: as a property says, or above the working directory. */
    static Path projectData() {
        String given = System.getProperty("coplane.testdata");
        if (given != null && !given.isEmpty()) {
            return Path.of(given);
        }
        for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
            if (Files.isDirectory(folder.resolve("testdata"))) {
                return folder.resolve("testdata");
            }
        }
        return Path.of("testdata");
    }

    static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
