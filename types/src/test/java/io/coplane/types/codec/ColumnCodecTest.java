package io.coplane.types.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.testing.ManualClock;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalColumns;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Stored values to columns to output: coprocessor.md 3.12, 4.4, 4.6, 4.13. */
class ColumnCodecTest {
    private final EvalContext context = context("UTC");
    private final RawColumn raw = new RawColumn();
    private final ByteSink sink = new ByteSink(MemoryGuard.unlimited());

    private static EvalContext context(String zone) {
        return new EvalContext(0, 0, ZoneId.of(zone), 64, 4, new ManualClock(Instant.EPOCH));
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    private static FieldType type(int tp) {
        return FieldType.of(tp);
    }

    private static FieldType type(int tp, int flag, int flen, int decimal) {
        return new FieldType(tp, flag, flen, decimal, 0, "", List.of());
    }

    /** One row: {@code c:hex} a v2 cell, {@code d:hex} a datum, {@code null}, {@code default}. */
    private void rows(String... rows) {
        raw.resetOwned(rows.length);
        for (String row : rows) {
            if (row.equals("null")) {
                raw.addNull();
            } else if (row.equals("default")) {
                raw.addDefault();
            } else {
                byte[] value = bytes(row.substring(2));
                if (row.startsWith("c:")) {
                    raw.copyCell(value, 0, value.length);
                } else {
                    raw.copyDatum(value, 0, value.length);
                }
            }
        }
    }

    private Column decode(FieldType type) {
        Column column = ColumnDecoder.newColumn(type.evalType());
        ColumnDecoder.decode(raw, type, context, column);
        return column;
    }

    private Long[] longs(FieldType type) {
        var column = (LongColumn) decode(type);
        var values = new Long[column.rows()];
        for (int i = 0; i < values.length; i++) {
            values[i] = column.isNull(i) ? null : column.values()[i];
        }
        return values;
    }

    private String[] strings(FieldType type) {
        var column = (BytesColumn) decode(type);
        var values = new String[column.rows()];
        for (int i = 0; i < values.length; i++) {
            values[i] = column.isNull(i)
                    ? null
                    : new String(column.data(), column.starts()[i], column.lengths()[i], StandardCharsets.UTF_8);
        }
        return values;
    }

    private String written() {
        String hex = HexFormat.of().formatHex(sink.copyBytes());
        sink.truncate(0);
        return hex;
    }

    @Test
    void integersOfEveryLengthAndForm() {
        rows("c:ff", "c:feff", "c:fdffffff", "c:fcffffffffffffff", "null");
        assertThat(longs(type(FieldType.LONG_LONG))).containsExactly(-1L, -2L, -3L, -4L, null);

        rows("c:ff", "c:feff", "c:fdffffff", "c:fcffffffffffffff", "null");
        assertThat(longs(type(FieldType.LONG, FieldType.UNSIGNED_FLAG, -1, -1)))
                .containsExactly(0xffL, 0xfffeL, 0xffff_fffdL, -4L, null);

        raw.setDefaultDatum(bytes("08c801"));
        rows("c:07", "d:08c801", "d:09c801", "d:037fffffffffffffff", "d:040000000000000005", "d:00", "null", "default");
        assertThat(longs(type(FieldType.LONG_LONG))).containsExactly(7L, 100L, 200L, -1L, 5L, null, null, 100L);
    }

    @ParameterizedTest
    @CsvSource({
        "c:, Failed to decode row v2 data as i64",
        "c:010203, Failed to decode row v2 data as i64",
        "c:010203040506070809, Failed to decode row v2 data as i64",
        "d:, Failed to decode datum flag",
        "d:05bffccccccccccccd, Unsupported datum flag 5 for Int vector",
        "d:0380, Failed to decode datum payload as i64",
        "d:0480, Failed to decode datum payload as u64",
        "d:0880, Failed to decode datum payload as var_i64",
        "d:fa, Unsupported datum flag 250 for Int vector"
    })
    void rejectsMalformedIntegers(String row, String message) {
        rows(row);

        assertThatThrownBy(() -> decode(type(FieldType.LONG_LONG)))
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_DATUM))
                .hasMessage("invalid data type: " + message);
    }

    @Test
    void realsAndFloats() {
        rows("c:bffccccccccccccd", "d:05c009333333333333", "null", "d:05fff8000000000000");
        var doubles = (DoubleColumn) decode(type(FieldType.DOUBLE));
        assertThat(doubles.values()[0]).isEqualTo(1.8);
        assertThat(doubles.values()[1]).isEqualTo(3.15);
        assertThat(doubles.isNull(2)).isTrue();
        assertThat(doubles.isNull(3)).as("NaN").isTrue();

        rows("c:bffccccccccccccd");
        assertThat(((DoubleColumn) decode(type(FieldType.FLOAT))).values()[0]).isEqualTo(1.8f);

        rows("d:0400");
        assertThatThrownBy(() -> decode(type(FieldType.DOUBLE)))
                .hasMessageContaining("Unsupported datum flag 4 for Real vector");
    }

    @Test
    void decimals() {
        rows("c:010081", "d:06040275c8", "null", "d:00");
        var column = (DecimalColumn) decode(type(FieldType.NEW_DECIMAL));
        var value = new Decimal();

        DecimalColumns.load(column, 0, value);
        assertThat(value.plainText()).isEqualTo("1");
        DecimalColumns.load(column, 1, value);
        assertThat(value.plainText()).isEqualTo("-10.55");
        assertThat(column.isNull(2)).isTrue();
        assertThat(column.isNull(3)).isTrue();
    }

    @Test
    void stringsAreBorrowedWhereTheyLieVerbatim() {
        rows("c:616263", "null", "d:0206616263", "c:");
        var column = (BytesColumn) decode(type(FieldType.VAR_CHAR));
        assertThat(column.data()).isSameAs(raw.data());
        assertThat(strings(type(FieldType.VAR_CHAR))).containsExactly("abc", null, "abc", "");

        raw.setDefaultDatum(bytes("020278"));
        rows("c:616263", "d:016162636465666768ff6900000000000000f8", "default");
        assertThat(strings(type(FieldType.BLOB))).containsExactly("abc", "abcdefghi", "x");

        rows("d:0206616263", "d:016100000000000000f8");
        assertThat(strings(type(FieldType.STRING))).containsExactly("abc", "a");

        rows("d:02066162");
        assertThatThrownBy(() -> strings(type(FieldType.STRING))).hasMessageContaining("payload as compact bytes");
        rows("d:01616200");
        assertThatThrownBy(() -> strings(type(FieldType.STRING))).hasMessageContaining("payload as bytes");
    }

    @Test
    void jsonAndVectorsKeepTheirWireForm() {
        rows("c:0401", "d:0a0c0161");
        var json = (BytesColumn) decode(type(FieldType.JSON));
        assertThat(json.lengths()[0]).isEqualTo(2);
        assertThat(json.data()[json.starts()[1]]).isEqualTo((byte) 0x0c);

        rows("d:1401000000cdcc8c3f", "c:00000000");
        var vectors = (BytesColumn) decode(type(FieldType.VECTOR_FLOAT32));
        assertThat(vectors.lengths()[0]).isEqualTo(8);
        assertThat(vectors.lengths()[1]).isEqualTo(4);

        rows("c:010000000000c07f");
        assertThatThrownBy(() -> decode(type(FieldType.VECTOR_FLOAT32)))
                .hasMessageContaining("NaN not allowed in vector");
        rows("c:010000000000807f");
        assertThatThrownBy(() -> decode(type(FieldType.VECTOR_FLOAT32)))
                .hasMessageContaining("infinite value not allowed in vector");
        rows("c:0200000000000000");
        assertThatThrownBy(() -> decode(type(FieldType.VECTOR_FLOAT32))).hasMessageContaining("payload as vector");
        rows("c:01010000001c000000");
        assertThatThrownBy(() -> decode(type(FieldType.JSON))).hasMessageContaining("payload as json");
    }

    /** coprocessor.md 4.8, vectors. */
    @Test
    void times() {
        rows("d:0419a420a2cc01b198");
        assertThat(longs(type(FieldType.DATE_TIME, 0, -1, 3))).containsExactly(0x1f8e60a2cc1b1986L);
        assertThat(longs(type(FieldType.TIMESTAMP, 0, -1, 3))).containsExactly(0x1f8e60a2cc1b1987L);

        rows("c:00000000 00fea419");
        assertThat(longs(type(FieldType.DATE))).containsExactly(0x1f8f3e000000000eL);

        rows("c:00000000 00fea419");
        assertThatThrownBy(() -> longs(type(FieldType.DATE_TIME, 0, -1, 7))).hasMessageContaining("Invalid fsp 7");
    }

    /** coprocessor.md 9.3. */
    @ParameterizedTest
    @CsvSource({
        "41445123345000, 3, 41445123000000",
        "41445123345000, 5, 41445123350000",
        "41445123345000, 6, 41445123345000",
        "41445123345600, 6, 41445123346000",
        "41445923345600, 0, 41446000000000",
        "777777000, 2, 780000000",
        "-41445923345600, 0, -41446000000000",
        "-500000000, 0, -1000000000",
        "3020399000000000, 6, 3020399000000000"
    })
    void durationsAreRounded(long nanos, int fsp, long rounded) {
        Datums.putDuration(sink, nanos);
        rows("d:" + written(), "null");

        FieldType type = type(FieldType.DURATION, 0, -1, fsp);
        assertThat(longs(type)).containsExactly(rounded, null);
        assertThat(((LongColumn) decode(type)).fsp()[0]).isEqualTo((byte) fsp);
    }

    @Test
    void durationsBeyondTheLimitAreErrors() {
        Datums.putDuration(sink, 3_020_400_000_000_000L);
        rows("d:" + written());

        assertThatThrownBy(() -> longs(type(FieldType.DURATION)))
                .isInstanceOfSatisfying(
                        EvalException.class, e -> assertThat(e.mysqlCode()).isEqualTo(1292))
                .hasMessage("Truncated incorrect NANOS value: '3020400000000000'");
    }

    /** coprocessor.md 4.12. */
    @Test
    void enums() {
        rows("d:020203", "d:0902", "d:040000000000000001", "c:03", "null");
        assertThat(longs(type(FieldType.ENUM))).containsExactly(3L, 2L, 1L, 3L, null);
    }

    @Test
    void typesWithoutEvalTypeAreNotDecoded() {
        rows("c:01");
        assertThatThrownBy(() -> ColumnDecoder.decode(raw, type(FieldType.SET), context, new LongColumn()))
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED));
    }

    /** coprocessor.md 9.1. */
    @Test
    void rowsInDefaultEncoding() {
        var types = List.of(type(FieldType.LONG_LONG), type(FieldType.VAR_CHAR));
        var encoder = new DatumRowEncoder(types, context);
        var handles = new LongColumn();
        handles.reset(2);
        handles.values()[0] = 1;
        handles.setNull(1);
        rows("c:616263", "d:00");
        encoder.bind(0, handles);
        encoder.bind(1, raw);

        encoder.encode(0, 2, sink);

        assertThat(written()).isEqualTo("038000000000000001" + "0206616263" + "00" + "00");
    }

    @Test
    void decodedColumnsInDefaultEncoding() {
        String[] stored = {
            "d:037fffffffffffffff", "d:09c801", "d:05bffccccccccccccd", "d:06040275c8", "d:016100000000000000f8",
            "d:0419a420a2cc01b198", "d:07800000003b9aca00", "d:0a0c0161", "d:020203", "d:1401000000cdcc8c3f"
        };
        List<FieldType> types = List.of(
                type(FieldType.LONG_LONG),
                type(FieldType.LONG_LONG, FieldType.UNSIGNED_FLAG, -1, -1),
                type(FieldType.DOUBLE),
                type(FieldType.NEW_DECIMAL),
                type(FieldType.VAR_CHAR),
                type(FieldType.TIMESTAMP, 0, -1, 3),
                type(FieldType.DURATION),
                type(FieldType.JSON),
                type(FieldType.ENUM),
                type(FieldType.VECTOR_FLOAT32));
        String expected = "037fffffffffffffff" + "0400000000000000c8" + "05bffccccccccccccd" + "06040275c8" + "020261"
                + "0419a420a2cc01b198" + "07800000003b9aca00" + "0a0c0161" + "040000000000000003"
                + "1401000000cdcc8c3f";
        for (String zone : new String[] {"UTC", "Asia/Shanghai", "-08:00"}) {
            EvalContext zoned = context(zone);
            var encoder = new DatumRowEncoder(types, zoned);
            for (int i = 0; i < stored.length; i++) {
                rows(stored[i]);
                Column column = ColumnDecoder.newColumn(types.get(i).evalType());
                ColumnDecoder.decode(raw, types.get(i), zoned, column);
                if (column instanceof BytesColumn borrowed) {
                    var own = new BytesColumn();
                    own.resetOwned(1);
                    own.set(0, borrowed.data(), borrowed.starts()[0], borrowed.lengths()[0]);
                    column = own;
                }
                encoder.bind(i, column);
            }

            encoder.encode(0, 1, sink);

            assertThat(written()).as(zone).isEqualTo(expected);
        }
    }

    @Test
    void rawColumnsAreCopiedVerbatim() {
        var encoder = new DatumRowEncoder(List.of(type(FieldType.SET)), context);
        raw.setDefaultDatum(bytes("0902"));
        rows("c:03", "d:0903", "default", "null");
        encoder.bind(0, raw);

        encoder.encode(0, 4, sink);

        assertThat(written()).isEqualTo("040000000000000003" + "0903" + "0902" + "00");

        var unspecified = new DatumRowEncoder(List.of(type(FieldType.NEW_DATE)), context);
        unspecified.bind(0, raw);
        assertThatThrownBy(() -> unspecified.encode(0, 4, sink)).hasMessageContaining("Unsupported FieldType NewDate");
    }

    /** coprocessor.md 4.13, 9.1. */
    @Test
    void columnsInChunkEncoding() {
        var encoder = new ChunkEncoder(context);

        rows("c:01", "null", "d:0806");
        encoder.encode(raw, type(FieldType.LONG_LONG), sink);
        assertThat(written())
                .isEqualTo(
                        "03000000" + "01000000" + "05" + "0100000000000000" + "0000000000000000" + "0300000000000000");

        rows("c:61", "null", "c:626364");
        encoder.encode(raw, type(FieldType.VAR_CHAR), sink);
        assertThat(written())
                .isEqualTo("03000000" + "01000000" + "05" + "0000000000000000" + "0100000000000000" + "0100000000000000"
                        + "0400000000000000" + "61626364");

        rows("c:02");
        var elems = new FieldType(FieldType.ENUM, 0, -1, -1, 0, "", List.of(new byte[] {'a'}, new byte[] {'b'}));
        encoder.encode(raw, elems, sink);
        assertThat(written())
                .isEqualTo(
                        "01000000" + "00000000" + "0000000000000000" + "0900000000000000" + "0200000000000000" + "62");

        rows("null");
        encoder.encode(raw, type(FieldType.VAR_CHAR), sink);
        assertThat(written()).isEqualTo("01000000" + "01000000" + "00" + "0000000000000000" + "0000000000000000");

        rows("c:03");
        assertThatThrownBy(() -> encoder.encode(raw, elems, sink))
                .hasMessageContaining("enum number is beyond its members");
    }

    @Test
    void bitsDurationsFloatsAndTimesInChunkEncoding() {
        var encoder = new ChunkEncoder(context);

        rows("c:05");
        encoder.encode(raw, type(FieldType.BIT, FieldType.UNSIGNED_FLAG, 10, -1), sink);
        assertThat(written()).isEqualTo("01000000" + "00000000" + "0000000000000000" + "0200000000000000" + "0005");

        rows("c:05", "null");
        encoder.encode(raw, type(FieldType.BIT, FieldType.UNSIGNED_FLAG, 8, -1), sink);
        assertThat(written())
                .isEqualTo("02000000" + "01000000" + "01" + "0000000000000000" + "0100000000000000" + "0100000000000000"
                        + "05");

        rows("d:0780000000 00000001");
        encoder.encode(raw, type(FieldType.DURATION), sink);
        assertThat(written()).as("not rounded").isEqualTo("01000000" + "00000000" + "0100000000000000");

        rows("c:bffccccccccccccd");
        encoder.encode(raw, type(FieldType.FLOAT), sink);
        assertThat(written()).isEqualTo("01000000" + "00000000" + "6666e63f");

        rows("d:0419a420a2cc01b198");
        encoder.encode(raw, type(FieldType.DATE_TIME, 0, -1, 3), sink);
        assertThat(written()).isEqualTo("01000000" + "00000000" + "86191bcca2608e1f");

        rows("c:0603 807b 01c8", "null");
        encoder.encode(raw, type(FieldType.NEW_DECIMAL), sink);
        assertThat(written())
                .isEqualTo("02000000" + "01000000" + "01" + "03030300" + "7b000000" + "00022e1b" + "00".repeat(68));
    }

    @Test
    void bitmapsOfManyRows() {
        var encoder = new ChunkEncoder(context);
        var column = new LongColumn();
        column.reset(70);
        column.setNull(0);
        column.setNull(64);
        column.setNull(69);

        encoder.encode(column, type(FieldType.TINY), sink);

        assertThat(written()).startsWith("46000000" + "03000000" + "feffffffffffffff" + "1e" + "0000000000000000");
        column.reset(70);
        encoder.encode(column, type(FieldType.TINY), sink);
        assertThat(written()).startsWith("46000000" + "00000000");
    }

    @Test
    void rawRowsCanBeKeptAndCopied() {
        rows("c:01", "null", "d:0806", "c:04");
        raw.keep(new int[] {0, 2, 3}, 3);
        var copy = new RawColumn();
        copy.resetLike(raw);
        raw.truncate(1);

        var column = new LongColumn();
        ColumnDecoder.decode(copy, type(FieldType.LONG_LONG), context, column);

        assertThat(List.of(column.values()[0], column.values()[1], column.values()[2]))
                .containsExactly(1L, 3L, 4L);
        assertThat(raw.rows()).isEqualTo(1);
        assertThat(copy.isNull(1)).isFalse();
    }
}
