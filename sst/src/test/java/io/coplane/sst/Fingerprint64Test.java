package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Fingerprint64Test {
    @ParameterizedTest
    @CsvSource({
        "'', 9ae16a3b2f90404f",
        "a, b3454265b6df75e3",
        "ab, aa8d6e5242ada51e",
        "abc, 24a5b3a074e7f369",
        "abcd, 1a5502de4a1f8101",
        "abcdefgh, fee9d22990c82909",
        "hello world, 588fb7478bd6b01b",
        "key0000, 926d2f57c9883718",
        "key0001, 1cacc014db56f02d",
        "key0002, e8c37bbc706ac2ae",
        "k0000, d727ee4adade3a92",
        "abc1, 542ed4889add6c88",
        "abc2, cdbf6501d050d248",
        "abd, afb154ed8b59a777"
    })
    void hashesText(String text, String expected) {
        assertThat(HexFormat.of().toHexDigits(Fingerprint64.hash(Tables.bytes(text))))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "16, 0efd25a0a34156d4",
        "17, bbb6a6f8f20d1f1c",
        "32, 1a9d8199972cdf49",
        "33, e8756ec1cb75524e",
        "64, f58504bb53decc4b",
        "65, c6a3282c3e793dbe",
        "96, 9262c6b1d31b6c87",
        "127, ea8be9fa05393db5",
        "128, 9593a68971fec8b0",
        "129, ce8ba3741121083e",
        "192, 1b815666d6662393",
        "256, a74e41fda0d7d7f4",
        "300, aa66ce5f3e21da23"
    })
    void hashesAscendingBytesOfEveryBranch(int length, String expected) {
        byte[] bytes = new byte[length + 7];
        for (int i = 0; i < length; i++) {
            bytes[i + 3] = (byte) i;
        }

        assertThat(HexFormat.of().toHexDigits(Fingerprint64.hash(bytes, 3, length)))
                .isEqualTo(expected);
    }

    @Test
    void runsOneMoreRoundThanTheCommonVariantAtMultiplesOf64() {
        byte[] bytes = Tables.bytes("a".repeat(128));

        assertThat(Fingerprint64.hash(bytes)).isEqualTo(0xd33c42b2598ca1c9L);
    }

    @Test
    void placesFilesByTheLowByteOfTheirIdsHash() {
        var places = Stream.of(1L, 2L, 3L, 0x1234L)
                .map(id -> {
                    byte[] bytes = new byte[Long.BYTES];
                    Bytes.LE_LONG.set(bytes, 0, (long) id);
                    return HexFormat.of().toHexDigits((byte) Fingerprint64.hash(bytes));
                })
                .toList();

        assertThat(places).containsExactly("61", "89", "98", "5c");
    }
}
