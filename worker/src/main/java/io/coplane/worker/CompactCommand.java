package io.coplane.worker;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.coplane.compaction.Admission;
import io.coplane.compaction.CompactionConfig;
import io.coplane.compaction.CompactionJournals;
import io.coplane.compaction.CompactionJournals.Orphan;
import io.coplane.compaction.CompactionPlan;
import io.coplane.compaction.CompactionProgress;
import io.coplane.compaction.CompactionRequest;
import io.coplane.compaction.CompactionResult;
import io.coplane.compaction.Compactor;
import io.coplane.compaction.JobJournal;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.store.StoreUrl;
import io.coplane.sst.ChecksumType;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code coplane compact}: runs one request of a store, as {@code /compact} would; or says what it would do, or what others left behind. */
@Command(
        name = "compact",
        mixinStandardHelpOptions = true,
        description =
                "Runs a compaction request on the files of an object store and prints what changes in the shard. Deletes"
                        + " nothing. File ids beyond those of the request are made from the clock.",
        exitCodeListHeading = "Exit status:%n",
        exitCodeList = {
            " 0:done",
            " 1:failed: the request, the configuration, or a bug",
            " 2:wrong usage",
            " 3:failed for now: memory, store, a compaction of the same request. Try again",
            " 4:a file is missing or broken"
        })
public final class CompactCommand implements Callable<Integer> {
    private static final int STORE_THREADS = 4;
    private static final int FAILED = 1;
    private static final int TRY_AGAIN = 3;
    private static final int BROKEN_FILE = 4;
    private static final int CODES_A_CLASS = 1000;

    /** Low bits of a timestamp of the placement driver: a counter within its millisecond. */
    private static final int LOGICAL_BITS = 18;

    @Option(names = "--request", description = "JSON body, as a store posts it.")
    private Path request;

    @Option(names = "--store", description = "Directory, file:DIR?prefix=P or s3://BUCKET/PREFIX.")
    private String store;

    @Option(names = "--plan", description = "Only says what the inputs are and what it would take.")
    private boolean isPlan;

    @Option(
            names = "--orphans",
            description = "Only lists outputs of requests in --journal-dir whose answer nobody got.")
    private boolean isOrphans;

    @Option(names = "--json", description = "Of --orphans: one JSON object a line.")
    private boolean isJson;

    @Option(
            names = "--journal-dir",
            paramLabel = "DIR",
            description = "Notes progress here: the same request goes on behind its last resume point after a crash.")
    private Path journalDir;

    @Option(names = "--result", description = "Writes the ChangeSet to this file.")
    private Path result;

    @Option(names = "--master-key", description = "64 hex digits; needed if the shard is encrypted.")
    private String masterKey = "";

    @Option(names = "--checksum", description = "none, crc32c or crc32 (default).")
    private ChecksumType checksum = ChecksumType.CRC32;

    @Option(names = "--zstd-level", description = "1 .. 22; default ${DEFAULT-VALUE}.")
    private int zstdLevel = 5;

    @Option(names = "--memory", description = "Most bytes to hold; default ${DEFAULT-VALUE}.")
    private long memoryBytes = 1L << 30;

    @Option(
            names = {"-q", "--quiet"},
            description = "Shows no progress.")
    private boolean isQuiet;

    @Spec
    private CommandSpec spec;

    private final Map<String, String> environment;

    /** Made by picocli. */
    public CompactCommand() {
        this(System.getenv());
    }

