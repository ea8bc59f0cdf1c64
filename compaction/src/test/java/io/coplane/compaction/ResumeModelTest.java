package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.testing.NoLeaks;
import io.coplane.testing.Seeds;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Random jobs of random histories, interrupted at random: the same files, the same ChangeSet, no work before the last resume point. */
@ExtendWith(NoLeaks.class)
final class ResumeModelTest {
    private static final int SEEDS =
            Integer.getInteger("coplane.seeds", Boolean.getBoolean("coplane.long") ? 2_000 : 12);
    /** By then every kind of interruption has been there: a seed brings the rarest one time in three. */
    private static final int MOST_SEEDS = Math.max(SEEDS, 300);

    @TempDir
    private Path folder;

    @Test
    void jobsThatAreInterruptedComeToWhatOthersCome() {
        var interruptions = Interruptions.in(folder);
        long fresh = Seeds.fresh();
        int seeds = 0;
        while (seeds < SEEDS || seeds < MOST_SEEDS && !hadAllKinds(interruptions)) {
            long seed = fresh + ++seeds;
            try {
                ModelRun.run(seed, interruptions);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("failed with seed " + seed, e);
            }
        }
        System.out.println("interrupted jobs: seeds=" + seeds + " resumed=" + interruptions.resumed + " withBlobTables="
                + interruptions.rebuilt);
        // or the test would prove nothing
        assertThat(interruptions.resumed).isGreaterThan(interruptions.rebuilt);
        assertThat(interruptions.rebuilt).isPositive();
    }

    private static boolean hadAllKinds(Interruptions interruptions) {
        return interruptions.rebuilt > 0 && interruptions.resumed > interruptions.rebuilt;
    }
}
