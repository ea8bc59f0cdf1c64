package io.coplane.testing;

import java.security.SecureRandom;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Seeds of random tests: some that never change and a fresh one a run, so that tests repeat and yet keep looking.
 *
 * <pre>
 * &#64;ParameterizedTest
 * &#64;MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
 * void roundTrips(long seed) {
 *     var random = new SplittableRandom(seed);
 * </pre>
 *
 * The seed is in the test's name; to repeat a failure of the fresh one, give it as {@code -Dcoplane.seed=SEED}.
 */
public final class Seeds {
    /** System property that pins the fresh seed, a decimal long. Unset or empty: a new one a run. */
    public static final String SEED_PROPERTY = "coplane.seed";

    private static final long[] FIXED = {0, 1, 2, 3, 42, 20_261_129, -1, Long.MIN_VALUE};

    private Seeds() {}

    /** Returns the fixed seeds and the fresh one. */
    public static Stream<Long> fixedAndFresh() {
        return LongStream.concat(LongStream.of(FIXED), LongStream.of(fresh())).boxed();
    }

    /** Returns the fresh seed: the same all through a run of the JVM, printed when first asked for. */
    public static long fresh() {
        return Fresh.SEED;
    }

    /** Returns the pinned seed, or a new one. */
    static long pinnedOrNew(String pinned) {
        return pinned.isBlank() ? new SecureRandom().nextLong() : Long.parseLong(pinned.strip());
    }

    /** Drawn when first used. */
    private static final class Fresh {
        static final long SEED = pinnedOrNew(System.getProperty(SEED_PROPERTY, ""));

        static {
            System.out.println("fresh seed of this run: -D" + SEED_PROPERTY + "=" + SEED);
        }
    }
}
