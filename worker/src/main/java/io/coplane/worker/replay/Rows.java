package io.coplane.worker.replay;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.tipb.Chunk;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.types.FieldType;
import io.coplane.types.codec.Datums;
import io.coplane.types.codec.Memcomparable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** Rows of an answer as cells: the datum of a value in default encoding; its bytes, or null, in chunk encoding. */
final class Rows {
    private static final int DECIMAL_BYTES = 40;
    private static final int COLUMN_HEAD_BYTES = 8;

    private final boolean datums;
    private final List<FieldType> columns;
    private final List<byte[][]> rows = new ArrayList<>();

    private Rows(boolean datums, List<FieldType> columns) {
        this.datums = datums;
        this.columns = columns;
    }

    /** @throws CoplaneException CORRUPT_VALUE if the chunks don't hold whole rows of these columns */
    static Rows decode(List<Chunk> chunks, EncodeType encodeType, List<FieldType> columns) {
        Rows rows = new Rows(encodeType == EncodeType.TypeDefault, columns);
        for (Chunk chunk : chunks) {
            byte[] data = chunk.getRowsData().toByteArray();
            if (rows.datums) {
                rows.addDatums(data);
            } else {
                rows.addColumns(data);
            }
        }
        return rows;
    }

    int count() {
        return rows.size();
    }

    byte[][] row(int index) {
        return rows.get(index);
    }

    int columnCount() {
        return columns.size();
    }

    private void addDatums(byte[] data) {
        int at = 0;
        while (at < data.length && !columns.isEmpty()) {
            byte[][] row = new byte[columns.size()][];
            for (int column = 0; column < row.length; column++) {
                int end = Datums.skip(data, at, data.length);
                row[column] = Arrays.copyOfRange(data, at, end);
                at = end;
            }
            rows.add(row);
        }
    }

    private void addColumns(byte[] data) {
        ByteBuffer in = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        int first = rows.size();
        for (int column = 0; column < columns.size(); column++) {
            need(in, COLUMN_HEAD_BYTES);
            int length = in.getInt();
            int nulls = in.getInt();
            if (length < 0 || column > 0 && rows.size() != first + length) {
                throw broken(in);
            }
            for (int i = 0; column == 0 && i < length; i++) {
                rows.add(new byte[columns.size()][]);
            }
            addColumn(in, column, first, length, nulls > 0);
        }
        if (in.hasRemaining()) {
            throw broken(in);
        }
    }

    private void addColumn(ByteBuffer in, int column, int first, int length, boolean hasNulls) {
        byte[] present = new byte[(length + 7) / 8];
        if (hasNulls) {
            need(in, present.length);
            in.get(present);
        } else {
            Arrays.fill(present, (byte) -1);
        }
        int fixed = fixedBytes(columns.get(column).tp());
        long[] offsets = new long[length + 1];
        for (int i = 0; i <= length && fixed == 0; i++) {
            need(in, Long.BYTES);
            offsets[i] = in.getLong();
        }
        for (int i = 0; i < length; i++) {
            long bytes = fixed == 0 ? offsets[i + 1] - offsets[i] : fixed;
            if (bytes < 0) {
                throw broken(in);
            }
            need(in, bytes);
            byte[] cell = new byte[(int) bytes];
            in.get(cell);
            rows.get(first + i)[column] = (present[i >> 3] >> (i & 7) & 1) == 0 ? null : cell;
        }
    }

    private static int fixedBytes(int tp) {
        return switch (tp) {
            case FieldType.FLOAT -> Float.BYTES;
            case FieldType.NEW_DECIMAL -> DECIMAL_BYTES;
            case FieldType.TINY,
                    FieldType.SHORT,
                    FieldType.INT24,
                    FieldType.LONG,
                    FieldType.LONG_LONG,
                    FieldType.YEAR,
                    FieldType.DOUBLE,
                    FieldType.DATE,
                    FieldType.DATE_TIME,
                    FieldType.TIMESTAMP,
                    FieldType.DURATION -> Long.BYTES;
            default -> 0;
        };
    }

    /** True if the cells are equal; reals also within {@code ulps}. */
    boolean sameCell(int column, byte[] left, byte[] right, int ulps) {
        if (Arrays.equals(left, right)) {
            return true;
        }
        if (ulps == 0 || left == null || right == null || left.length != right.length || !isReal(column, left)) {
            return false;
        }
        if (!isReal(column, right)) {
            return false;
        }
        double x = real(left);
        double y = real(right);
        double unit = left.length == Float.BYTES ? Math.ulp((float) y) : Math.ulp(y);
        return Math.abs(x - y) <= ulps * unit;
    }

    boolean isReal(int column, byte[] cell) {
        int tp = columns.get(column).tp();
        if (tp != FieldType.DOUBLE && tp != FieldType.FLOAT || cell == null) {
            return false;
        }
        return !datums || cell.length == 1 + Double.BYTES && cell[0] == Datums.FLOAT;
    }

    private double real(byte[] cell) {
        if (datums) {
            return Memcomparable.getDouble(cell, 1);
        }
        ByteBuffer in = ByteBuffer.wrap(cell).order(ByteOrder.LITTLE_ENDIAN);
        return cell.length == Float.BYTES ? in.getFloat() : in.getDouble();
    }

    /** A cell for people. */
    String show(int column, byte[] cell) {
        if (cell == null || datums && cell[0] == Datums.NIL) {
            return "NULL";
        }
        String hex = HexFormat.of().formatHex(cell);
        if (isReal(column, cell)) {
            return real(cell) + " (" + hex + ")";
        }
        if (datums && (cell[0] == Datums.INT || cell[0] == Datums.UINT) && cell.length == 1 + Long.BYTES) {
            return (cell[0] == Datums.INT
                            ? Long.toString(Memcomparable.getLong(cell, 1))
                            : Long.toUnsignedString(Memcomparable.getUlong(cell, 1)))
                    + " (" + hex + ")";
        }
        String text = text(datums && cell.length > 1 ? Arrays.copyOfRange(cell, 1, cell.length) : cell);
        return text == null ? hex : "\"" + text + "\" (" + hex + ")";
    }

    /** A row for people. */
    String show(byte[][] row) {
        List<String> cells = new ArrayList<>();
        for (int column = 0; column < row.length; column++) {
            cells.add(show(column, row[column]));
        }
        return cells.toString();
    }

    private static String text(byte[] bytes) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return text.codePoints().allMatch(c -> c >= ' ') ? text : null;
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    private static void need(ByteBuffer in, long bytes) {
        if (bytes > in.remaining()) {
            throw broken(in);
        }
    }

    private static CoplaneException broken(ByteBuffer in) {
        return new CoplaneException(
                ErrorCode.CORRUPT_VALUE, "chunk does not hold these columns: offset=" + in.position());
    }
}
