package io.coplane.worker.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sizes, shares and durations; vectors of worker.md 4.1. */
final class ValueSyntaxTest {
    @ParameterizedTest
    @CsvSource({
        "1KB, 1024",
        "1KiB, 1024",
        "1K, 1024",
        "1.5MiB, 1572864",
        "1048576, 1048576",
        "1048576B, 1048576",
        "2GB, 2147483648",
        "3TiB, 3298534883328",
        "1PB, 1125899906842624",
        "0.3B, 0",
        "1.9999KB, 2047",
        "1e3, 1000",
        "1E3KB, 1024000",
        "+5, 5",
        "'  7  MB ', 7340032",
        "9223372036854775807, 9223372036854775807"
    })
    void sizesAreNumbersWithUnits(String text, long bytes) {
        assertThat(SizeText.parse(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1kb", "1 XB", "1KBs"})
    void anUnknownUnitNamesThoseThatAre(String text) {
        assertThatThrownBy(() -> SizeText.parse(text))
                .isInstanceOf(CoplaneException.class)
                .hasMessageContaining("only B, KB, KiB, MB, MiB, GB, GiB, TB, TiB, PB, and PiB are supported");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "KB",
                "1.2.3MB",
                "-1KB",
                "5EB",
                "9223372036854775808",
                "1e999999999",
                "1e400PB",
                "1e-999999999B.",
                "e"
            })
    void whatIsNoSizeIsRefused(String text) {
        assertThatThrownBy(() -> SizeText.parse(text)).isInstanceOf(CoplaneException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0KiB",
        "1, 1B",
        "1023, 1023B",
        "1024, 1KiB",
        "1536, 1536B",
        "1572864, 1536KiB",
        "1048576, 1MiB",
        "34359738368, 32GiB",
        "1125899906842624, 1PiB",
        "1152921504606846976, 1024PiB"
    })
    void sizesAreWrittenInTheLargestUnitThatDivides(long bytes, String text) {
        assertThat(SizeText.format(bytes)).isEqualTo(text);
        assertThat(SizeText.parse(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({"80%, 800", "0%, 0", "12.55%, 125", "150%, 1500", "1KB, 1024", "' 50 % ', 500"})
    void sharesResolveAgainstTheWhole(String text, long bytes) {
        assertThat(SizeOrPercent.parse(text).resolve(1000)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"%", "x%", "-1%", "NaN%", "Infinity%"})
    void whatIsNoShareIsRefused(String text) {
        assertThatThrownBy(() -> SizeOrPercent.parse(text)).isInstanceOf(CoplaneException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "1h30m, 5400000000",
        "10m, 600000000",
        "1d, 86400000000",
        "1d2h3m4s5ms6us, 93784005006",
        "1.5s, 1500000",
        "0.0000005s, 0",
        "500ms, 500000",
        "7us, 7",
        "'1h 2s', 3602000000",
        "0s, 0"
    })
    void durationsAreParts(String text, long micros) {
        assertThat(DurationText.parse(text)).isEqualTo(Duration.ofNanos(micros * 1000));
    }

    @Test
    void partsInTheWrongOrderAreNamed() {
        assertThatThrownBy(() -> DurationText.parse("5m1h"))
                .isInstanceOf(CoplaneException.class)
                .hasMessageContaining("d, h, m, s, ms, us should occur in given order.");
        assertThatThrownBy(() -> DurationText.parse("1s1s")).hasMessageContaining("in given order");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"5", "s", "1x", "1m5", "-1s", "1e999999s", "5u", "1,5s", "40000d", "1e-2000000000s", "\u0661s"})
    void whatIsNoDurationIsRefused(String text) {
        assertThatThrownBy(() -> DurationText.parse(text)).isInstanceOf(CoplaneException.class);
    }
}
