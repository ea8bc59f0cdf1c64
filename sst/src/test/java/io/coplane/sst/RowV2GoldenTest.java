package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.Clock;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.codec.Cells;
import io.coplane.types.codec.ColumnDecoder;
import io.coplane.types.codec.Memcomparable;
import io.coplane.types.codec.RawColumn;
import io.coplane.types.codec.RowV2View;
import io.coplane.types.codec.TableKeys;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalColumns;
import java.math.BigInteger;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Row values that the reference read: every column that a row holds decodes to what the columnar dump says (columnar.md 4, 6). */
@ExtendWith(NoLeaks.class)
class RowV2GoldenTest {
    private static final int FIRST_COLUMN = 4; // of rows.tsv: table id, handle, version, deleted

    private final EvalContext context = new EvalContext(0, 0, ZoneId.of("UTC"), 64, 4, Clock.system());

    static Stream<GoldenCase> cases() {
        return TestData.cases("row_columnar");
    }

    @ParameterizedTest
    @MethodSource("cases")
    void decodesWhatTheReferenceDecoded(GoldenCase golden) {
        List<String[]> columns = golden.tsv("columns.tsv").stream()
                .filter(column -> !column[1].equals("handle"))
                .toList();
        long tableId = Long.parseLong(columns.getFirst()[0]);
        Map<String, String[]> rows = new HashMap<>();
        golden.tsv("rows.tsv").forEach(row -> rows.put(row[1] + " " + row[2], row));
        var view = new RowV2View();
        int found = 0;
        int nulls = 0;

        try (var file = new TestFile(golden.bytes("table.sst"))) {
            long fileId = Long.parseUnsignedLong(golden.meta().get("file_id"));
            TableCursor cursor = SstReader.open(file.bytes, fileId, 1, TableDumps.shardKey(golden))
                    .cursor(false, file.arena);
            for (boolean more = cursor.rewind(); more; more = cursor.nextAllVersions()) {
                byte[] key = cursor.copyKey();
                byte[] value = cursor.copyValue();
                if (!TableKeys.isRecordKey(key, 0, key.length)
                        || TableKeys.tableId(key, 0, key.length) != tableId
                        || value.length == 0) {
                    continue;
                }
                String[] row = rows.get(handle(golden, key) + " " + Long.toUnsignedString(cursor.version()));
                assertThat(row).as("row of key %s", Dumps.hex(key)).isNotNull();
                view.wrap(value, 0, value.length);
                for (int i = 0; i < columns.size(); i++) {
                    int length = view.find(Long.parseLong(columns.get(i)[2]));
                    if (length == RowV2View.NULL) {
                        assertThat(row[FIRST_COLUMN + i]).isIn(Dumps.NULL, "", "0000000000000000");
                        nulls++;
                    } else if (length >= 0) {
                        byte[] stored = stored(columns.get(i), value, view.cellStart(), length);
                        assertThat(Dumps.valueEquals(row[FIRST_COLUMN + i], stored))
                                .as("column %s of %s: %s", columns.get(i)[2], String.join(" ", row), Dumps.hex(stored))
                                .isTrue();
                        found++;
                    }
                }
            }
        }
        assertThat(found).isGreaterThan(500);
        assertThat(nulls).isPositive();
    }

    private static String handle(GoldenCase golden, byte[] key) {
        byte[] handle = Arrays.copyOfRange(key, TableKeys.HANDLE_AT, key.length);
        return Dumps.hex(golden.name().startsWith("int") ? littleEndian(Memcomparable.getLong(handle, 0)) : handle);
    }

    /** A cell in the form of columnar.md 4. */
    private byte[] stored(String[] column, byte[] value, int start, int length) {
        int tp = Integer.parseInt(column[3]);
        int flag = Integer.parseInt(column[4]);
        boolean wide = tp == FieldType.FLOAT;
        FieldType type = new FieldType(wide ? FieldType.DOUBLE : tp, flag, -1, -1, 0, "", List.of());
        switch (tp) {
            case FieldType.SET,
                    FieldType.TIMESTAMP,
                    FieldType.DATE,
                    FieldType.DATE_TIME -> { // the data's times are any numbers
                return littleEndian(Cells.unsigned(value, start, length));
            }
            case FieldType.DURATION -> {
                return littleEndian(Cells.signed(value, start, length));
            }
            default -> {
                var raw = new RawColumn();
                raw.resetBorrowed(1, value);
                raw.addCell(start, length);
                Column out = ColumnDecoder.newColumn(type.evalType());
                ColumnDecoder.decode(raw, type, context, out);
                return stored(out, Integer.parseInt(column[6]));
            }
        }
    }

    private static byte[] stored(Column column, int columnLength) {
        return switch (column) {
            case LongColumn longs -> littleEndian(longs.values()[0]);
            case DoubleColumn doubles -> littleEndian(Double.doubleToRawLongBits(doubles.values()[0]));
            case BytesColumn bytes ->
                Arrays.copyOfRange(bytes.data(), bytes.starts()[0], bytes.starts()[0] + bytes.lengths()[0]);
            case DecimalColumn decimals -> {
                var decimal = new Decimal();
                DecimalColumns.load(decimals, 0, decimal);
                yield scaled(decimal.plainText(), columnLength);
            }
        };
    }

    /** Digits without the point as an integer of 4, 8, 16 or 32 bytes; 0 if they don't fit. */
    private static byte[] scaled(String text, int columnLength) {
        int width = columnLength <= 9 ? 4 : columnLength <= 18 ? 8 : columnLength <= 38 ? 16 : 32;
        var number = new BigInteger(text.replace(".", ""));
        byte[] bytes = new byte[width];
        if (number.bitLength() < 8 * width) {
            byte[] big = number.toByteArray();
            Arrays.fill(bytes, (byte) (number.signum() >> 31));
            for (int i = 0; i < big.length; i++) {
                bytes[i] = big[big.length - 1 - i];
            }
        }
        return bytes;
    }

    private static byte[] littleEndian(long value) {
        byte[] bytes = new byte[Long.BYTES];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (value >>> 8 * i);
        }
        return bytes;
    }
}
