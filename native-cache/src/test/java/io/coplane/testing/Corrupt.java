package io.coplane.testing;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Damages input in every way that fits a budget, for tests of decoders: only a typed error or the right answer may follow.
 *
 * <p>Within the budget all variants are tried; beyond it, those that touch the first and last {@value #EDGE_BYTES} bytes (magic,
 * counts, footers) and a seeded sample of the others, as many as the budget leaves. What a check throws is reported with the
 * damage that led to it.
 *
 * <pre>{@code
 * Corrupt.everyWay(table, seed, 20_000, (damage, bytes) -> {
 *     try (var reader = SstReader.open(bytes)) {
 *         assertThat(entries(reader)).isEqualTo(expected);
 *     } catch (CoplaneException e) {
 *         assertThat(e.code()).isEqualTo(...);
 *     }
 * });
 * }</pre>
 */
public final class Corrupt {
    /** Bytes at either end that every budget covers first. */
    static final int EDGE_BYTES = 64;

    private static final int[] EXTREMES = {0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE};

    /** What must hold for damaged input. */
    @FunctionalInterface
    public interface Check {
        /**
         * Fails by throwing.
         *
         * @param damage what was done, in words
         * @param bytes  the damaged input; valid during the call
         */
        void accept(String damage, byte[] bytes) throws Exception;
    }

    private Corrupt() {}

    /** Tries truncations, bit flips and overwrites, each within a third of the budget. Returns how many were tried. */
    public static int everyWay(byte[] good, long seed, int budget, Check check) {
        int third = Math.max(1, budget / 3);
        return truncations(good, seed, third, check)
                + bitFlips(good, seed, third, check)
                + overwrites(good, seed, third, check);
    }

    /**
     * Cuts input after 0 .. all but one of its bytes.
     *
     * @param good   input, not changed
     * @param seed   of the sample
     * @param budget most variants to try, at least 1
     * @return variants tried
     */
    public static int truncations(byte[] good, long seed, int budget, Check check) {
        int[] lengths = variants(good.length, 1, seed, budget);
        for (int length : lengths) {
            run("cut after " + length + " of " + good.length + " bytes", Arrays.copyOf(good, length), check);
        }
        return lengths.length;
    }

    /** Flips one bit. Parameters and result as for {@link #truncations}. */
    public static int bitFlips(byte[] good, long seed, int budget, Check check) {
        byte[] bytes = good.clone();
        int[] bits = variants(good.length, Byte.SIZE, seed, budget);
        for (int bit : bits) {
            bytes[bit >> 3] ^= (byte) (1 << (bit & 7));
            run("flipped bit " + (bit & 7) + " of byte " + (bit >> 3), bytes, check);
            bytes[bit >> 3] = good[bit >> 3];
        }
        return bits.length;
    }

    /**
     * Overwrites four bytes, at any offset, by 0, all ones, the largest or the smallest int in little-endian order: lengths and
     * counts go wrong. Parameters and result as for {@link #truncations}; input under four bytes has no variants.
     */
    public static int overwrites(byte[] good, long seed, int budget, Check check) {
        byte[] bytes = good.clone();
        int[] variants = variants(Math.max(0, good.length - Integer.BYTES + 1), EXTREMES.length, seed, budget);
        for (int variant : variants) {
            int at = variant / EXTREMES.length;
            int value = EXTREMES[variant % EXTREMES.length];
            for (int i = 0; i < Integer.BYTES; i++) {
                bytes[at + i] = (byte) (value >> Byte.SIZE * i);
            }
            run("overwrote bytes " + at + " .. " + (at + 3) + " by " + value, bytes, check);
            System.arraycopy(good, at, bytes, at, Integer.BYTES);
        }
        return variants.length;
    }

    /** Returns ascending numbers below places * waysEach, at most budget of them: the edges first, then a sample. */
    private static int[] variants(int places, int waysEach, long seed, int budget) {
        if (budget < 1) {
            throw new IllegalArgumentException("no budget: " + budget);
        }
        int total = Math.multiplyExact(places, waysEach);
        if (total <= budget) {
            return ascending(0, total);
        }
        int edge = Math.min(EDGE_BYTES * waysEach, budget / 4);
        int[] first = ascending(0, edge);
        int[] last = ascending(total - edge, total);
        int[] sample = new SplittableRandom(seed)
                .ints(edge, total - edge)
                .distinct()
                .limit(Math.min(budget - 2 * edge, total - 2 * edge))
                .sorted()
                .toArray();
        int[] all = Arrays.copyOf(first, budget);
        System.arraycopy(sample, 0, all, edge, sample.length);
        System.arraycopy(last, 0, all, budget - edge, edge);
        return all;
    }

    private static int[] ascending(int from, int to) {
        int[] numbers = new int[to - from];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = from + i;
        }
        return numbers;
    }

    private static void run(String damage, byte[] bytes, Check check) {
        try {
            check.accept(damage, bytes);
        } catch (Exception | Error e) {
            throw new AssertionError(damage + ": " + e, e);
        }
    }
}
