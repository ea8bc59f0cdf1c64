package io.coplane.types.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.FieldType;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Rows in both formats: coprocessor.md 4.5, 4.6. */
class RowViewTest {
    private static final String MANY =
            "80 00 0b00 0100 01030607 08090c0d 0e0f10 21 0200 0300 0b00 0e00 1000 1800 1900 2100 2400 4100 4500"
                    + "e803 03 4003333333333332 616263 ff7f bffccccccccccccd 02 0000008733e69e19 010081"
                    + "01 01000000 1c000000 13000000 0300 0c 16000000 6b6579 05 76616c7565 00ca9a3b";
    private static final String BIG =
            "80 01 0400 0100 01000000 03000000 08000000 0c000000 4f010000 02000000 03000000 05000000 06000000"
                    + "e803 03 ff7f 02";

    private final RowV2View view = new RowV2View();

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    private RowV2View wrap(String hex) {
        byte[] row = bytes("ffff" + hex + "ff");
        return view.wrap(row, 2, row.length - 3);
    }

    private void assertCell(long id, int start, int end) {
        assertThat(view.find(id)).isEqualTo(end - start);
        assertThat(view.cellStart() - view.valuesStart()).isEqualTo(start);
    }

    private static FieldType type(int tp) {
        return FieldType.of(tp);
    }

    private static FieldType unsigned(int tp) {
        return new FieldType(tp, FieldType.UNSIGNED_FLAG, -1, -1, 0, "", List.of());
    }

    @Test
    void findsMinusOneAndTheLargestUnsigned() {
        wrap("80 00 0200 0000 01 02 0800 0900 ffffffffffffffff ff");

        assertCell(1, 0, 8);
        assertCell(2, 8, 9);
        assertThat(view.find(3)).isEqualTo(RowV2View.MISSING);
    }

    @Test
    void everyCellBecomesItsDatum() {
        wrap(MANY);
        byte[] row = bytes("ffff" + MANY + "ff");
        Map<Long, FieldType> types = new TreeMap<>(Map.of(
                1L, type(FieldType.LONG_LONG),
                3L, unsigned(FieldType.LONG_LONG),
                6L, type(FieldType.DOUBLE),
                7L, type(FieldType.VAR_CHAR),
                8L, type(FieldType.SHORT),
                13L, type(FieldType.DATE_TIME),
                14L, type(FieldType.NEW_DECIMAL),
                15L, type(FieldType.JSON),
                16L, type(FieldType.DURATION)));
        Map<Long, String> datums = Map.of(
                1L, "0380000000000003e8",
                3L, "040000000000000003",
                6L, "054003333333333332",
                7L, "0206616263",
                8L, "038000000000007fff",
                13L, "04199ee63387000000",
                14L, "06010081",
                15L, "0a01010000001c0000001300000003000c160000006b6579057661" + "6c7565",
                16L, "07800000003b9aca00");
        var sink = new ByteSink(MemoryGuard.unlimited());

        types.forEach((id, type) -> {
            int length = view.find(id);
            sink.truncate(0);
            Cells.putDatum(type, row, view.cellStart(), length, sink);

            assertThat(HexFormat.of().formatHex(sink.copyBytes()))
                    .as("column %d", id)
                    .isEqualTo(datums.get(id));
        });
        assertThat(view.find(33)).isEqualTo(RowV2View.NULL);
        assertThat(view.find(2)).isEqualTo(RowV2View.MISSING);
        assertThat(view.columnCount()).isEqualTo(11);
        assertThat(view.nullColumnCount()).isEqualTo(1);
        assertThat(view.nullColumnId(0)).isEqualTo(33);
    }

    @Test
    void findsColumnsOfBigRows() {
        wrap(BIG);

        assertCell(1, 0, 2);
        assertCell(3, 2, 3);
        assertCell(8, 3, 5);
        assertCell(12, 5, 6);
        assertThat(view.find(335)).isEqualTo(RowV2View.NULL);
        assertThat(view.find((1L << 32) + 1)).isEqualTo(RowV2View.MISSING);
    }

