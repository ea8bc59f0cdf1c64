package io.coplane.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class SeedsTest {
    @Test
    void repeatsWithinRun() {
        List<Long> seeds = Seeds.fixedAndFresh().toList();

        assertThat(Seeds.fixedAndFresh()).containsExactlyElementsOf(seeds);
        assertThat(seeds).doesNotHaveDuplicates().contains(0L, 42L).endsWith(Seeds.fresh());
    }

    @Test
    void takesPinnedSeed() {
        assertThat(Seeds.pinnedOrNew("-77")).isEqualTo(-77);
        assertThat(Seeds.pinnedOrNew(" 5 ")).isEqualTo(5);
        assertThatThrownBy(() -> Seeds.pinnedOrNew("five")).isInstanceOf(NumberFormatException.class);
    }

    @Test
    void drawsSeedThatIsNotPinned() {
        assertThat(Seeds.pinnedOrNew("")).isNotEqualTo(Seeds.pinnedOrNew(" "));
    }
}
