package io.coplane.types.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemcomparableTest {
    private final ByteSink sink = new ByteSink(MemoryGuard.unlimited());

    private String written() {
        return HexFormat.of().formatHex(sink.copyBytes());
    }

    /** coprocessor.md 4.2. */
    @ParameterizedTest
    @CsvSource({
        "0, 8000000000000000",
        "1, 8000000000000001",
        "-1, 7fffffffffffffff",
        "-9223372036854775808, 0000000000000000"
    })
    void longs(long value, String hex) {
        Memcomparable.putLong(sink, value);

        assertThat(written()).isEqualTo(hex);
        assertThat(Memcomparable.getLong(sink.bytes(), 0)).isEqualTo(value);
    }

    /** coprocessor.md 4.2. */
    @ParameterizedTest
    @CsvSource({
        "0.0, 8000000000000000",
        "-0.0, 7fffffffffffffff",
        "1.8, bffccccccccccccd",
        "-1.8, 4003333333333332",
        "3.15, c009333333333333"
    })
    void doubles(double value, String hex) {
        Memcomparable.putDouble(sink, value);

        assertThat(written()).isEqualTo(hex);
        assertThat(Memcomparable.getDouble(sink.bytes(), 0)).isEqualTo(value);
    }

    /** coprocessor.md 4.2. */
    @ParameterizedTest
    @CsvSource({
        "'', 0000000000000000f7",
        "00, 0000000000000000f8",
        "010203, 0102030000000000fa",
        "0102030405060708, 0102030405060708ff0000000000000000f7"
    })
    void bytes(String value, String hex) {
        byte[] plain = HexFormat.of().parseHex(value);

        Memcomparable.putBytes(sink, plain, 0, plain.length);

        assertThat(written()).isEqualTo(hex);
        assertThat(Memcomparable.encodedBytes(plain.length)).isEqualTo(sink.length());
        assertThat(decode(sink.copyBytes())).isEqualTo(plain);
    }

    @Test
    void descendingBytesAreInverted() {
        Memcomparable.putBytesDesc(sink, new byte[] {1, 2, 3}, 0, 3);

        assertThat(written()).isEqualTo("fefdfcffffffffff05");
    }

    private static byte[] decode(byte[] encoded) {
        int length = Memcomparable.skipBytes(encoded, 0, encoded.length);
        assertThat(length).isEqualTo(encoded.length);
        byte[] target = new byte[length];
        return Arrays.copyOf(target, Memcomparable.getBytes(encoded, 0, length, target, 0));
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void bytesKeepTheirOrder(long seed) {
        var random = new SplittableRandom(seed);
        byte[] before = new byte[0];
        byte[] encodedBefore = HexFormat.of().parseHex("0000000000000000f7");
        for (int i = 0; i < 2_000; i++) {
            byte[] value = new byte[random.nextInt(30)];
            random.nextBytes(value);
            if (random.nextBoolean()) {
                System.arraycopy(before, 0, value, 0, Math.min(before.length, value.length));
            }
            sink.truncate(0);
            Memcomparable.putBytes(sink, value, 0, value.length);
            byte[] encoded = sink.copyBytes();

            assertThat(decode(encoded)).isEqualTo(value);
            assertThat(Integer.signum(Arrays.compareUnsigned(encoded, encodedBefore)))
                    .isEqualTo(Integer.signum(Arrays.compareUnsigned(value, before)));
            before = value;
            encodedBefore = encoded;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0102030000000000f6", "0102030400000000fa", "0000000000000001f7", "010203000000000000"})
    void rejectsBadMarkersAndPadding(String hex) {
        byte[] encoded = HexFormat.of().parseHex(hex);

        assertThatThrownBy(() -> Memcomparable.getBytes(encoded, 0, 9, new byte[8], 0))
                .isInstanceOf(CoplaneException.class)
                .hasMessageContaining("Data padding is incorrect");
    }

    @Test
    void tellsThatBytesDontEnd() {
        byte[] encoded = HexFormat.of().parseHex("0102030405060708ff");

        assertThat(Memcomparable.skipBytes(encoded, 0, 9)).isEqualTo(-1);
        assertThat(Memcomparable.skipBytes(encoded, 0, 8)).isEqualTo(-1);
    }

    /** coprocessor.md 4.2. */
    @ParameterizedTest
    @CsvSource({
        "1, 02",
        "-1, 01",
        "3, 06",
        "9223372036854775807, feffffffffffffffff01",
        "-9223372036854775808, ffffffffffffffffff01"
    })
    void signedVarints(long value, String hex) {
        sink.putVarInt(value);

        assertThat(written()).isEqualTo(hex);
        int length = Varints.length(sink.bytes(), 0, sink.length());
        assertThat(length).isEqualTo(sink.length());
        assertThat(Varints.getInt(sink.bytes(), 0, length)).isEqualTo(value);
        assertThat(Varints.length(sink.bytes(), 0, sink.length() - 1)).isZero();
    }

    @Test
    void varintsOfMoreThan64BitsHaveNoLength() {
        byte[] bytes = HexFormat.of().parseHex("ffffffffffffffffff02");
        byte[] eleven = HexFormat.of().parseHex("8080808080808080808000");

        assertThat(Varints.length(bytes, 0, 10)).isZero();
        assertThat(Varints.length(eleven, 0, 11)).isZero();
    }
}
