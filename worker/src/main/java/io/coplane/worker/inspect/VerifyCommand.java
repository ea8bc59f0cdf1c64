package io.coplane.worker.inspect;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.ObjectListing;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.store.StoreUrl;
import io.coplane.worker.inspect.FileVerifier.Source;
import io.coplane.worker.inspect.FileVerifier.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code coplane verify}: whether files are sound. Several at one time, told in order. */
@Command(
        name = "verify",
        mixinStandardHelpOptions = true,
        description =
                "Checks files of the row store: checksums, order, filters, counts, bounds, references between parts."
                        + " Reports the first bad offset of each. Exit status 1 if any is bad.")
public final class VerifyCommand implements Callable<Integer> {
    private static final List<String> SUFFIXES = List.of(".sst", ".blob", ".txn", ".sst.meta", ".blob.meta");
    private static final Set<FileKind> KINDS = EnumSet.of(FileKind.SST, FileKind.BLOB, FileKind.TXN_CHUNK);
    private static final int LISTED_AT_ONCE = 1000;

    /** Verdicts that wait for a slow file before them, for each thread. */
    private static final int AHEAD = 4;

    /** What decoded blocks of all files may take together; a file that needs more is a bad one. */
    private static final long MOST_BYTES = 1L << 30;

    @Parameters(
            paramLabel = "FILE|URL|DIR",
            arity = "1..*",
            description =
                    "Files or directories with all below them; objects as s3://BUCKET/PREFIX/xx/ID.sst?endpoint=..,"
                            + " or s3://BUCKET/PREFIX?endpoint=.. with all below it.")
    private List<String> places;

    @Mixin
    private InspectOptions options = new InspectOptions();

    @Option(
            names = "--problems",
            paramLabel = "N",
            defaultValue = "5",
            description = "Most problems shown a file. Default: 5.")
    private int shown;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "0",
            description = "Files at one time, 1 .. 64; objects are copied to temporary files meanwhile."
                    + " Default: one a core, at most 4.")
    private int threads;

    @Spec
    private CommandSpec spec;

    private final Map<String, String> environment;
    private final Queue<Future<Verdict>> pending = new ArrayDeque<>();
    private ExecutorService pool;
    private FileVerifier verifier;
    private Lines lines;
    private int used;
    private long files;
    private long bad;

    /** Made by picocli. */
    public VerifyCommand() {
        this(System.getenv());
    }

    /** @param environment credentials of stores */
    VerifyCommand(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() {
        if (threads < 0 || threads > 64) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "--threads is out of bounds: value=" + threads);
        }
        used = threads > 0 ? threads : Math.min(4, Runtime.getRuntime().availableProcessors());
        lines = new Lines(spec.commandLine().getOut(), options.isJson());
        verifier =
                new FileVerifier(options, options.key(environment), Math.max(1, shown), new MemoryLimiter(MOST_BYTES));
        pool = Executors.newFixedThreadPool(used, task -> new Thread(task, "coplane-verify"));
        try {
            for (String place : places) {
                walk(place);
            }
            drain(0);
        } finally {
            pool.shutdownNow();
        }
        if (files == 0) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT, "no file of the row store there: " + places + " suffixes=" + SUFFIXES);
        }
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("files", files);
        values.put("bad", bad);
        lines.print(0, "summary", values);
        lines.flush();
        return bad == 0 ? 0 : 1;
    }

    private void walk(String place) {
        boolean isUrl = place.contains("://");
        if (isUrl && ObjectKeys.parse(OpenedFile.withoutParameters(place)).isEmpty()) {
            walkStore(place);
        } else if (!isUrl && Files.isDirectory(Path.of(place))) {
            for (Path file : files(Path.of(place))) {
                verify(file.toString(), () -> OpenedFile.open(file.toString(), environment));
            }
        } else {
            verify(OpenedFile.withoutParameters(place), () -> OpenedFile.open(place, environment));
        }
    }

    /** A page of the listing at a time: how many objects there are does not matter for memory. */
    private void walkStore(String url) {
        String base = OpenedFile.withoutParameters(url).replaceAll("/+$", "");
        String folder = base.indexOf('/', base.indexOf("://") + 3) < 0 ? base + "/" + ObjectKeys.prefix("") : base;
        try (ObjectStore store = StoreUrl.parse(url).open(environment, used)) {
            Optional<String> after = Optional.of("");
            while (after.isPresent()) {
                ObjectListing listing = list(store, after.get());
                for (ObjectListing.Entry entry : listing.entries()) {
                    String name = folder + "/" + entry.key();
                    ObjectKeys.parse(entry.key())
                            .filter(file -> KINDS.contains(file.kind()))
                            .ifPresent(file -> verify(name, () -> OpenedFile.open(store, file, name)));
                }
                after = listing.next();
            }
            drain(0); // while the store is open
        }
    }

    private static ObjectListing list(ObjectStore store, String after) {
        try {
            return store.list(after, LISTED_AT_ONCE).join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof CoplaneException typed ? typed : e;
        }
    }

    private static List<Path> files(Path directory) {
        try (Stream<Path> all = Files.walk(directory)) {
            return new ArrayList<>(all.filter(VerifyCommand::isRowFile).sorted().toList());
        } catch (IOException e) {
            throw new CoplaneException(
                    ErrorCode.STORE_UNAVAILABLE, "can't list a directory: " + directory + " cause=" + e, e);
        }
    }

    private static boolean isRowFile(Path file) {
        return Files.isRegularFile(file) && SUFFIXES.stream().anyMatch(file.toString()::endsWith);
    }

    private void verify(String name, Source source) {
        files++;
        pending.add(pool.submit(() -> verifier.verify(name, source)));
        drain(AHEAD * used);
    }

    /** Prints verdicts, in the order in which the files were found, until so many are left. */
    private void drain(int left) {
        while (pending.size() > left) {
            Verdict verdict = await(pending.remove());
            verdict.print(lines);
            bad += verdict.isGood() ? 0 : 1;
        }
    }

    private static Verdict await(Future<Verdict> verdict) {
        try {
            return verdict.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException bug
                    ? bug
                    : new CoplaneException(ErrorCode.INVARIANT_BROKEN, "verifying failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CoplaneException(ErrorCode.SHUTTING_DOWN, "interrupted while verifying", e);
        }
    }
}
