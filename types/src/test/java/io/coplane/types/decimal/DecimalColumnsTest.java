package io.coplane.types.decimal;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalException;
import io.coplane.types.column.DecimalColumn;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The flat form must not show: every result has the value and the header of the word arithmetic. */
class DecimalColumnsTest {
    private static final int ROUNDS = 40_000;

    private final DecimalColumns.Scratch scratch = new DecimalColumns.Scratch();
    private final DecimalColumn left = one();
    private final DecimalColumn right = one();
    private final DecimalColumn out = one();
    private final Decimal l = new Decimal();
    private final Decimal r = new Decimal();
    private final Decimal expected = new Decimal();
    private final Decimal actual = new Decimal();

    private static DecimalColumn one() {
        var column = new DecimalColumn();
        column.reset(1);
        return column;
    }

    private void next(SplittableRandom random) {
        RandomDecimals.next(random, l);
        RandomDecimals.next(random, r);
        DecimalColumns.store(l, left, 0);
        DecimalColumns.store(r, right, 0);
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void storeAndLoadKeepEverything(long seed) {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < ROUNDS; i++) {
            next(random);

            DecimalColumns.load(left, 0, actual);

            assertThat(RandomDecimals.describe(actual)).isEqualTo(RandomDecimals.describe(l));
        }
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void addAndSubtractAgreeWithWords(long seed) {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < ROUNDS; i++) {
            next(random);
            boolean plus = random.nextBoolean();
            DecimalStatus status = plus ? expected.setSum(l, r) : expected.setDifference(l, r);
            if (status != DecimalStatus.OK) {
                continue;
            }

            if (plus) {
                DecimalColumns.add(left, right, 1, out, scratch);
            } else {
                DecimalColumns.subtract(left, right, 1, out, scratch);
            }

            DecimalColumns.load(out, 0, actual);
            assertThat(RandomDecimals.describe(actual))
                    .as("%s %s %s", RandomDecimals.describe(l), plus ? "+" : "-", RandomDecimals.describe(r))
                    .isEqualTo(RandomDecimals.describe(expected));
        }
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void multiplyAgreesWithWords(long seed) {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < ROUNDS; i++) {
            next(random);
            if (expected.setProduct(l, r) == DecimalStatus.OVERFLOW) {
                continue;
            }

            DecimalColumns.multiply(left, right, 1, out, scratch);

            DecimalColumns.load(out, 0, actual);
            assertThat(RandomDecimals.describe(actual))
                    .as("%s * %s", RandomDecimals.describe(l), RandomDecimals.describe(r))
                    .isEqualTo(RandomDecimals.describe(expected));
            assertThat(chunk(actual))
                    .as("%s * %s", RandomDecimals.describe(l), RandomDecimals.describe(r))
                    .isEqualTo(chunk(expected));
        }
    }

    private static String chunk(Decimal value) {
        try (var sink = new ByteSink(MemoryGuard.unlimited())) {
            DecimalBinary.writeChunk(value, sink);
            return HexFormat.of().formatHex(sink.copyBytes());
        }
    }

