package io.coplane.nativecache;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.nativecache.store.S3Config;
import io.coplane.nativecache.store.S3Store;
import io.coplane.nativecache.store.S3Timing;
import io.coplane.nativecache.store.Secret;
import io.coplane.nativecache.store.StoreMetrics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long do 100 files take that are opened at once: from S3, one after the other from S3, and from a directory? The server is the JDK's, in
 * this process, and answers from memory; it shares the cores with the client, so this is the client's cost and not a network's.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class S3OpenBenchmark {
    private static final int FILES = 100;
    private static final int SERVER_THREADS = 16;

    /** Bytes of a file. */
    @Param({"65536", "1048576"})
    public int fileBytes;

    private byte[] file;
    private Path root;
    private HttpServer server;
    private MemoryGuard guard;
    private ObjectStore s3;
    private ObjectStore directory;

    /** Starts the server, lays the files out, and checks that both stores give them back. */
    @Setup
    public void open() throws IOException {
        file = new byte[fileBytes];
        new SplittableRandom(1).nextBytes(file);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
        server.setExecutor(Executors.newFixedThreadPool(
                SERVER_THREADS, Thread.ofPlatform().daemon().factory()));
        server.createContext("/", this::answer);
        server.start();
        root = Files.createTempDirectory("coplane-s3-open");
        directory = new DirectoryStore(root, "", 4);
        for (int i = 0; i < FILES; i++) {
            directory.put(FileKind.SST, i, MemorySegment.ofArray(file)).join();
        }
        guard = MemoryGuard.unlimited();
        S3Config config = new S3Config(
                "bucket",
                "",
                "127.0.0.1:" + server.getAddress().getPort(),
                "",
                "id",
                new Secret("secret"),
                Optional.empty(),
                true,
                S3Config.DEFAULT_REQUESTS_IN_FLIGHT,
                S3Timing.DEFAULTS);
        s3 = S3Store.open(config, Clock.system(), MemoryGuard.unlimited(), StoreMetrics.NONE);
        check(s3);
        check(directory);
    }

    private void answer(HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(200, file.length);
        exchange.getResponseBody().write(file);
        exchange.close();
    }

    private void check(ObjectStore store) {
        try (NativeArena arena = new NativeArena(guard)) {
            byte[] read = store.read(FileKind.SST, 1, 0, ObjectStore.TO_END, arena)
                    .join()
                    .toArray(ValueLayout.JAVA_BYTE);
            if (!java.util.Arrays.equals(read, file)) {
                throw new IllegalStateException("not the file that was laid out");
            }
        }
    }

    /** Frees all. */
    @TearDown
    public void close() {
        s3.close();
        directory.close();
        guard.close();
        server.stop(0);
        try (var files = Files.walk(root)) {
            files.sorted(java.util.Comparator.reverseOrder())
                    .forEach(path -> path.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All at once. */
    @Benchmark
    public long s3InParallel() {
        return openAll(s3);
    }

    /** One after the other: what parallel opening saves. */
    @Benchmark
    public long s3OneByOne() {
        long bytes = 0;
        try (NativeArena arena = new NativeArena(guard)) {
            for (int i = 0; i < FILES; i++) {
                bytes += s3.read(FileKind.SST, i, 0, ObjectStore.TO_END, arena)
                        .join()
                        .byteSize();
            }
        }
        return bytes;
    }

    /** The same from a directory whose files the machine has in memory. */
    @Benchmark
    public long directoryInParallel() {
        return openAll(directory);
    }

    private long openAll(ObjectStore store) {
        try (NativeArena arena = new NativeArena(guard)) {
            List<CompletableFuture<MemorySegment>> reads = new ArrayList<>(FILES);
            for (int i = 0; i < FILES; i++) {
                reads.add(store.read(FileKind.SST, i, 0, ObjectStore.TO_END, arena));
            }
            long bytes = 0;
            for (CompletableFuture<MemorySegment> read : reads) {
                bytes += read.join().byteSize();
            }
            return bytes;
        }
    }
}
