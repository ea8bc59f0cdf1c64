package io.coplane.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.compaction.CompactionConfig;
import io.coplane.compaction.CompactionProgress;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** compaction.md 1.2, 1.3, 1.12. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class CompactionsTest {
    private static final String CLEANUP = "{\"FtsCleanup\":{\"l1_file_ids\":[31],\"l2_file_ids\":[]}}";
    private static final String VECTOR =
            "{\"VectorIndex\":{\"table_id\":100,\"index_id\":2,\"col_id\":3,\"snap_version\":400,\"schema_file_id\":5,"
                    + "\"col_file_ids\":[[1,2]],\"remove_file_ids\":[31],\"vector_index_build_opts\":{}}}";

    @TempDir
    Path root;

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private DirectoryStore directory;
    private DataPlane plane;

    private DataPlane plane(long capBytes, long windowBytes) {
        return plane(new DirectoryStore(root, "", 2), capBytes, windowBytes);
    }

    private DataPlane plane(ObjectStore store, long capBytes, long windowBytes) {
        return plane(store, capBytes, windowBytes, 2);
    }

    private DataPlane plane(ObjectStore store, long capBytes, long windowBytes, int threads) {
        directory = store instanceof DirectoryStore d ? d : directory;
        var settings = new CompactionSettings(
                CompactionConfig.DEFAULT,
                threads,
                windowBytes,
                CompactionSettings.defaults(1).ids(),
                2,
                Optional.empty());
        plane = DataPlane.open(DataPlaneConfig.defaults(2, capBytes), settings, store, Clock.system(), registry);
        return plane;
    }

    @AfterEach
    void accountIsZero() {
        if (plane != null) {
            plane.close();
            assertThat(plane.memory().usedBytes()).isZero();
        }
        if (directory != null) {
            directory.close();
        }
    }

    private CompactAnswer ask(String json) {
        return plane.compact(MemorySegment.ofArray(json.getBytes(StandardCharsets.UTF_8)), System.nanoTime())
                .join();
    }

    private static String request(String type, String more) {
        return "{\"shard-id\":5,\"shard-ver\":3,\"compaction-tp\":" + type + more + "}";
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nonsense | 400",
                "{\"compaction-tp\":{\"InPlace\":{}},\"compactor-version\":4} | 400",
                "{} | 500",
                "{\"compactor-version\":4} | 501",
                "{\"compactor-version\":3} | 500",
                "{\"compactor-version\":2,\"input-size\":9223372036854775807} | 503",
                "{\"compactor-version\":3,\"input-size\":18446744073709551615} | 503"
            })
    void answersByTheTable(String json, int status) {
        plane(1 << 20, 0);

        assertThat(ask(json).httpStatus()).isEqualTo(status);
    }

    @Test
    void answersWorkThatIsNotBuiltAsTooNewBeforeMemoryIsAskedFor() {
        plane(1 << 20, 0);

        CompactAnswer answer = ask(request(VECTOR, ",\"compactor-version\":3,\"input-size\":999999999999"));

        assertThat(answer.httpStatus()).isEqualTo(501);
        assertThat(answer.text()).isEqualTo("incompatible compactor version (3)");
        assertThat(counter("coplane_compact_not_built_counter")).isEqualTo(1);
        assertThat(counter("kv_engine_remote_compact_exceed_memory_limit_counter"))
                .isZero();
    }

    @Test
    void answersWhatTouchesNoContent() throws IOException {
        plane(1 << 20, 0);

        CompactAnswer answer = ask(request(CLEANUP, ",\"compactor-version\":3"));

        assertThat(answer.httpStatus()).isEqualTo(200);
        assertThat(ChangeSet.parseFrom(answer.body()).getFtsUpdate().getL1RemoveFilesList())
                .containsExactly(31L);
    }

    @Test
    void judgesRequestsAndAnswersWithoutContentThoughMemoryIsUsedUp() {
        plane(1 << 20, 0);

        try (MemoryGuard _ = plane.memory().acquire(1 << 20)) {
            assertThat(ask("nonsense").httpStatus()).isEqualTo(400);
            assertThat(ask("{\"compactor-version\":4}").httpStatus()).isEqualTo(501);
            assertThat(ask(request(CLEANUP, ",\"compactor-version\":3")).httpStatus())
                    .isEqualTo(200);
            assertThat(ask("{\"compactor-version\":3,\"input-size\":1}").httpStatus())
                    .isEqualTo(503);
        }

        assertThat(counter("kv_engine_remote_compact_exceed_memory_limit_counter"))
                .isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"524288, 0, 200", "524289, 0, 503", "99999999, 1048576, 200", "9223372036854775807, 4096, 200"})
    void admitsTwiceTheInputWithinTheWindow(long input, long window, int status) {
        plane(1 << 20, window);

        CompactAnswer answer = ask(request(CLEANUP, ",\"compactor-version\":3,\"input-size\":" + input));

        assertThat(answer.httpStatus()).isEqualTo(status);
        if (status == 503) {
            assertThat(answer.text()).isEqualTo("memory limit exceeded");
            assertThat(counter("kv_engine_remote_compact_exceed_memory_limit_counter"))
                    .isEqualTo(1);
        }
    }

    @Test
    void runsAGoldenJob() throws IOException {
        plane(1 << 28, 0);
        GoldenCase golden = golden();

        CompactAnswer answer = ask(new String(golden.bytes("request.json"), StandardCharsets.UTF_8));

        assertThat(answer.httpStatus()).isEqualTo(200);
        ChangeSet expected = ChangeSet.parseFrom(golden.bytes("result.pb"));
        assertThat(ChangeSet.parseFrom(answer.body()).getCompaction().getTopDeletesList())
                .isEqualTo(expected.getCompaction().getTopDeletesList());
    }

    @Test
    void answersAMissingInputWith500AndWritesNothing() throws IOException {
        plane(1 << 28, 0);
        GoldenCase golden = golden();
        Path missing;
        try (var files = Files.walk(root)) {
            missing =
                    files.filter(f -> f.toString().endsWith(".sst")).findFirst().orElseThrow();
        }
        Files.delete(missing);
        long before = objects();

        CompactAnswer answer = ask(new String(golden.bytes("request.json"), StandardCharsets.UTF_8));

        assertThat(answer.httpStatus()).isEqualTo(500);
        assertThat(objects()).isEqualTo(before);
    }

    @ParameterizedTest
    @CsvSource({"0", "3", "12", "20", "28", "36"})
    void aStoreThatVanishesIsA500(int calls) throws IOException {
        directory = new DirectoryStore(root, "", 2);
        GoldenCase golden = golden();
        plane(new VanishingStore(directory, calls), 1 << 28, 0);
        String job = new String(golden.bytes("request.json"), StandardCharsets.UTF_8);

        CompactAnswer answer = ask(job);

        assertThat(answer.httpStatus()).isEqualTo(500);
        assertThat(answer.text()).contains("STORE_UNAVAILABLE");
        assertThat(plane.memory().usedBytes()).isZero();
        // inputs are as they were, and what was written is whole or not there: nobody refers to it
        try (var files = Files.walk(root)) {
            assertThat(files.filter(Files::isRegularFile))
                    .allSatisfy(file -> assertThat(file.toString()).doesNotEndWith(".tmp"));
        }
        for (String file : golden.files("")) {
            if (file.startsWith("in/")) {
                FileKind kind = file.endsWith(".sst") ? FileKind.SST : FileKind.BLOB;
                Path stored = root.resolve(ObjectKeys.key("", kind, Long.parseUnsignedLong(file.substring(3, 19), 16)));
                assertThat(stored).hasBinaryContent(golden.bytes(file));
            }
        }
    }

    /** The first compaction has found that nobody wants it, and has not ended yet, when the same request comes again. */
    @Test
    void whoAsksForACompactionThatIsBeingGivenUpGetsOneOfHisOwn() throws IOException {
        plane(1 << 28, 0);
        MemorySegment body = MemorySegment.ofArray(golden().bytes("request.json"));
        var second = new CompletableFuture<CompactAnswer>();
        var questions = new AtomicInteger();
        BooleanSupplier isGone = () -> {
            if (questions.incrementAndGet() == 3) { // twice before it ends, once to tell why
                CountDownLatch read = new CountDownLatch(1);
                var _ = plane.compact(
                                "", body, read::countDown, System.nanoTime(), () -> false, new CompactionProgress())
                        .thenAccept(second::complete);
                awaitLatch(read);
            }
            return true;
        };

        CompactAnswer first = plane.compact(body, System.nanoTime(), isGone, new CompactionProgress())
                .join();

        assertThat(first.text()).contains("compaction was cancelled");
        assertThat(second.orTimeout(30, TimeUnit.SECONDS).join().httpStatus()).isEqualTo(200);
    }

    @Test
    @Timeout(60)
    void aStoreThatGivesNoAnswerDoesNotKeepThePlaneFromClosing() throws IOException {
        directory = new DirectoryStore(root, "", 2);
        String job = new String(golden().bytes("request.json"), StandardCharsets.UTF_8);
        StalledStore stalled = new StalledStore(directory);
        plane(stalled, 1 << 28, 0, 1);
        CompletableFuture<CompactAnswer> answer = start(job);
        stalled.awaitRead();

        plane.close(Duration.ZERO);

        assertThat(answer).isNotDone();
        stalled.letGo();
        assertThat(answer.join().httpStatus()).isEqualTo(503);
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** worker.md 12, step 4. A job keeps the only thread, so that what is admitted waits with its permit. */
    @Test
    void vectorIndexesBeyondThePermitsAreRefusedAtOnce() throws IOException {
        directory = new DirectoryStore(root, "", 2);
        String job = new String(golden().bytes("request.json"), StandardCharsets.UTF_8);
        StalledStore stalled = new StalledStore(directory);
        plane(stalled, 1 << 28, 0, 1);
        String vector = request(VECTOR.replace("[[1,2]]", "[]"), ",\"compactor-version\":3,\"input-size\":10");
        CompletableFuture<CompactAnswer> busy = start(job);
        stalled.awaitRead();

        List<CompletableFuture<CompactAnswer>> admitted = List.of(start(vector), start(vector));
        while (gauge("coplane_vector_index_permits_free") > 0) {
            Thread.onSpinWait(); // both are admitted
        }
        CompactAnswer refused = ask(vector);
        assertThat(refused.httpStatus()).isEqualTo(503);
        assertThat(refused.text()).isEqualTo("vector index compaction requests throttled");

        stalled.letGo();
        assertThat(busy.join().httpStatus()).isEqualTo(200);
        admitted.forEach(one -> assertThat(one.join().httpStatus()).isEqualTo(200));
        assertThat(gauge("coplane_vector_index_permits_free")).isEqualTo(2);
        assertThat(ask(request(VECTOR.replace("[[1,2]]", "[]"), ",\"compactor-version\":3,\"input-size\":999999999"))
                        .text())
                .isEqualTo("memory limit exceeded");
        assertThat(gauge("coplane_vector_index_permits_free"))
                .as("memory was refused")
                .isEqualTo(2);
    }

    @Test
    void whoJoinsARequestInWorkIsToldItsProgress() throws IOException {
        directory = new DirectoryStore(root, "", 2);
        byte[] job = golden().bytes("request.json");
        StalledStore stalled = new StalledStore(directory);
        plane(stalled, 1 << 28, 0);
        var one = new CompactionProgress();
        var other = new CompactionProgress();
        CompletableFuture<CompactAnswer> first =
                plane.compact(MemorySegment.ofArray(job), System.nanoTime(), () -> false, one);
        stalled.awaitRead();
        CompletableFuture<CompactAnswer> second =
                plane.compact(MemorySegment.ofArray(job), System.nanoTime(), () -> false, other);
        while (counter("coplane_compact_continued_counter") < 1) {
            Thread.onSpinWait(); // it joins
        }
        assertThat(other.inputBytes()).isZero();

        stalled.letGo();

        assertThat(second.join().body()).isEqualTo(first.join().body());
        ChangeSet set = ChangeSet.parseFrom(first.join().body());
        assertThat(other.inputBytes()).isPositive().isEqualTo(one.inputBytes());
        assertThat(other.inputBytesRead()).isPositive().isEqualTo(one.inputBytesRead());
        assertThat(other.outputs())
                .isEqualTo(set.getCompaction().getTableCreatesCount()
                        + set.getCompaction().getBlobTablesCount());
        assertThat(other.outputBytes()).isPositive().isEqualTo(one.outputBytes());
    }

    private CompletableFuture<CompactAnswer> start(String json) {
        return plane.compact(MemorySegment.ofArray(json.getBytes(StandardCharsets.UTF_8)), System.nanoTime());
    }

    private double gauge(String name) {
        for (MetricSnapshot snapshot : registry.scrape()) {
            if (snapshot instanceof GaugeSnapshot gauge
                    && name.equals(gauge.getMetadata().getPrometheusName())) {
                return gauge.getDataPoints().getFirst().getValue();
            }
        }
        throw new AssertionError("no gauge " + name);
    }

    /** A store whose reads wait until they are let go. */
    private static final class StalledStore implements ObjectStore {
        private final ObjectStore store;
        private final CountDownLatch asked = new CountDownLatch(1);
        private final CompletableFuture<Void> gate = new CompletableFuture<>();

        private StalledStore(ObjectStore store) {
            this.store = store;
        }

        void awaitRead() {
            awaitLatch(asked);
        }

        void letGo() {
            gate.complete(null);
        }

        @Override
        public CompletableFuture<MemorySegment> read(
                FileKind kind, long fileId, long start, long end, NativeArena arena) {
            asked.countDown();
            return gate.thenCompose(open -> store.read(kind, fileId, start, end, arena));
        }

        @Override
        public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
            asked.countDown();
            return gate.thenCompose(open -> store.byteSize(kind, fileId));
        }

        @Override
        public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
            return store.put(kind, fileId, bytes);
        }

        @Override
        public void close() {
            store.close();
        }
    }

    /** A job of the L0 kind that needs no key; its inputs are put into the directory. */
    private GoldenCase golden() throws IOException {
        GoldenCase golden = TestData.cases("compaction")
                .filter(c -> c.name().startsWith("l0-") && !c.meta().containsKey("enc.master_key"))
                .findFirst()
                .orElseThrow();
        for (String file : golden.files("")) {
            if (file.startsWith("in/")) {
                String name = file.substring(3);
                FileKind kind = name.endsWith(".sst") ? FileKind.SST : FileKind.BLOB;
                long id = Long.parseUnsignedLong(name.substring(0, 16), 16);
                directory
                        .put(kind, id, MemorySegment.ofArray(golden.bytes(file)))
                        .join();
            }
        }
        return golden;
    }

    private long objects() throws IOException {
        try (var files = Files.walk(root)) {
            return files.filter(Files::isRegularFile).count();
        }
    }

    private double counter(String name) {
        for (MetricSnapshot snapshot : registry.scrape()) {
            if (snapshot instanceof CounterSnapshot counter
                    && name.startsWith(counter.getMetadata().getPrometheusName())) {
                return counter.getDataPoints().stream()
                        .mapToDouble(CounterSnapshot.CounterDataPointSnapshot::getValue)
                        .sum();
            }
        }
        return 0;
    }

    /** Answers so many calls, then none. */
    private static final class VanishingStore implements ObjectStore {
        private final ObjectStore store;
        private final AtomicInteger left;

        private VanishingStore(ObjectStore store, int calls) {
            this.store = store;
            left = new AtomicInteger(calls);
        }

        private <T> CompletableFuture<T> gone() {
            return CompletableFuture.failedFuture(
                    new CoplaneException(ErrorCode.STORE_UNAVAILABLE, "connection refused"));
        }

        @Override
        public CompletableFuture<MemorySegment> read(
                FileKind kind, long fileId, long start, long end, NativeArena arena) {
            return left.getAndDecrement() > 0 ? store.read(kind, fileId, start, end, arena) : gone();
        }

        @Override
        public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
            return left.getAndDecrement() > 0 ? store.byteSize(kind, fileId) : gone();
        }

        @Override
        public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
            return left.getAndDecrement() > 0 ? store.put(kind, fileId, bytes) : gone();
        }

        @Override
        public void close() {
            store.close();
        }
    }
}
