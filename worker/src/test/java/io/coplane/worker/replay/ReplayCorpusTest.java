package io.coplane.worker.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.engine.DataPlane;
import io.coplane.engine.DataPlaneConfig;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.Seeds;
import io.coplane.testing.TestData;
import io.coplane.worker.replay.Corpus.DataSet;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every recorded request, through a data plane, compared with the reference's answer; {@code not-yet-passing.tsv} of the test data lists what may fail,
 * and a listed request that passes fails the test too.
 *
 * <p>By default each data set runs in one shape, with or without a keyspace, drawn from the fresh seed out of all shapes; {@code -Plong} runs every shape both ways. Test data
 * without a list (another folder than the project's) is held to: equal, or a typed "unsupported".
 */
@ExtendWith(NoLeaks.class)
final class ReplayCorpusTest {
    private static final int KEYSPACE = 4_711;
    private static final long FIRST_FILE_ID = 1_000;
    private static final boolean LONG = Boolean.getBoolean("coplane.long");

    @TempDir
    Path directory;

    static Stream<String> dataSets() {
        List<String> names = Corpus.open(TestData.root()).names("*");
        assertThat(names).isNotEmpty();
        return names.stream();
    }

    @ParameterizedTest
    @MethodSource("dataSets")
    void answersAsTheReferenceDid(String name) throws IOException, InterruptedException {
        DataSet dataSet = Corpus.open(TestData.root()).load(name);
        assertThat(dataSet.requests()).isNotEmpty();
        long seed = Seeds.fresh() + name.hashCode();
        int variants = 2 * Shape.values().length;
        for (int variant = 0; variant < variants; variant++) {
            if (LONG || variant == Math.floorMod(seed, variants)) {
                Shape shape = Shape.values()[variant / 2];
                check(dataSet, shape, variant % 2 == 0 ? OptionalInt.empty() : OptionalInt.of(KEYSPACE), seed);
            }
        }
    }

    private void check(DataSet dataSet, Shape shape, OptionalInt keyspaceId, long seed)
            throws IOException, InterruptedException {
        ReplayReport report = new ReplayReport();
        DataPlaneConfig config = DataPlaneConfig.defaults(2, 2L << 30).withMasterKey(CorpusLayout.MASTER_KEY);
        try (DirectoryStore store = new DirectoryStore(directory, "", 2);
                DataPlane plane =
                        DataPlane.open(config, store, ReplayCommand.recordedClock(), new PrometheusRegistry());
                InProcessTarget target = new InProcessTarget(plane, store)) {
            new Replay(target, shape, keyspaceId, seed, 2)
                    .run(dataSet, FIRST_FILE_ID, Integer.MAX_VALUE, report, done -> {});
            assertThat(plane.memory().usedBytes()).isEqualTo(plane.cachedBytes());
        }
        String how = dataSet.name() + " laid out as " + shape + ", keyspace " + keyspaceId + ", seed " + seed;
        Path list = TestData.root().resolve("not-yet-passing.tsv");
        if (!Files.exists(list)) {
            assertThat(report.differing()).as(how + "\n" + explain(report)).isZero();
            return;
        }
        BitSet failed = new BitSet();
        report.failedOrdinals().getOrDefault(dataSet.name(), List.of()).forEach(failed::set);
        BitSet listed = Ratchet.read(list).ordinals(dataSet.name());
        BitSet newlyFailing = (BitSet) failed.clone();
        newlyFailing.andNot(listed);
        listed.andNot(failed);
        assertThat(newlyFailing)
                .as(how + ": not listed, but failing\n" + explain(report))
                .isEqualTo(new BitSet());
        assertThat(listed)
                .as(how + ": listed, but passing; take them off the list")
                .isEqualTo(new BitSet());
    }

    private static String explain(ReplayReport report) {
        StringWriter out = new StringWriter();
        report.print(new PrintWriter(out), 20);
        return out.toString();
    }
}
