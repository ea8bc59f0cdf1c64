package io.coplane.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class CorruptTest {
    private static final byte[] GOOD = {1, 2, 3, 4, 5};

    @Test
    void cutsAtEveryByte() {
        var cut = new ArrayList<String>();

        int tried = Corrupt.truncations(GOOD, 0, 100, (damage, bytes) -> cut.add(Dumps.hex(bytes)));

        assertThat(tried).isEqualTo(5);
        assertThat(cut).containsExactly("", "01", "0102", "010203", "01020304");
    }

    @Test
    void flipsEveryBitOnce() {
        var flipped = new HashSet<String>();

        int tried = Corrupt.bitFlips(GOOD, 0, 100, (damage, bytes) -> {
            int different = 0;
            for (int i = 0; i < GOOD.length; i++) {
                different += Integer.bitCount((bytes[i] ^ GOOD[i]) & 0xFF);
            }
            assertThat(different).isEqualTo(1);
            flipped.add(Dumps.hex(bytes));
        });

        assertThat(tried).isEqualTo(40);
        assertThat(flipped).hasSize(40);
        assertThat(GOOD).containsExactly(1, 2, 3, 4, 5);
    }

    @Test
    void overwritesEveryFourBytes() {
        var seen = new ArrayList<String>();

        int tried = Corrupt.overwrites(GOOD, 0, 100, (damage, bytes) -> seen.add(Dumps.hex(bytes)));

        assertThat(tried).isEqualTo(8);
        assertThat(seen)
                .containsExactly(
                        "0000000005",
                        "ffffffff05",
                        "ffffff7f05",
                        "0000008005",
                        "0100000000",
                        "01ffffffff",
                        "01ffffff7f",
                        "0100000080");
        assertThat(Corrupt.overwrites(new byte[3], 0, 100, (damage, bytes) -> {}))
                .isZero();
    }

    @Test
    void keepsToBudgetAndCoversEdges() {
        byte[] good = new byte[100_000];
        new SplittableRandom(1).nextBytes(good);
        var lengths = new TreeSet<Integer>();

        int tried = Corrupt.truncations(good, 7, 1_000, (damage, bytes) -> lengths.add(bytes.length));

        assertThat(tried).isEqualTo(1_000);
        assertThat(lengths).hasSize(1_000);
        assertThat(lengths.headSet(Corrupt.EDGE_BYTES)).hasSize(Corrupt.EDGE_BYTES);
        assertThat(lengths.tailSet(good.length - Corrupt.EDGE_BYTES)).hasSize(Corrupt.EDGE_BYTES);
    }

    @Test
    void staysWithinAnyBudget() {
        for (int budget = 1; budget < 300; budget++) {
            var tried = new TreeSet<Integer>();
            assertThat(Corrupt.truncations(new byte[257], budget, budget, (damage, bytes) -> tried.add(bytes.length)))
                    .isEqualTo(Math.min(budget, 257))
                    .isEqualTo(tried.size());
        }
    }

    @Test
    void repeatsSampleOfSeed() {
        assertThat(sample(3)).isEqualTo(sample(3)).isNotEqualTo(sample(4));
    }

    @Test
    void reportsDamageOfFailure() {
        assertThatThrownBy(() -> Corrupt.bitFlips(GOOD, 0, 100, (damage, bytes) -> {
                    if (bytes[3] == 5) {
                        throw new IllegalStateException("decoder fell over");
                    }
                }))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("flipped bit 0 of byte 3")
                .hasMessageContaining("decoder fell over")
                .hasCauseInstanceOf(IllegalStateException.class);
    }

    private static List<String> sample(long seed) {
        var damages = new ArrayList<String>();
        Corrupt.everyWay(new byte[10_000], seed, 300, (damage, bytes) -> damages.add(damage));
        assertThat(damages).hasSize(300);
        return damages;
    }
}