    /** Recorded answers: the reference drops leading zero words of a product by moving the others, and the chunk shows the old ones behind. */
    @Test
    void productsLeaveWordsBehind() {
        l.setLong(5_992_156);
        r.setLong(-1);
        DecimalColumns.store(l, left, 0);
        DecimalColumns.store(r, right, 0);

        DecimalColumns.multiply(left, right, 1, out, scratch);

        DecimalColumns.load(out, 0, actual);
        assertThat(chunk(actual)).isEqualTo("09000001dc6e5b00dc6e5b00" + "00".repeat(28));
        actual.negate();
        DecimalColumns.store(actual, out, 0);
        DecimalColumns.load(out, 0, actual);
        assertThat(chunk(actual)).isEqualTo("09000000dc6e5b00dc6e5b00" + "00".repeat(28));
        l.setLong(0);
        assertThat(actual.setProduct(l, r)).isEqualTo(DecimalStatus.OK);
        assertThat(chunk(actual)).isEqualTo("01000000" + "00".repeat(36));
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void compareHashAndDoubleAgreeWithWords(long seed) {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < ROUNDS; i++) {
            next(random);

            assertThat(DecimalColumns.compare(left, 0, right, 0, scratch)).isEqualTo(l.compareTo(r));
            assertThat(DecimalColumns.numericHash(left, 0, scratch)).isEqualTo(l.numericHash());
            assertThat(DecimalColumns.toDouble(left, 0, scratch)).isEqualTo(Double.parseDouble(l.plainText()));
            assertThat(DecimalColumns.isZero(left, 0, scratch)).isEqualTo(l.isZero());
        }
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void integersAgreeWithWords(long seed) {
        var random = new SplittableRandom(seed);
        long[] edges = {
            0,
            1,
            -1,
            999_999_999,
            1_000_000_000,
            -1_000_000_000,
            999_999_999_999_999_999L,
            1_000_000_000_000_000_000L,
            -1_000_000_000_000_000_000L,
            Long.MAX_VALUE,
            Long.MIN_VALUE
        };
        for (int i = 0; i < ROUNDS; i++) {
            long value = i < edges.length ? edges[i] : random.nextLong() >> random.nextInt(64);

            DecimalColumns.setLong(left, 0, value, scratch);
            DecimalColumns.setUlong(right, 0, value, scratch);

            DecimalColumns.load(left, 0, actual);
            l.setLong(value);
            assertThat(RandomDecimals.describe(actual)).isEqualTo(RandomDecimals.describe(l));
            assertThat(l.plainText()).isEqualTo(Long.toString(value));
            assertThat(l.toLong()).isEqualTo(DecimalStatus.OK);
            assertThat(l.integer()).isEqualTo(value);
            DecimalColumns.load(right, 0, actual);
            r.setUlong(value);
            assertThat(RandomDecimals.describe(actual)).isEqualTo(RandomDecimals.describe(r));
            assertThat(r.plainText()).isEqualTo(Long.toUnsignedString(value));
            assertThat(r.toUlong()).isEqualTo(DecimalStatus.OK);
            assertThat(r.integer()).isEqualTo(value);
        }
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void sumAgreesWithWords(long seed) {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < 200; i++) {
            int rows = random.nextInt(100);
            var values = new DecimalColumn();
            values.reset(rows);
            fill(random, values, rows);
            var sum = new DecimalSum();
            var words = new Decimal();
            DecimalStatus worst = DecimalStatus.OK;
            int count = 0;
            for (int row = 0; row < rows && worst == DecimalStatus.OK; row++) {
                if (!values.isNull(row)) {
                    DecimalColumns.load(values, row, r);
                    l.set(words);
                    worst = words.setSum(l, r);
                    count++;
                }
            }

            try {
                int split = random.nextInt(rows + 1);
                int added = sum.add(values, 0, split) + sum.add(values, split, rows);
                sum.get(actual);

                assertThat(worst).isEqualTo(DecimalStatus.OK);
                assertThat(added).isEqualTo(count);
                assertThat(RandomDecimals.describe(actual)).isEqualTo(RandomDecimals.describe(words));
            } catch (EvalException e) {
                assertThat(worst).isNotEqualTo(DecimalStatus.OK);
            }
        }
    }

    /** Columns of one scale, as tables have them, and of mixed ones; sometimes with NULL. */
    private void fill(SplittableRandom random, DecimalColumn values, int rows) {
        boolean oneScale = random.nextInt(3) != 0;
        boolean nulls = random.nextBoolean();
        boolean signs = random.nextBoolean();
        long bound = 1L << random.nextInt(3, 60);
        int frac = random.nextInt(7);
        for (int row = 0; row < rows; row++) {
            if (oneScale) {
                long unscaled = signs ? random.nextLong(-bound, bound) : random.nextLong(bound);
                l.parse(new java.math.BigDecimal(java.math.BigInteger.valueOf(unscaled), frac).toPlainString());
            } else {
                RandomDecimals.next(random, l);
            }
            DecimalColumns.store(l, values, row);
            if (nulls && random.nextInt(5) == 0) {
                values.setNull(row);
            }
        }
    }

    @Test
    void flatFormIsTakenWhereItFits() {
        l.parse("12345.67");

        DecimalColumns.store(l, left, 0);

        assertThat(left.headers()[0]).isEqualTo(DecimalColumn.header(5, 2, 2, false) | DecimalColumn.FLAT);
        assertThat(left.unscaled()[0]).isEqualTo(1_234_567);
    }
}
