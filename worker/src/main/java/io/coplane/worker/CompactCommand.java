package io.coplane.worker;

import io.coplane.compaction.Admission;
import io.coplane.compaction.CompactionConfig;
import io.coplane.compaction.CompactionRequest;
import io.coplane.compaction.CompactionResult;
import io.coplane.compaction.Compactor;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code coplane compact}: runs one request of a store, as {@code /compact} would. */
@Command(
        name = "compact",
        mixinStandardHelpOptions = true,
        description =
                "Runs a compaction request on the files of an object store and prints what changes in the shard. Deletes nothing. File ids"
                        + " beyond those of the request are made from the clock.")
public final class CompactCommand implements Callable<Integer> {
    private static final int STORE_THREADS = 4;

    /** Low bits of a timestamp of the placement driver: a counter within its millisecond. */
    private static final int LOGICAL_BITS = 18;

    @Option(names = "--request", required = true, description = "JSON body, as a store posts it.")
    private Path request;

    @Option(names = "--store", required = true, description = "Directory, file:DIR?prefix=P or s3://BUCKET/PREFIX.")
    private String store;

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

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public CompactCommand() {}

    @Override
    public Integer call() throws IOException {
        Logs.configure("warn", "");
        CompactionRequest parsed = CompactionRequest.parse(Files.readAllBytes(request));
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
        Clock clock = Clock.system();
        var nextId = new AtomicLong(clock.wallMillis() << LOGICAL_BITS);
        long start = clock.nanoTime();
        CompactionResult done;
        try (ObjectStore files = StoreUrl.parse(store).open(System.getenv(), STORE_THREADS);
                MemoryGuard guard = new MemoryLimiter(memoryBytes).acquire(admission(parsed))) {
            done = new Compactor(new CompactionConfig(checksum, zstdLevel), files, key)
                    .compact(
                            parsed,
                            count -> {
                                long first = nextId.getAndAdd(count);
                                return LongStream.range(first, first + count).toArray();
                            },
                            guard,
                            () -> false);
        }
        print(done, clock.nanoTime() - start);
        if (result != null) {
            Files.write(result, done.changeSet().toByteArray());
        }
        return 0;
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
        out.flush();
    }
}
