package io.coplane.cop.expr.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Expected values are sums of series in decimals of 60 digits. */
class PreciseMathTest {
    private static final MathContext DIGITS = new MathContext(60);
    private static final int ROUNDS = 2_000;

    private final PreciseMath math = new PreciseMath();

    private static BigDecimal exp(BigDecimal x) {
        BigDecimal small = x.divide(BigDecimal.valueOf(1024), DIGITS);
        BigDecimal term = BigDecimal.ONE;
        BigDecimal sum = term;
        for (int n = 1; n < 40; n++) {
            term = term.multiply(small, DIGITS).divide(BigDecimal.valueOf(n), DIGITS);
            sum = sum.add(term, DIGITS);
        }
        return sum.pow(1024, DIGITS);
    }

    private static BigDecimal log(BigDecimal x) {
        BigDecimal y = new BigDecimal(Math.log(x.doubleValue()));
        for (int i = 0; i < 3; i++) {
            y = y.add(x.divide(exp(y), DIGITS).subtract(BigDecimal.ONE), DIGITS);
        }
        return y;
    }

    private static BigDecimal sin(BigDecimal x) {
        BigDecimal term = x;
        BigDecimal sum = term;
        for (int n = 3; n < 80; n += 2) {
            term = term.multiply(x, DIGITS).multiply(x, DIGITS).divide(BigDecimal.valueOf(-(long) n * (n - 1)), DIGITS);
            sum = sum.add(term, DIGITS);
        }
        return sum;
    }

    @Test
    void exponentsAreTheNearest() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < ROUNDS; i++) {
            double x = random.nextDouble(-30, 30);
            assertThat(math.exp(x)).isEqualTo(exp(new BigDecimal(x)).doubleValue());
        }
    }

    @Test
    void logarithmsAreTheNearest() {
        SplittableRandom random = new SplittableRandom(2);
        for (int i = 0; i < ROUNDS; i++) {
            double x = i % 2 == 0 ? random.nextDouble(0, 1000) : 1 + random.nextDouble(-1, 1) * Math.scalb(1, -i % 50);
            assertThat(math.log(x)).as("%s", x).isEqualTo(log(new BigDecimal(x)).doubleValue());
            double two =
                    log(new BigDecimal(x)).divide(log(BigDecimal.TWO), DIGITS).doubleValue();
            assertThat(math.log2(x)).as("%s", x).isEqualTo(two);
        }
    }

    @Test
    void powersAreTheNearest() {
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < ROUNDS; i++) {
            double x = random.nextDouble(0, 100);
            double y = random.nextDouble(-20, 20);
            double wanted = exp(log(new BigDecimal(x)).multiply(new BigDecimal(y), DIGITS))
                    .doubleValue();
            assertThat(math.pow(x, y)).isEqualTo(wanted);
        }
    }

    @Test
    void sinesAreTheNearestAndTheOthersFollow() {
        SplittableRandom random = new SplittableRandom(4);
        for (int i = 0; i < ROUNDS; i++) {
            double x = random.nextDouble(-10, 10);
            assertThat(math.sin(x)).isEqualTo(sin(new BigDecimal(x)).doubleValue());
            assertThat(math.cos(x)).isCloseTo(Math.cos(x), org.assertj.core.data.Offset.offset(0x1p-52));
            assertThat(Math.abs(math.tan(x) - Math.tan(x))).isLessThanOrEqualTo(2 * Math.ulp(math.tan(x)));
        }
        assertThat(math.sin(1e22)).isEqualTo(-0.8522008497671888);
        assertThat(math.cos(1e22)).isEqualTo(0.523214785395139);
    }

    @Test
    void inverseFunctionsAreTheNearest() {
        SplittableRandom random = new SplittableRandom(5);
        for (int i = 0; i < ROUNDS; i++) {
            double x = random.nextDouble(-1, 1);
            double angle = math.asin(x);
            BigDecimal error = sin(new BigDecimal(angle)).subtract(new BigDecimal(x));
            assertThat(error.abs().doubleValue()).isLessThanOrEqualTo(0.5000001 * Math.ulp(angle));
            double y = random.nextDouble(-50, 50);
            double turn = math.atan2(y, x);
            assertThat(Math.abs(turn - Math.atan2(y, x))).isLessThanOrEqualTo(2 * Math.ulp(turn));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 1, 0",
        "1, 0, 1.5707963267948966",
        "-1, 0, -1.5707963267948966",
        "0, -1, 3.141592653589793",
        "48, 3.4028234663852886E38, 1.4105933050646579E-37",
        "3.4028234663852886E38, 48, 1.5707963267948966"
    })
    void arcTangentsOfTwoArguments(double y, double x, double wanted) {
        assertThat(math.atan2(y, x)).isEqualTo(wanted);
    }

    @ParameterizedTest
    @CsvSource({"2, 10, 1024", "10, -3, 0.001", "-2, 3, -8", "1, Infinity, 1", "-1, Infinity, 1", "4, 0.5, 2", "0, 0, 1"
    })
    void powersOfPlainNumbers(double x, double y, double wanted) {
        assertThat(math.pow(x, y)).isEqualTo(wanted);
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "10, 1", "1000, 3", "0.001, -3", "2, 0.3010299956639812"})
    void decimalLogarithms(double x, double wanted) {
        assertThat(math.log10(x)).isCloseTo(wanted, org.assertj.core.data.Offset.offset(Math.ulp(wanted)));
    }

    @Test
    void keepsWhatIsNoOrdinaryNumber() {
        assertThat(math.sin(Double.NaN)).isNaN();
        assertThat(math.tan(Double.POSITIVE_INFINITY)).isNaN();
        assertThat(math.asin(1.5)).isNaN();
        assertThat(math.log(0)).isInfinite();
        assertThat(math.log(-1)).isNaN();
        assertThat(math.exp(1000)).isInfinite();
        assertThat(math.exp(-1000)).isZero();
        assertThat(math.atan(Double.POSITIVE_INFINITY)).isEqualTo(Math.PI / 2);
    }
}
