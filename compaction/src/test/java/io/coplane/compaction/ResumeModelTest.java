package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.testing.NoLeaks;
import io.coplane.testing.Seeds;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Random jobs of random histories, interrupted at random: the same files, the same ChangeSet, no work before the last resume point. */
@ExtendWith(NoLeaks.class)
final class ResumeModelTest {
    private static final int SEEDS =
            Integer.getInteger("coplane.seeds", Boolean.getBoolean("coplane.long") ? 2_000 : 12);

    @TempDir
    private Path folder;

    @Test
    void jobsThatAreInterruptedComeToWhatOthersCome() {
        var interruptions = Interruptions.in(folder);
        long fresh = Seeds.fresh();
        LongStream.range(1, SEEDS).forEach(i -> {
            try {
                ModelRun.run(fresh + i, interruptions);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("failed with seed " + (fresh + i), e);
            }
        });
        System.out.println("interrupted jobs: seeds=" + SEEDS + " resumed=" + interruptions.resumed + " withBlobTables="
                + interruptions.rebuilt);
        // or the test would prove nothing
        assertThat(interruptions.resumed).isGreaterThan(interruptions.rebuilt);
        assertThat(interruptions.rebuilt).isPositive();
    }
}
