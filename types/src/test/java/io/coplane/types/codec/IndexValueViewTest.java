package io.coplane.types.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.testing.Corrupt;
import io.coplane.types.FieldType;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Index values: coprocessor.md 3.6. */
class IndexValueViewTest {
    private static final String H1 = "038000000000000001";
    private static final String BA = "016100000000000000f8";
    private static final String AG = "010041000000000000f9";
    private static final String AU = "010e33000000000000f9";

    private final IndexValueView view = new IndexValueView();
    private byte[] value;

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    /** Wraps as the first value of a scan. */
    private int wrap(String hex) {
        value = bytes("ee" + hex + "ee");
        int version = IndexValueView.indexVersion(value, 1, value.length - 2);
        view.wrap(value, 1, value.length - 2, version);
        return version;
    }

    private String restored() {
        return HexFormat.of().formatHex(value, view.restoredStart(), view.restoredStart() + view.restoredLength());
    }

    @ParameterizedTest
    @CsvSource({
        "007d01, 1",
        "017d0131, 1",
        "007d018000020000000102010002006131, 1",
        "017d01800002000000010201000200 6131, 1",
        "000000000000000431, 0",
        "30, 0",
        "0000000000000001, 0"
    })
    void versionComesFromTheFirstValue(String hex, int version) {
        assertThat(wrap(hex)).isEqualTo(version);
    }

    @Test
    void oldFormHasAHandleOrNothing() {
        wrap("0000000000000001");

        assertThat(view.isOld()).isTrue();
        assertThat(view.oldHandle()).isEqualTo(1);

        wrap("30");
        assertThatThrownBy(view::oldHandle)
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_VALUE));
    }

    @Test
    void restoredDataGoesUpToTheTail() {
        wrap("08 80 00 0100 0000 03 0100 41 0000000000000001");

        assertThat(view.isOld()).isFalse();
        assertThat(restored()).isEqualTo("80000100000003010041");
        assertThat(view.tailHasHandle()).isTrue();
        assertThat(view.tailHandle()).isEqualTo(1);
        assertThat(view.hasCommonHandle()).isFalse();
        assertThat(view.hasPartitionId()).isFalse();

        wrap("00 80 00 0100 0000 03 0100 41");
        assertThat(restored()).isEqualTo("80000100000003010041");
        assertThat(view.tailHasHandle()).isFalse();
    }

    @Test
    void commonHandleComesFirst() {
        String handle = H1 + BA + AU + BA + AG;

        assertThat(wrap("00 7d 01 7f 0031" + handle + "80 00 0300 0000 030405 0100 0200 0400 41 01 4120"))
                .isEqualTo(1);

        assertThat(HexFormat.of()
                        .formatHex(
                                value, view.commonHandleStart(), view.commonHandleStart() + view.commonHandleLength()))
                .isEqualTo(handle);
        assertThat(restored()).isEqualTo("800003000000030405010002000400" + "41014120");
    }

    @Test
    void partitionIdOfAGlobalIndex() {
        wrap("08 7e 800000000000005c 0000000000000001");

        assertThat(view.partitionId()).isEqualTo(92);
        assertThat(view.tailHandle()).isEqualTo(1);
        assertThat(view.hasRestoredData()).isFalse();

        wrap("00 7e 8000000000000064");
        assertThat(view.partitionId()).isEqualTo(100);
    }

    @ParameterizedTest
    @CsvSource({
        "0a000000000000000000, `tail_len`: 10 is corrupted",
        "ff000000000000000000, `tail_len`: 255 is corrupted",
        "00 7f 00ff 0000000000000000, `handle_len` is corrupted: 255",
        "01 7f 00000000000000 00 99, Unexpected corrupted extra bytes: ",
        "00 7e 800000 000000 8000, partition id is corrupted",
        "00 11 0000000000000000, Unexpected corrupted extra bytes: 11"
    })
    void rejectsWhatDoesNotFit(String hex, String message) {
        if (hex.startsWith("00 7e")) {
            value = bytes("03 7e 800000 000000 8000" + "00");
            assertThatThrownBy(() -> view.wrap(value, 0, value.length, 0)).hasMessageContaining(message);
            return;
        }
        assertThatThrownBy(() -> wrap(hex))
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_VALUE))
                .hasMessageContaining(message);
    }

    @Test
    void damagedValuesGiveTypedErrors() {
        String handle = H1 + BA;
        byte[] good = bytes(
                "09 7d 01 7f 0013" + handle + "7e 8000000000000064 80 00 0100 0000 03 0100 41" + "000000000000000131");
        Corrupt.everyWay(good, 3, 5_000, (damage, bytes) -> {
            try {
                if (bytes.length > 0) {
                    view.wrap(bytes, 0, bytes.length, IndexValueView.indexVersion(bytes, 0, bytes.length));
                }
            } catch (CoplaneException e) {
                assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_VALUE);
            }
        });
    }

    /** The cases of 3.6: collation, needed for CHAR, needed for VARCHAR. */
    @ParameterizedTest
    @CsvSource({
        "63, false, false", "-63, false, false", "-46, false, true", "-45, true, true", "-224, true, true",
                "-255, true, true",
        "-309, false, false", "-87, true, true", "-28, true, true", "-47, false, true", "47, false, false",
                "-1, false, false"
    })
    void neededRestoredData(int collate, boolean forChar, boolean forVarChar) {
        assertThat(RestoredData.isNeeded(type(FieldType.STRING, collate))).isEqualTo(forChar);
        assertThat(RestoredData.isNeeded(type(FieldType.VAR_CHAR, collate))).isEqualTo(forVarChar);
        assertThat(RestoredData.isNeeded(type(FieldType.VAR_STRING, collate))).isEqualTo(forVarChar);
        assertThat(RestoredData.isNeeded(type(FieldType.LONG_LONG, collate))).isFalse();
    }

    private static FieldType type(int tp, int collate) {
        return new FieldType(tp, 0, -1, -1, collate, "", List.of());
    }
}
