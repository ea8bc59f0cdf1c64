package io.coplane.worker.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.engine.CopAnswer;
import io.coplane.engine.CopRequest;
import io.coplane.engine.DataPlane;
import io.coplane.engine.DataPlaneConfig;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.Seeds;
import io.coplane.testing.TestData;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.Corpus.Recorded;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Stored files damaged on a seed, through the whole path: an answer is the recorded one or a typed error, never another one, and nothing stays held.
 *
 * <p>Left out is what the formats leave without a checksum (sst.md 6.1, 7): the snap version of an L0 file, properties and compression type of a blob file,
 * blob files of checksum type none.
 */
@ExtendWith(NoLeaks.class)
final class ReplayDamageTest {
    private static final int DAMAGES = Boolean.getBoolean("coplane.long") ? 2_000 : 30;
    private static final int REQUESTS_EACH = 2;
    private static final int KEYSPACE = 4_711;
    private static final int FAMILIES = 3;
    private static final int SNAP_VERSION_BEFORE_END = 16;
    private static final int BLOB_FOOTER_BYTES = 24;

    @TempDir
    Path directory;

    static Stream<Long> seeds() {
        return Stream.concat(
                Seeds.fixedAndFresh(),
                LongStream.range(1, 4).map(i -> Seeds.fresh() + i).boxed());
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void givesTheRightAnswerOrATypedError(long seed) throws IOException {
        var random = new SplittableRandom(seed);
        DataSet dataSet = Corpus.open(TestData.root()).load(random.nextBoolean() ? "smoke" : "mvcc");
        Shape shape = Shape.values()[random.nextInt(1, Shape.values().length)]; // mem has no files
        OptionalInt keyspace = random.nextBoolean() ? OptionalInt.of(KEYSPACE) : OptionalInt.empty();
        int errors = 0;
        try (DirectoryStore whole = new DirectoryStore(directory, "", 2);
                DataPlane sound = plane(whole)) {
            CorpusLayout layout = CorpusLayout.build(dataSet.versions(), shape, whole, 1_000, keyspace, seed);
            var comparer = new AnswerComparer(
                    dataSet.versions(), layout.prefix(), request -> response(send(sound, layout, request)));
            List<Path> files = files();
            assertThat(files).isNotEmpty();
            for (int i = 0; i < DAMAGES; i++) {
                Path file = files.get(random.nextInt(files.size()));
                var damage = Damage.draw(Files.readAllBytes(file), file.toString(), random);
                ObjectKeys.File name = ObjectKeys.parse(file.toString()).orElseThrow();
                MemoryLimiter memory;
                try (DataPlane plane = plane(new DamagedStore(whole, name, damage.bytes))) {
                    memory = plane.memory();
                    for (int r = 0; r < REQUESTS_EACH; r++) {
                        Recorded recorded = dataSet.requests()
                                .get(random.nextInt(dataSet.requests().size()));
                        CopAnswer answer = send(plane, layout, recorded.request());
                        String how = shape + " " + keyspace + " " + file.getFileName() + ": " + damage.what + ": "
                                + recorded.id();
                        errors += check(comparer, recorded, answer, how) ? 0 : 1;
                        assertThat(plane.memory().usedBytes()).as(how).isEqualTo(plane.cachedBytes());
                    }
                }
                assertThat(memory.usedBytes()).as(damage.what).isZero();
            }
        }
        assertThat(errors).as("damages that were noticed").isPositive();
    }

    /** @return false for an error */
    private static boolean check(AnswerComparer comparer, Recorded recorded, CopAnswer answer, String how) {
        List<Difference> differences = comparer.compare(recorded, response(answer));
        if (differences.isEmpty()) {
            return true;
        }
        assertThat(answer.isSuccess()).as(how + " " + differences).isFalse();
        assertThat(answer.text()).as(how).isNotBlank().doesNotContain("internal error");
        return false;
    }

    private static DataPlane plane(ObjectStore store) {
        DataPlaneConfig config = DataPlaneConfig.defaults(1, 1L << 30).withMasterKey(CorpusLayout.MASTER_KEY);
        return DataPlane.open(config, store, ReplayCommand.recordedClock(), new PrometheusRegistry());
    }

    private static CopAnswer send(DataPlane plane, CorpusLayout layout, Request request) {
        MemorySegment body = MemorySegment.ofArray(layout.body(request));
        return plane.coprocessor(new CopRequest(body, Optional.empty())).join();
    }

    private static Response response(CopAnswer answer) {
        if (answer.response() == null) {
            return Response.newBuilder().setOtherError(answer.text()).build();
        }
        try {
            return Response.parseFrom(Corpus.input(answer.response()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(Files::isRegularFile)
                    .filter(file -> !isUnguardedBlob(file))
                    .sorted()
                    .toList();
        }
    }

    private static boolean isUnguardedBlob(Path file) {
        try {
            byte[] bytes = Files.readAllBytes(file);
            return file.toString().endsWith(".blob") && bytes[bytes.length - 1] == 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What was done to a file; no bytes: it is gone. */
    private record Damage(String what, byte[] bytes) {
        static Damage draw(byte[] good, String file, SplittableRandom random) {
            switch (random.nextInt(8)) {
                case 0 -> {
                    return new Damage("gone", null);
                }
                case 1 -> {
                    int length = random.nextInt(good.length);
                    return new Damage("cut after " + length, Arrays.copyOf(good, length));
                }
                case 2 -> {
                    int at = place(good, file, 4, random);
                    byte[] bad = good.clone();
                    ByteBuffer.wrap(bad).order(ByteOrder.LITTLE_ENDIAN).putInt(at, random.nextInt());
                    return new Damage("overwrote 4 bytes at " + at, bad);
                }
                default -> {
                    int at = place(good, file, 1, random);
                    byte[] bad = good.clone();
                    bad[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
                    return new Damage("flipped a bit of byte " + at + " of " + good.length, bad);
                }
            }
        }

        /** A place anywhere, or among the last bytes, that some check guards. */
        private static int place(byte[] good, String file, int length, SplittableRandom random) {
            while (true) {
                int last = good.length - length;
                int at = random.nextInt(3) == 0 ? Math.max(0, last - random.nextInt(64)) : random.nextInt(last + 1);
                if (isGuarded(good, file, at, at + length)) {
                    return at;
                }
            }
        }

        private static boolean isGuarded(byte[] good, String file, int from, int to) {
            int size = good.length;
            if (file.endsWith(".blob")) {
                int properties = ByteBuffer.wrap(good)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .getInt(size - BLOB_FOOTER_BYTES + 2 * Integer.BYTES);
                return to <= properties;
            }
            boolean hasSnapVersion = file.endsWith(".sst")
                    && ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN).getInt(size - 2 * Integer.BYTES)
                            == FAMILIES;
            return !hasSnapVersion || to <= size - SNAP_VERSION_BEFORE_END || from >= size - 2 * Integer.BYTES;
        }
    }

    /** Another store with one file damaged. Borrows the other one. */
    private record DamagedStore(ObjectStore whole, ObjectKeys.File damaged, byte[] bytes) implements ObjectStore {
        @Override
        public CompletableFuture<MemorySegment> read(
                FileKind kind, long fileId, long start, long end, NativeArena arena) {
            if (kind != damaged.kind() || fileId != damaged.fileId()) {
                return whole.read(kind, fileId, start, end, arena);
            }
            if (bytes == null) {
                return CompletableFuture.failedFuture(
                        new CoplaneException(ErrorCode.FILE_NOT_FOUND, "File " + fileId + " not exists"));
            }
            long to = end == TO_END ? bytes.length : end;
            if (start > bytes.length || to > bytes.length) {
                return CompletableFuture.failedFuture(
                        new CoplaneException(ErrorCode.FILE_TRUNCATED, "file ends before the range: " + fileId));
            }
            MemorySegment segment = arena.allocate(to - start);
            MemorySegment.copy(MemorySegment.ofArray(bytes), start, segment, 0, to - start);
            return CompletableFuture.completedFuture(segment);
        }

        @Override
        public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
            if (kind == damaged.kind() && fileId == damaged.fileId() && bytes != null) {
                return CompletableFuture.completedFuture((long) bytes.length);
            }
            return whole.byteSize(kind, fileId);
        }

        @Override
        public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment file) {
            return whole.put(kind, fileId, file);
        }

        @Override
        public void close() {
            // borrows the other store
        }
    }
}