    /** @param environment credentials of stores */
    CompactCommand(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws IOException {
        Logs.configure("warn", "");
        if (isOrphans ? journalDir == null : request == null || store == null) {
            throw new ParameterException(
                    spec.commandLine(),
                    isOrphans ? "--orphans needs --journal-dir" : "--request and --store are needed");
        }
        try {
            if (isOrphans) {
                printOrphans();
            } else {
                work();
            }
            return 0;
        } catch (CoplaneException e) {
            spec.commandLine()
                    .getErr()
                    .println("coplane: " + e.getMessage() + " (" + e.code() + " "
                            + e.code().number() + ")");
            return switch (e.code().number() / CODES_A_CLASS) {
                case 2 -> TRY_AGAIN;
                case 3 -> BROKEN_FILE;
                default -> FAILED;
            };
        }
    }

    private void work() throws IOException {
        byte[] body;
        try {
            body = Files.readAllBytes(request);
        } catch (NoSuchFileException e) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "no such file: --request " + request, e);
        }
        CompactionRequest parsed = CompactionRequest.parse(body);
        if (Admission.of(parsed) != Admission.EXECUTE) {
            throw new CoplaneException(
                    ErrorCode.UNSUPPORTED,
                    Admission.INCOMPATIBLE + ": version=" + parsed.compactorVersion() + " variant="
                            + parsed.type().variant());
        }
        byte[] key;
        try {
            key = HexFormat.of().parseHex(masterKey);
        } catch (IllegalArgumentException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "--master-key is not hex", e);
        }
        try (ObjectStore files = StoreUrl.parse(store).open(environment, STORE_THREADS);
                MemoryGuard guard = new MemoryLimiter(memoryBytes).acquire(admission(parsed))) {
            if (isPlan) {
                CompactPlanPrinter.print(
                        CompactionPlan.of(parsed, files, key, guard),
                        parsed,
                        guard.admittedBytes(),
                        spec.commandLine().getOut());
            } else {
                run(parsed, CompactionJournals.identity(MemorySegment.ofArray(body)), files, key, guard);
            }
        }
    }

    private void run(CompactionRequest parsed, String identity, ObjectStore files, byte[] key, MemoryGuard guard)
            throws IOException {
        Clock clock = Clock.system();
        var nextId = new AtomicLong(clock.wallMillis() << LOGICAL_BITS);
        long start = clock.nanoTime();
        var progress = new CompactionProgress();
        try (CompactionJournals journals = journalDir == null
                        ? null
                        : CompactionJournals.open(journalDir, clock, CompactionJournals.Limits.DEFAULT);
                JobJournal journal = journals == null ? JobJournal.off() : journals.begin(identity)) {
            CompactionResult done;
            try (CompactProgressBar _ = isQuiet
                    ? null
                    : CompactProgressBar.start(progress, spec.commandLine().getErr(), clock)) {
                done = new Compactor(new CompactionConfig(checksum, zstdLevel), files, key)
                        .compact(
                                parsed,
                                count -> {
                                    long first = nextId.getAndAdd(count);
                                    return LongStream.range(first, first + count)
                                            .toArray();
                                },
                                guard,
                                () -> false,
                                progress,
                                journal);
            }
            print(done, clock.nanoTime() - start);
            if (result != null) {
                Files.write(result, done.changeSet().toByteArray());
            }
            journal.delivered(clock.wallMillis());
        }
    }

    /** As a worker admits, but within the command's own bound. */
    private long admission(CompactionRequest parsed) {
        return Admission.admissionBytes(parsed.inputBytes(), memoryBytes, memoryBytes);
    }

    private void print(CompactionResult done, long nanos) {
        PrintWriter out = spec.commandLine().getOut();
        out.print(done.changeSet());
        double seconds = (double) nanos / TimeUnit.SECONDS.toNanos(1);
        out.println(String.format(
                Locale.ROOT,
                "# %d versions read, %d written, %d files, %d bytes, %.2f s",
                done.inputEntries(),
                done.outputEntries(),
                done.outputFiles(),
                done.outputBytes(),
                seconds));
        if (done.resumedFiles() > 0) {
            out.println(String.format(
                    Locale.ROOT,
                    "# of these %d versions and %d files by earlier attempts",
                    done.resumedEntries(),
                    done.resumedFiles()));
        }
        out.flush();
    }

    private void printOrphans() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        var json = new ObjectMapper();
        for (Orphan orphan : CompactionJournals.orphans(journalDir, Clock.system())) {
            long ageSeconds = TimeUnit.MILLISECONDS.toSeconds(orphan.ageMillis());
            if (isJson) {
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("id", Long.toUnsignedString(orphan.fileId()));
                line.put("key", orphan.key());
                line.put("bytes", orphan.byteSize());
                line.put("stored", orphan.isStored());
                line.put("request", orphan.request());
                line.put("ageSeconds", ageSeconds);
                out.println(json.writeValueAsString(line));
            } else {
                out.println("id=" + Long.toUnsignedString(orphan.fileId()) + " key=" + orphan.key() + " bytes="
                        + orphan.byteSize() + " stored=" + orphan.isStored() + " request=" + orphan.request()
                        + " ageSeconds=" + ageSeconds);
            }
        }
        out.flush();
    }
}
