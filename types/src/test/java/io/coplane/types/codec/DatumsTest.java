package io.coplane.types.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DatumsTest {
    private final ByteSink sink = new ByteSink(MemoryGuard.unlimited());

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    private String written() {
        String hex = HexFormat.of().formatHex(sink.copyBytes());
        sink.truncate(0);
        return hex;
    }

    /** coprocessor.md 4.4, examples. */
    @Test
    void writesTheExamples() {
        byte[] abc = "abc".getBytes(StandardCharsets.US_ASCII);

        Datums.putVarInt(sink, 100);
        assertThat(written()).isEqualTo("08c801");
        Datums.putInt(sink, -1);
        assertThat(written()).isEqualTo("037fffffffffffffff");
        Datums.putCompactBytes(sink, abc, 0, 3);
        assertThat(written()).isEqualTo("0206616263");
        Datums.putBytes(sink, abc, 0, 3);
        assertThat(written()).isEqualTo("016162630000000000fa");
        Datums.putNull(sink);
        assertThat(written()).isEqualTo("00");
        Datums.putDuration(sink, 1_000_000_000);
        assertThat(written()).isEqualTo("07800000003b9aca00");
        Datums.putVarUint(sink, 300);
        assertThat(written()).isEqualTo("09ac02");
        Datums.putDouble(sink, 1.8);
        assertThat(written()).isEqualTo("05bffccccccccccccd");
    }

    /** coprocessor.md 9.5. */
    @Test
    void writesTheIndexKeyOfTheReference() {
        Datums.putUint(sink, 1);
        Datums.putBytes(sink, "123".getBytes(StandardCharsets.US_ASCII), 0, 3);
        Datums.putInt(sink, -1);
        Datums.putDuration(sink, 45_296_670_000_000L);

        assertThat(written())
                .isEqualTo("040000000000000001" + "013132330000000000fa" + "037fffffffffffffff" + "078000293273ecc380");
    }

    /** One of each flag, JSON of each type. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "00",
                "016162630000000000fa",
                "010102030405060708ff0000000000000000f7",
                "0200",
                "020a68656c6c6f",
                "038000000000000001",
                "040000000000000001",
                "05bffccccccccccccd",
                "06040275c8",
                "0601 00 81",
                "07800000003b9aca00",
                "08c801",
                "09ac02",
                "0a 01 01000000 1c000000 13000000 0300 0c 16000000 6b6579 05 76616c7565",
                "0a 03 02000000 1a000000 09 12000000 04 00000000 0100000000000000",
                "0a0401",
                "0a090100000000000000",
                "0a0a0100000000000000",
                "0a0b0000000000000000",
                "0a0c0161",
                "0a0dfc0161",
                "0a0e0000000000000000",
                "0a0f0000000000000000",
                "0a100000000000000000",
                "0a11000000000000000006000000",
                "14 02000000cdcc8c3fcdcc0c40",
                "1400000000"
            })
    void skipsEachDatumAndMissesEachByte(String hex) {
        byte[] datum = bytes(hex);
        byte[] padded = bytes("ff" + hex + "00");

        assertThat(Datums.skip(padded, 1, padded.length)).isEqualTo(1 + datum.length);
        for (int end = 1; end <= datum.length; end++) {
            int cut = end;
            assertThatThrownBy(() -> Datums.skip(padded, 1, cut))
                    .isInstanceOfSatisfying(
                            CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_DATUM))
                    .hasMessageEndingWith(" is too short");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {11, 12, 13, 19, 21, 250, 255})
    void rejectsUnknownFlags(int flag) {
        assertThatThrownBy(() -> Datums.skip(new byte[] {(byte) flag, 0, 0}, 0, 3))
                .hasMessage("invalid data type: unsupported data type `" + flag + "`");
    }

    @Test
    void rejectsNegativeAndHugeLengths() {
        for (String hex : new String[] {"0201", "02feffffffffffffffff01", "0a0cffffffffffffffffff01", "14ffffffff"}) {
            byte[] datum = bytes(hex);
            assertThatThrownBy(() -> Datums.skip(datum, 0, datum.length)).hasMessageEndingWith("is too short");
        }
    }

    @Test
    void splitsCommonHandles() {
        byte[] handle = bytes("038000000000000001 016100000000000000f8 00");
        int[] starts = new int[3];
        int[] lengths = new int[3];

        assertThat(Datums.split(handle, 0, handle.length, starts, lengths, 3)).isEqualTo(20);

        assertThat(starts).containsExactly(0, 9, 19);
        assertThat(lengths).containsExactly(9, 10, 1);
    }

    @Test
    void saysWhichDatumIsMissing() {
        byte[] handle = bytes("038000000000000001");

        assertThatThrownBy(() -> Datums.split(handle, 0, handle.length, new int[2], new int[2], 2))
                .hasMessageContaining("The 1th slice are missing in the datum buffer: 038000000000000001");
    }
}
