package io.coplane.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.compaction.CompactionConfig;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Inputs and requests that are not what they should be: the status of compaction.md 1.3, no new object, nothing held. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class BadCompactionTest {
    /** Of an L0 file no checksum covers the snap version, 8 bytes before number of families and magic (docs/formats/l0.md). */
    private static final int AFTER_SNAP_VERSION = 8;

    private static final int SNAP_VERSION_BEFORE_END = AFTER_SNAP_VERSION + Long.BYTES;

    @TempDir
    private Path root;

    private DirectoryStore store;
    private DataPlane plane;
    private String request;
    private Path input; // an L0 file of several families

    @BeforeEach
    void open() throws IOException {
        store = new DirectoryStore(root, "", 2);
        var settings = new CompactionSettings(
                CompactionConfig.DEFAULT,
                2,
                0,
                CompactionSettings.defaults(1).ids(),
                2,
                CompactionSettings.defaults(1).journals());
        plane = DataPlane.open(
                DataPlaneConfig.defaults(2, 1 << 28), settings, store, Clock.system(), new PrometheusRegistry());
        fill(golden("l0-"));
    }

    @AfterEach
    void nothingIsHeld() {
        plane.close();
        assertThat(plane.memory().usedBytes()).isZero();
        store.close();
    }

    private static GoldenCase golden(String kind) {
        return TestData.cases("compaction")
                .filter(c -> c.name().startsWith(kind) && !c.meta().containsKey("enc.master_key"))
                .findFirst()
                .orElseThrow();
    }

    private void fill(GoldenCase golden) {
        request = new String(golden.bytes("request.json"), StandardCharsets.UTF_8);
        for (String file : golden.files("")) {
            if (file.startsWith("in/")) {
                FileKind kind = file.endsWith(".sst") ? FileKind.SST : FileKind.BLOB;
                long id = Long.parseUnsignedLong(file.substring(3, 19), 16);
                store.put(kind, id, MemorySegment.ofArray(golden.bytes(file))).join();
                if (kind == FileKind.SST) {
                    input = root.resolve(ObjectKeys.key("", kind, id));
                }
            }
        }
    }

    private CompactAnswer ask(String json) {
        return plane.compact(MemorySegment.ofArray(json.getBytes(StandardCharsets.UTF_8)), System.nanoTime())
                .join();
    }

    private Set<String> objects() throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(Files::isRegularFile)
                    .map(Path::toString)
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /** Asks for what can't be done: nothing new is in the store then. */
    private CompactAnswer refused(String json, int status) throws IOException {
        Set<String> before = objects();

        CompactAnswer answer = ask(json);

        assertThat(answer.httpStatus()).as(answer.text()).isEqualTo(status);
        assertThat(objects()).isEqualTo(before);
        return answer;
    }

    @Test
    void theRequestIsGoodAsItIs() {
        assertThat(ask(request).httpStatus()).isEqualTo(200);
    }

    @Test
    void anInputThatIsMissing() throws IOException {
        Files.delete(input);

        assertThat(refused(request, 500).text()).startsWith("FILE_NOT_FOUND");
    }

    @Test
    void aBlobTableThatIsMissing() throws IOException {
        GoldenCase golden = TestData.cases("compaction")
                .filter(c -> c.name().startsWith("major-")
                        && !c.meta().containsKey("enc.master_key")
                        && c.files(".blob").stream().anyMatch(f -> f.startsWith("in/")))
                .findFirst()
                .orElseThrow();
        fill(golden);
        String blob = golden.files(".blob").stream()
                .filter(f -> f.startsWith("in/"))
                .findFirst()
                .orElseThrow();
        Files.delete(
                root.resolve(ObjectKeys.key("", FileKind.BLOB, Long.parseUnsignedLong(blob.substring(3, 19), 16))));

        assertThat(refused(request, 500).text()).startsWith("FILE_NOT_FOUND");
    }

    @Test
    void aFileThatIsMissingFromAJobInPlace() throws IOException {
        fill(golden("destroy-"));
        Files.delete(input);

        assertThat(refused(request, 500).text()).startsWith("FILE_NOT_FOUND");
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "27", "100", "1000"})
    void anInputThatIsCut(int bytes) throws IOException {
        Files.write(input, Arrays.copyOf(Files.readAllBytes(input), bytes));

        refused(request, 500);
    }

    @Test
    void anInputOfAnotherKind() throws IOException {
        Files.writeString(input, "{\"this\":\"is no table\"}".repeat(100));

        refused(request, 500);
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void anInputWithAWrongByte(long seed) throws Exception {
        var random = new SplittableRandom(seed);
        byte[] good = Files.readAllBytes(input);
        ChangeSet whole = ChangeSet.parseFrom(ask(request).body());
        for (int i = 0; i < 6; i++) {
            byte[] wrong = good.clone();
            int at;
            do {
                at = random.nextInt(wrong.length);
            } while (at >= wrong.length - SNAP_VERSION_BEFORE_END && at < wrong.length - AFTER_SNAP_VERSION);
            wrong[at] ^= (byte) (1 << random.nextInt(8));
            Files.write(input, wrong);

            CompactAnswer answer = ask(request);

            // the filter isn't read; all else but the snap version is covered by checksums
            if (answer.httpStatus() == 200) {
                assertThat(ChangeSet.parseFrom(answer.body())).isEqualTo(whole);
            } else {
                assertThat(answer.httpStatus()).isEqualTo(500);
                assertThat(answer.text()).startsWith("FILE_");
            }
        }
    }

    @Test
    void filesOfOneLevelThatOverlap() throws IOException {
        GoldenCase golden = golden("l1plus-");
        fill(golden);
        long id = Long.parseUnsignedLong(
                golden.files(".sst").stream()
                        .filter(f -> f.startsWith("in/"))
                        .findFirst()
                        .orElseThrow()
                        .substring(3, 19),
                16);
        store.put(
                        FileKind.SST,
                        77,
                        MemorySegment.ofArray(Files.readAllBytes(root.resolve(ObjectKeys.key("", FileKind.SST, id)))))
                .join();

        String twice = request.replaceFirst("\"upper_level\": ?\\[[^\\]]*\\]", "\"upper_level\":[" + id + ",77]")
                .replaceFirst("\"lower_level\": ?\\[[^\\]]*\\]", "\"lower_level\":[]");

        assertThat(refused(twice, 500).text()).startsWith("FILE_MISMATCH").contains("overlap");
    }

    @Test
    void anIdOfAnInputForAnOutput() throws IOException {
        long id = Long.parseUnsignedLong(input.getFileName().toString().substring(0, 16), 16);

        String colliding = request.replaceFirst("\"file-ids\": ?\\[[^\\]]*\\]", "\"file-ids\":[" + id + "]");

        assertThat(refused(colliding, 500).text()).startsWith("BAD_ARGUMENT").contains("one of an input");
    }

    @Test
    void anIdThatIsGivenTwice() throws IOException {
        String twice = request.replaceFirst("\"file-ids\": ?\\[[^\\]]*\\]", "\"file-ids\":[991,991]");

        assertThat(ask(twice).httpStatus()).isEqualTo(500);
    }

    @Test
    void idsThatAreUsedUpWithoutAPlacementDriver() throws IOException {
        String few = request.replaceFirst("\"file-ids\": ?\\[[^\\]]*\\]", "\"file-ids\":[]");

        assertThat(refused(few, 500).text()).startsWith("STORE_UNAVAILABLE");
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "100000000"})
    void anInputSizeThatIsNoneOrALie(long size) {
        String lie = request.replaceFirst("\"input-size\": ?\\d+", "\"input-size\":" + size);

        assertThat(ask(lie).httpStatus()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"compactor-version\": ?3 | \"compactor-version\":4 | 501",
                "\"compactor-version\": ?3 | \"compactor-version\":2 | 500",
                "\"compactor-version\": ?3 | \"compactor-version\":-1 | 400",
                "\"L0\": | \"L7\": | 400",
                "\"l0_tables\": | \"l0_tablez\": | 400",
                "\"block_size\": | \"blk\": | 400",
            })
    void versionsAndVariantsThatNobodyKnows(String from, String to, int status) throws IOException {
        String other = request.replaceFirst(from, to);
        assertThat(other).isNotEqualTo(request);

        refused(other, status);
    }
}
