package io.coplane.types.collation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Checksums of coprocessor.md 8.3 to 8.5. */
class WeightTablesTest {
    @Test
    void generalCiHasTheWeightsOfTheReference() throws NoSuchAlgorithmException {
        assertThat(shortsSha256(WeightTables.generalCi()))
                .isEqualTo("0a239a9be083538f9460c7c656b068e1999187701cb0c3c828c121c6f5630a49");
    }

    @Test
    void gbkBinHasTheWeightsOfTheReference() throws NoSuchAlgorithmException {
        assertThat(shortsSha256(WeightTables.gbk()))
                .isEqualTo("31690e4a2ae6b64d0c801b1ac81ae894c6f572e8d917bfc2570a8d38bfd49215");
    }

    @Test
    void gbkChineseCiHasTheWeightsOfTheReference() throws NoSuchAlgorithmException {
        assertThat(shortsSha256(WeightTables.gbkChineseCi()))
                .isEqualTo("936a6495ad2f211980bfb80cd1a52efb0cfbf04f68bfdd75f898d0aeba5336df");
    }

    @Test
    void unicodeCiHasTheWeightsOfTheReference() throws NoSuchAlgorithmException {
        assertThat(ucaSha256(WeightTables.uca0400()))
                .isEqualTo("63bfb800050df07842416da0da3ae12baca4180c78686c5c4cd8b683b7cec5b6");
    }

    @Test
    void uca0900HasTheWeightsOfTheReference() throws NoSuchAlgorithmException {
        assertThat(ucaSha256(WeightTables.uca0900()))
                .isEqualTo("3f29bec6ad25de64533a60acaaba5b77b24042dcfe3aaae3720429fc5263d1b7");
    }

    @Test
    void gb18030CoversTheBasicPlaneOnce() {
        int[] weights = WeightTables.gb18030();

        assertThat(weights[0x4e2d]).isEqualTo(0xd6d0);
        assertThat(weights[0x20ac]).isEqualTo(0xa2e3);
        assertThat(weights[0xe7c7]).isEqualTo(0x8135f437);
        assertThat(weights[0x1e3f]).isEqualTo(0xa8bc);
        assertThat(weights[0x00a9]).isEqualTo(0x81308438);
        assertThat(Gb18030.linearCode(0x1f603)).isEqualTo(0x9439fc39);
        assertThat(Gb18030.linearCode(0x1d306)).isEqualTo(0x9432ef32);
        assertThat(Arrays.stream(weights).distinct().count()).isEqualTo(0x10000 - 2048);
    }

    private static String shortsSha256(int[] weights) throws NoSuchAlgorithmException {
        ByteBuffer bytes = ByteBuffer.allocate(2 * weights.length);
        for (int weight : weights) {
            bytes.putShort((short) weight);
        }
        return sha256(bytes.array());
    }

    private static String ucaSha256(UcaTable table) throws NoSuchAlgorithmException {
        ByteBuffer bytes = ByteBuffer.allocate(16 * table.codePoints());
        for (int codePoint = 0; codePoint < table.codePoints(); codePoint++) {
            for (int i = table.primaryCount(codePoint) - 1; i >= 0; i--) {
                bytes.putShort(16 * codePoint + 14 - 2 * i, (short) table.primary(codePoint, i));
            }
        }
        return sha256(bytes.array());
    }

    private static String sha256(byte[] bytes) throws NoSuchAlgorithmException {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }
}
