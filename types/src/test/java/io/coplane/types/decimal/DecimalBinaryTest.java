package io.coplane.types.decimal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.column.DecimalColumn;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class DecimalBinaryTest {
    private final ByteSink sink = new ByteSink(MemoryGuard.unlimited());
    private final Decimal value = new Decimal();

    /** coprocessor.md 4.7, vectors. */
    @ParameterizedTest
    @CsvSource({
        "-10.55, 4, 2, 75c8",
        "12345, 5, 0, 803039",
        "123.45, 10, 3, 8000007b01c2",
        "-123.45, 20, 10, 7fffffff84e52d8b7fff",
        "1234567890.1234, 14, 4, 810dfb38d204d2",
        "-1234567890.1234, 14, 4, 7ef204c72dfb2d",
        "1, 1, 0, 81",
        "0, 1, 0, 80",
        "12.34, 4, 2, 8c22",
        "0.1234, 4, 4, 84d2",
        "10.111, 5, 3, 8a006f",
        "0.0123456789012345678912345, 30, 25, 80000000bc614e35b7bf870087fdd9"
    })
    void writesAndReadsTheVectors(String text, int prec, int frac, String hex) {
        value.parse(text);

        assertThat(DecimalBinary.write(value, prec, frac, sink)).isEqualTo(DecimalStatus.OK);

        assertThat(HexFormat.of().formatHex(sink.copyBytes())).isEqualTo(hex);
        var read = new Decimal();
        byte[] bytes = withHeader(prec, frac, hex);
        DecimalBinary.read(bytes, 0, bytes.length, read);
        assertThat(read.compareTo(value)).isZero();
        assertThat(read.fracCount()).isEqualTo(frac);
        assertThat(read.resultFracCount()).isEqualTo(frac);
    }

    /** coprocessor.md 4.7, test cases. */
    @ParameterizedTest
    @CsvSource({
        "12345, 10, 3, OK, 12345.000",
        "123.45, 10, 3, OK, 123.450",
        ".00012345000098765, 15, 14, TRUNCATED, 0.00012345000098",
        ".00012345000098765, 22, 20, OK, 0.00012345000098765000",
        "-.000000012345000098765, 30, 20, TRUNCATED, -0.00000001234500009876",
        "1234500009876.5, 30, 5, OK, 1234500009876.50000",
        "111111111.11, 10, 2, OVERFLOW, 11111111.11",
        "000000000.01, 7, 3, OK, 0.010",
        "1000, 3, 0, OVERFLOW, 0",
        "10000000000000000000.23, 23, 2, OK, 10000000000000000000.23"
    })
    void writesWithAPrecisionThatMayNotFit(String text, int prec, int frac, DecimalStatus status, String back) {
        value.parse(text);

        assertThat(DecimalBinary.write(value, prec, frac, sink)).isEqualTo(status);

        byte[] bytes = withHeader(prec, frac, HexFormat.of().formatHex(sink.copyBytes()));
        DecimalBinary.read(bytes, 0, bytes.length, value);
        assertThat(value.plainText()).isEqualTo(back);
    }

    @ParameterizedTest
    @CsvSource({"0, 010080", "00.0, 010180", "-10.55, 040275c8", "0012, 02008c", "0.050, 03038032"})
    void writesTheOwnPrecision(String text, String hex) {
        value.parse(text);

        DecimalBinary.write(value, sink);

        assertThat(HexFormat.of().formatHex(sink.copyBytes())).isEqualTo(hex);
    }

    @Test
    void writesTheChunkForm() {
        value.parse("123.456");

        DecimalBinary.writeChunk(value, sink);

        assertThat(HexFormat.of().formatHex(sink.copyBytes())).isEqualTo("030303007b00000000022e1b" + "00".repeat(28));
        assertThat(sink.length()).isEqualTo(DecimalBinary.CHUNK_BYTES);
    }

    @Test
    void zeroWithoutDigitsReadsAsOneDigit() {
        byte[] bytes = HexFormat.of().parseHex("050080000000");

        DecimalBinary.read(bytes, 0, bytes.length, value);

        assertThat(value.intCount()).isEqualTo(1);
        assertThat(value.plainText()).isEqualTo("0");
    }

    @Test
    void leadingZeroGroupsDontCountAsDigits() {
        byte[] bytes = withHeader(20, 10, "80000000000000000000");

        DecimalBinary.read(withHeader(20, 10, "8000bc614e0000000700"), 0, 12, value);
        assertThat(value.intCount()).isEqualTo(9);

        DecimalBinary.read(bytes, 0, bytes.length, value);
        assertThat(value.intCount()).isZero();
        assertThat(value.plainText()).isEqualTo("0.0000000000");
    }

    /** prec < frac; no digits; digits cut; more than nine words; a group of ten digits; a partial group too large. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "0102808080",
                "0100",
                "05",
                "05008030",
                "520081818181",
                "0900ffffffff",
                "1200bb9aca0000000000",
                "0101ff"
            })
    void rejectsMalformedBytes(String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        var column = new DecimalColumn();
        column.reset(1);

        assertThatThrownBy(() -> DecimalBinary.read(bytes, 0, bytes.length, value))
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_DATUM));
        assertThatThrownBy(() -> new DecimalReader().read(bytes, 0, bytes.length, column, 0))
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_DATUM));
    }

    @Test
    void saysWhatIsWrongWithThePrecision() {
        byte[] bytes = HexFormat.of().parseHex("0102808080");

        assertThatThrownBy(() -> DecimalBinary.read(bytes, 0, bytes.length, value))
                .hasMessageContaining("invalid decimal, precision 1 < frac_cnt 2");
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void roundTripsAndTheColumnFormAgrees(long seed) {
        var random = new SplittableRandom(seed);
        var column = new DecimalColumn();
        column.reset(1);
        var read = new Decimal();
        var fromColumn = new Decimal();
        var reader = new DecimalReader();
        var scratch = new Decimal();
        for (int i = 0; i < 5_000; i++) {
            RandomDecimals.next(random, value);
            int prec = Math.min(81, Math.max(value.precision(), 1) + random.nextInt(12));
            int frac = value.fracCount();
            if (Decimal.wordsOf(prec - frac) + Decimal.wordsOf(frac) > Decimal.WORDS) {
                continue;
            }
            sink.truncate(0);
            sink.putByte(prec);
            sink.putByte(frac);
            assertThat(DecimalBinary.write(value, prec, frac, sink)).isEqualTo(DecimalStatus.OK);

            DecimalBinary.read(sink.bytes(), 0, sink.length(), read);
            reader.read(sink.bytes(), 0, sink.length(), column, 0);
            DecimalColumns.load(column, 0, fromColumn);

            assertThat(read.plainText()).isEqualTo(value.plainText());
            assertThat(RandomDecimals.describe(fromColumn)).isEqualTo(RandomDecimals.describe(read));

            sink.truncate(0);
            DecimalBinary.write(read, sink);
            byte[] fromWords = sink.copyBytes();
            sink.truncate(0);
            DecimalBinary.write(column, 0, sink, scratch);
            assertThat(sink.copyBytes()).as(RandomDecimals.describe(read)).isEqualTo(fromWords);
        }
    }

    private static byte[] withHeader(int prec, int frac, String hex) {
        return HexFormat.of()
                .parseHex(
                        HexFormat.of().toHexDigits((byte) prec) + HexFormat.of().toHexDigits((byte) frac) + hex);
    }
}