    @Test
    void findsIdsByTheirPositions() {
        wrap(
                "80 01 0400 0100 01000000 03000000 64010000 7bfa0000 21000000 02000000 03000000 04000000 05000000 e803 03 02 05");

        assertCell(64_123, 4, 5);
        assertCell(1, 0, 2);
        assertCell(356, 3, 4);
        assertThat(view.find(33)).isEqualTo(RowV2View.NULL);
        assertThat(view.find(333)).isEqualTo(RowV2View.MISSING);
        assertThat(view.find((1L << 32) + 1)).isEqualTo(RowV2View.MISSING);
    }

    @Test
    void idsBeyondAByteAreNotInSmallRows() {
        wrap("80 00 0200 0100 01 03 21 0200 0300 e803 03");

        assertCell(1, 0, 2);
        assertCell(3, 2, 3);
        assertThat(view.find(257)).isEqualTo(RowV2View.MISSING);
        assertThat(view.find(-1)).isEqualTo(RowV2View.MISSING);
        assertThat(view.find(0)).isEqualTo(RowV2View.MISSING);
    }

    @Test
    void hintsAreOnlyHints() {
        wrap(MANY);
        for (int hint = -2; hint < 14; hint++) {
            assertThat(view.find(7, hint)).isEqualTo(3);
            assertThat(view.foundPosition()).isEqualTo(3);
            assertThat(view.find(33, hint)).isEqualTo(RowV2View.NULL);
        }
    }

    @Test
    void checksumsStandBehindTheValues() {
        String row =
                "80 02 0500 0000 01 03 08 0c 11 0200 0a00 0d00 0e00 1200" + "e803 c00c666666666666 616263 02 00ca9a3b";

        wrap(row + "00 12345678");
        assertCell(1, 0, 2);
        assertCell(3, 2, 10);
        assertCell(8, 10, 13);
        assertCell(12, 13, 14);
        assertCell(17, 14, 18);
        assertThat(view.hasChecksum()).isTrue();
        assertThat(view.checksum()).isEqualTo(0x78563412);
        assertThat(view.hasExtraChecksum()).isFalse();

        wrap(row + "09 12345678 01000000");
        assertThat(view.hasExtraChecksum()).isTrue();
        assertThat(view.extraChecksum()).isEqualTo(1);
        assertThat(view.checksumVersion()).isEqualTo(1);

        for (String bad : new String[] {"", "00", "0012345678" + "00", "0812345678"}) {
            assertThatThrownBy(() -> wrap(row + bad)).hasMessageContaining("checksum is corrupt");
        }
    }

    @Test
    void damagedRowsGiveTypedErrors() {
        for (String good : List.of(MANY, BIG)) {
            io.coplane.testing.Corrupt.everyWay(bytes(good), 7, 5_000, (damage, row) -> {
                try {
                    view.wrap(row, 0, row.length);
                    for (long id : new long[] {1, 3, 7, 33, 335, 1L << 31}) {
                        int length = view.find(id);
                        assertThat(length <= 0 || view.cellStart() + length <= row.length)
                                .isTrue();
                    }
                } catch (CoplaneException e) {
                    assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_ROW);
                }
            });
        }
    }

    @Test
    void readsRowsInFormat1() {
        byte[] row = bytes("ff 0802 08c801 0804 0206616263");
        var reader = new RowV1Reader().wrap(row, 1, row.length - 1);

        assertThat(reader.next()).isTrue();
        assertThat(reader.columnId()).isEqualTo(1);
        assertThat(reader.datumStart()).isEqualTo(3);
        assertThat(reader.datumLength()).isEqualTo(3);
        assertThat(reader.next()).isTrue();
        assertThat(reader.columnId()).isEqualTo(2);
        assertThat(reader.datumStart()).isEqualTo(8);
        assertThat(reader.datumLength()).isEqualTo(5);
        assertThat(reader.next()).isFalse();
    }

    @Test
    void emptyRowsInFormat1HaveNoColumns() {
        var reader = new RowV1Reader();

        assertThat(reader.wrap(new byte[] {0}, 0, 1).next()).isFalse();
        assertThat(reader.wrap(new byte[0], 0, 0).next()).isFalse();
    }

    @Test
    void columnIdsInFormat1AreVarInts() {
        byte[] row = bytes("0802 08c801 0304 00");
        var reader = new RowV1Reader().wrap(row, 0, row.length);
        assertThat(reader.next()).isTrue();

        assertThatThrownBy(reader::next)
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_ROW))
                .hasMessage("Unable to decode row: column id must be VAR_INT");
    }
}
