package io.coplane.types.decimal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.types.EvalException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Against the numbers: whatever comes back OK must be exact. */
class DecimalTest {
    private static final int ROUNDS = 20_000;

    private final Decimal l = new Decimal();
    private final Decimal r = new Decimal();
    private final Decimal out = new Decimal();

    private static BigDecimal number(Decimal value) {
        return new BigDecimal(value.plainText());
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void sumsDifferencesAndProductsAreExact(long seed) {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < ROUNDS; i++) {
            RandomDecimals.next(random, l);
            RandomDecimals.next(random, r);
            BigDecimal left = number(l);
            BigDecimal right = number(r);

            if (out.setSum(l, r) == DecimalStatus.OK) {
                assertThat(number(out)).isEqualByComparingTo(left.add(right));
                assertThat(out.fracCount()).isIn(0, Math.max(l.fracCount(), r.fracCount()));
                assertThat(out.resultFracCount()).isEqualTo(Math.max(l.resultFracCount(), r.resultFracCount()));
            }
            if (out.setDifference(l, r) == DecimalStatus.OK) {
                assertThat(number(out)).isEqualByComparingTo(left.subtract(right));
            }
            boolean productFits = l.fracCount() + r.fracCount() <= Decimal.MAX_PRODUCT_FRACTION;
            if (out.setProduct(l, r) == DecimalStatus.OK && productFits) {
                assertThat(number(out)).isEqualByComparingTo(left.multiply(right));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void quotientsAreCutAfterWholeWords(long seed) {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < ROUNDS; i++) {
            RandomDecimals.next(random, l);
            RandomDecimals.next(random, r);
            int increment = random.nextInt(31);

            DecimalStatus status = out.setQuotient(l, r, increment);

            if (r.isZero()) {
                assertThat(status).isNull();
            } else if (status != DecimalStatus.OVERFLOW) {
                BigDecimal exact = number(l).divide(number(r), out.fracCount(), RoundingMode.DOWN);
                assertThat(number(out)).as("%s / %s, %d", l, r, increment).isEqualByComparingTo(exact);
                assertThat(out.resultFracCount()).isEqualTo(Math.min(30, l.resultFracCount() + increment));
                if (!l.isZero()) {
                    assertThat(out.fracCount() % 9).isZero();
                    assertThat(out.intCount() % 9).isZero();
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void remaindersAreExact(long seed) {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < ROUNDS; i++) {
            RandomDecimals.next(random, l);
            RandomDecimals.next(random, r);
            if (r.isZero()) {
                assertThat(out.setRemainder(l, r)).isNull();
                continue;
            }
            BigInteger quotient = number(l).divideToIntegralValue(number(r)).toBigInteger();

            DecimalStatus status = out.setRemainder(l, r);

            if (status == DecimalStatus.OK && quotient.abs().toString().length() <= 81) {
                assertThat(number(out))
                        .as("%s %% %s", l, r)
                        .isEqualByComparingTo(number(l).remainder(number(r)));
                assertThat(out.isZero() && out.isNegative()).isFalse();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void roundingAgreesWithTheNumbers(long seed) {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < ROUNDS; i++) {
            RandomDecimals.next(random, l);
            int frac = random.nextInt(-20, 31);
            boolean halfUp = random.nextBoolean();
            BigDecimal exact = number(l).setScale(frac, halfUp ? RoundingMode.HALF_UP : RoundingMode.DOWN);
            out.set(l);

            DecimalStatus status = out.round(frac, halfUp ? RoundMode.HALF_UP : RoundMode.TRUNCATE);

            if (status == DecimalStatus.OK) {
                assertThat(number(out)).as("round(%s, %d)", l, frac).isEqualByComparingTo(exact);
                if (l.intCount() + frac >= 0) {
                    assertThat(out.fracCount()).isEqualTo(Math.max(0, frac));
                    assertThat(out.resultFracCount()).isEqualTo(Math.max(0, frac));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void doublesComeBack(long seed) {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < ROUNDS; i++) {
            double value = (random.nextDouble() - 0.5) * Math.pow(10, random.nextInt(-15, 40));

            out.setDouble(value);

            assertThat(out.toDouble()).isEqualTo(value);
            BigDecimal shortest = new BigDecimal(Double.toString(value)).stripTrailingZeros();
            BigDecimal shown = new BigDecimal(out.plainText()).stripTrailingZeros();
            assertThat(shown.precision()).isEqualTo(shortest.precision());
            assertThat(shown.subtract(new BigDecimal(value)).abs())
                    .isEqualByComparingTo(
                            shortest.subtract(new BigDecimal(value)).abs()); // the other one of a tie
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1e21, 1000000000000000000000, 22, 0",
        "1e-7, 0.0000001, 1, 7",
        "-0.0, 0, 1, 0",
        "1.5, 1.5, 1, 1",
        "100, 100, 3, 0"
    })
    void doubleTextIsPositional(double value, String text, int intCount, int fracCount) {
        out.setDouble(value);

        assertThat(out.plainText()).isEqualTo(text);
        assertThat(out.intCount()).isEqualTo(intCount);
        assertThat(out.fracCount()).isEqualTo(fracCount);
    }

    @Test
    void doublesOfMoreThanNineWordsFail() {
        assertThatThrownBy(() -> out.setDouble(1e100)).isInstanceOf(EvalException.class);
        assertThatThrownBy(() -> out.setDouble(1e-100)).isInstanceOf(EvalException.class);
        assertThatThrownBy(() -> out.setDouble(Double.NaN)).hasMessageContaining("can't be convert to decimal");
    }

    /** Sections 5.4.2, 5.4.6: headers that texts don't show. */
    @Test
    void headersFollowTheRules() {
        l.parse("00123.450");
        assertThat(RandomDecimals.describe(l)).isEqualTo("123.450 int=5 frac=3 resultFrac=3 negative=false");

        l.setLong(-5);
        assertThat(RandomDecimals.describe(l)).isEqualTo("-5 int=9 frac=0 resultFrac=0 negative=true");

        l.parse("1");
        r.parse("3");
        out.setQuotient(l, r, 4);
        assertThat(RandomDecimals.describe(out)).isEqualTo("0.333333333 int=0 frac=9 resultFrac=4 negative=false");
        assertThat(out.displayText()).isEqualTo("0.3333");

        l.parse(".1");
        r.parse("-.10");
        out.setSum(l, r);
        assertThat(RandomDecimals.describe(out)).isEqualTo("0 int=1 frac=0 resultFrac=2 negative=false");
    }

    @ParameterizedTest
    @CsvSource({"0, 1, 1", "000.00, 2, 2", "12.34, 4, 2", "0.1, 1, 1", "1000000000, 10, 0"})
    void precisionLeavesLeadingZerosOut(String text, int prec, int frac) {
        l.parse(text);

        assertThat(l.precision()).isEqualTo(Math.max(prec, Math.max(1, frac)));
        assertThat(l.fracCount()).isEqualTo(text.equals("0") ? 0 : frac);
    }

    @Test
    void parseSaysWhatIsMissing() {
        assertThatThrownBy(() -> l.parse("  ")).hasMessageContaining("\"  \" is empty");
        assertThatThrownBy(() -> l.parse("abc")).hasMessageContaining("\"abc\" is invalid number");
    }

    @Test
    void equalNumbersHaveEqualHashes() {
        l.parse("4");
        r.parse("0004.000000000000");

        assertThat(l.numericHash()).isEqualTo(r.numericHash());
        assertThat(l.compareTo(r)).isZero();
    }
}
