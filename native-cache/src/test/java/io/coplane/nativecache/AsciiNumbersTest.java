package io.coplane.nativecache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class AsciiNumbersTest {
    private static final List<Function<String, Number>> WHOLE = List.of(
            AsciiNumbers::parseInt,
            AsciiNumbers::parseUnsignedInt,
            AsciiNumbers::parseLong,
            AsciiNumbers::parseUnsignedLong);
    private static final List<Function<String, Number>> DECIMAL =
            List.of(AsciiNumbers::parseDecimal, AsciiNumbers::parseDouble);

    @Test
    void takesWhatTheReferenceTakes() {
        assertThat(AsciiNumbers.parseInt("-2147483648")).isEqualTo(Integer.MIN_VALUE);
        assertThat(AsciiNumbers.parseUnsignedInt("4294967295")).isEqualTo(-1);
        assertThat(AsciiNumbers.parseUnsignedInt("+007")).isEqualTo(7);
        assertThat(AsciiNumbers.parseLong("-9223372036854775808")).isEqualTo(Long.MIN_VALUE);
        assertThat(AsciiNumbers.parseUnsignedLong("18446744073709551615")).isEqualTo(-1);
        assertThat(AsciiNumbers.parseDecimal("1.5e3")).isEqualByComparingTo(BigDecimal.valueOf(1500));
        assertThat(AsciiNumbers.parseDouble(".5")).isEqualTo(0.5);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "1 ",
                "\u0664\u0662",
                "1\u0662",
                "\uff11",
                "\ud835\udfcf",
                "0x10",
                "1L",
                "--1",
                "+",
                "1_0",
                "\u22121"
            })
    void refusesEverythingElse(String text) {
        WHOLE.forEach(parser -> assertThatThrownBy(() -> parser.apply(text)).isInstanceOf(NumberFormatException.class));
        DECIMAL.forEach(
                parser -> assertThatThrownBy(() -> parser.apply(text)).isInstanceOf(NumberFormatException.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1d", "1f", "0x1p3", "NaN", "Infinity", "-Infinity", "1e", "1.2.3", ".", "\u0664.5"})
    void refusesWhatIsNoDecimal(String text) {
        DECIMAL.forEach(
                parser -> assertThatThrownBy(() -> parser.apply(text)).isInstanceOf(NumberFormatException.class));
    }

    @Test
    void refusesWhatIsOutOfBounds() {
        assertThatThrownBy(() -> AsciiNumbers.parseInt("2147483648")).isInstanceOf(NumberFormatException.class);
        assertThatThrownBy(() -> AsciiNumbers.parseUnsignedInt("4294967296")).isInstanceOf(NumberFormatException.class);
        assertThatThrownBy(() -> AsciiNumbers.parseUnsignedInt("-1")).isInstanceOf(NumberFormatException.class);
        assertThatThrownBy(() -> AsciiNumbers.parseLong("9223372036854775808"))
                .isInstanceOf(NumberFormatException.class);
        assertThatThrownBy(() -> AsciiNumbers.parseUnsignedLong("18446744073709551616"))
                .isInstanceOf(NumberFormatException.class);
        assertThatThrownBy(() -> AsciiNumbers.parseDouble("1e400")).isInstanceOf(NumberFormatException.class);
    }
}
