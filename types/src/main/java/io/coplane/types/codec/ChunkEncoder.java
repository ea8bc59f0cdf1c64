package io.coplane.types.codec;

import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalBinary;

/**
 * Writes columns in chunk encoding (coprocessor.md 4.13), each after the other.
 *
 * <pre>
 * bytes  field
 *     4  rows; all integers little-endian
 *     4  NULL rows
 *     -  only if there are some: bitmap, bit i of byte i / 8: 1 = not NULL
 *     -  only variable length: (rows + 1) x i64 offsets, the first 0
 *     -  cells: rows x 4, 8 or 40 bytes, zeros where NULL; or what the offsets say
 * </pre>
 *
 * <p>One request, one thread.
 */
public final class ChunkEncoder {
    private final EvalContext context;
    private final LongColumn longs = new LongColumn();
    private final DoubleColumn doubles = new DoubleColumn();
    private final DecimalColumn decimals = new DecimalColumn();
    private final BytesColumn bytes = new BytesColumn();
    private final Decimal scratch = new Decimal();

    /** @param context for TIMESTAMP */
    public ChunkEncoder(EvalContext context) {
        this.context = context;
    }

    /**
     * Appends a column as it was stored; durations stay unrounded.
     *
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_DATUM for malformed values
     */
    public void encode(RawColumn raw, FieldType type, ByteSink out) {
        EvalType evalType = type.evalType();
        if (evalType == EvalType.DURATION) {
            ColumnDecoder.decodeRawDurations(raw, type, longs);
            encode(longs, type, out);
            return;
        }
        if (evalType == EvalType.DATE_TIME && type.tp() == FieldType.TIMESTAMP) {
            ColumnDecoder.decodeRawTimes(raw, type, context, longs);
            encode(longs, type, out);
            return;
        }
        Column decoded = switch (evalType) {
            case INT, DATE_TIME, DURATION, ENUM, SET -> longs;
            case REAL -> doubles;
            case DECIMAL -> decimals;
            case BYTES, JSON, VECTOR_FLOAT32 -> bytes;
        };
        ColumnDecoder.decode(raw, type, context, decoded);
        encode(decoded, type, out);
    }

    /** Appends a decoded column. @throws EvalException for an enum number beyond the members */
    public void encode(Column column, FieldType type, ByteSink out) {
        putHeader(column, out);
        switch (type.evalType()) {
            case INT -> {
                if (type.tp() == FieldType.BIT) {
                    putBits((LongColumn) column, type, out);
                } else {
                    putLongs((LongColumn) column, out);
                }
            }
            case DATE_TIME, DURATION -> putLongs((LongColumn) column, out);
            case ENUM, SET -> putEnums((LongColumn) column, type, out);
            case REAL -> {
                if (type.tp() == FieldType.FLOAT) {
                    putFloats((DoubleColumn) column, out);
                } else {
                    putDoubles((DoubleColumn) column, out);
                }
            }
            case DECIMAL -> putDecimals((DecimalColumn) column, out);
            case BYTES, JSON, VECTOR_FLOAT32 -> putStrings((BytesColumn) column, out);
        }
    }

    private static void putHeader(Column column, ByteSink out) {
        int rows = column.rows();
        long[] nulls = column.nullWords();
        int nullCount = 0;
        if (column.mayHaveNulls()) {
            for (int i = 0; i << 6 < rows; i++) {
                nullCount += Long.bitCount(nulls[i] & used(rows, i));
            }
        }
        out.putIntLe(rows);
        out.putIntLe(nullCount);
        if (nullCount == 0) {
            return;
        }
        int bitmapBytes = (rows + 7) / 8;
        for (int i = 0; i < bitmapBytes; i += Long.BYTES) {
            int word = i / Long.BYTES;
            long present = ~nulls[word] & used(rows, word);
            for (int j = i; j < Math.min(bitmapBytes, i + Long.BYTES); j++) {
                out.putByte((int) present);
                present >>>= 8;
            }
        }
    }

    /** Bits of rows in a word of the null bitmap. */
    private static long used(int rows, int word) {
        int left = rows - (word << 6);
        return left >= Long.SIZE ? -1L : (1L << left) - 1;
    }

    private static void putLongs(LongColumn column, ByteSink out) {
        int rows = column.rows();
        int start = take(out, rows, Long.BYTES);
        byte[] target = out.bytes();
        long[] values = column.values();
        for (int row = 0; row < rows; row++) {
            Endian.putLongLe(target, start + Long.BYTES * row, values[row]);
        }
        clearNulls(column, target, start, Long.BYTES);
    }

    private static void putDoubles(DoubleColumn column, ByteSink out) {
        int rows = column.rows();
        int start = take(out, rows, Double.BYTES);
        byte[] target = out.bytes();
        double[] values = column.values();
        for (int row = 0; row < rows; row++) {
            Endian.putLongLe(target, start + Double.BYTES * row, Double.doubleToRawLongBits(values[row]));
        }
        clearNulls(column, target, start, Double.BYTES);
    }

    private static void putFloats(DoubleColumn column, ByteSink out) {
        int rows = column.rows();
        int start = take(out, rows, Float.BYTES);
        byte[] target = out.bytes();
        double[] values = column.values();
        for (int row = 0; row < rows; row++) {
            Endian.putIntLe(target, start + Float.BYTES * row, Float.floatToRawIntBits((float) values[row]));
        }
        clearNulls(column, target, start, Float.BYTES);
    }

    private void putDecimals(DecimalColumn column, ByteSink out) {
        int rows = column.rows();
        out.ensure(Math.multiplyExact(rows, DecimalBinary.CHUNK_BYTES));
        boolean nulls = column.mayHaveNulls();
        for (int row = 0; row < rows; row++) {
            if (nulls && column.isNull(row)) {
                out.putZeros(DecimalBinary.CHUNK_BYTES);
            } else {
                DecimalBinary.writeChunk(column, row, out, scratch);
            }
        }
    }

    /** Takes room for {@code rows} cells. @return where it starts in {@link ByteSink#bytes()} */
    private static int take(ByteSink out, int rows, int cellBytes) {
        int bytes = Math.multiplyExact(rows, cellBytes);
        out.ensure(bytes);
        int start = out.length();
        out.advance(bytes);
        return start;
    }

    private static void clearNulls(Column column, byte[] target, int start, int cellBytes) {
        if (!column.mayHaveNulls()) {
            return;
        }
        int rows = column.rows();
        for (int row = 0; row < rows; row++) {
            if (column.isNull(row)) {
                int from = start + cellBytes * row;
                for (int i = 0; i < cellBytes; i++) {
                    target[from + i] = 0;
                }
            }
        }
    }

    private static void putStrings(BytesColumn column, ByteSink out) {
        int rows = column.rows();
        int offsets = takeOffsets(out, rows);
        byte[] data = column.data();
        int[] starts = column.starts();
        int[] lengths = column.lengths();
        boolean nulls = column.mayHaveNulls();
        int first = out.length();
        for (int row = 0; row < rows; row++) {
            if (!nulls || !column.isNull(row)) {
                out.put(data, starts[row], lengths[row]);
            }
            Endian.putLongLe(out.bytes(), offsets + Long.BYTES * (row + 1), out.length() - first);
        }
    }

    private static void putBits(LongColumn column, FieldType type, ByteSink out) {
        int rows = column.rows();
        int offsets = takeOffsets(out, rows);
        long[] values = column.values();
        int cellBytes = Math.clamp(Long.BYTES - (Long.SIZE - type.flen()) / 8, 0, Long.BYTES);
        int first = out.length();
        for (int row = 0; row < rows; row++) {
            if (!column.isNull(row)) {
                for (int shift = 8 * (cellBytes - 1); shift >= 0; shift -= 8) {
                    out.putByte((int) (values[row] >>> shift));
                }
            }
            Endian.putLongLe(out.bytes(), offsets + Long.BYTES * (row + 1), out.length() - first);
        }
    }

    private static void putEnums(LongColumn column, FieldType type, ByteSink out) {
        int rows = column.rows();
        int offsets = takeOffsets(out, rows);
        long[] values = column.values();
        int first = out.length();
        for (int row = 0; row < rows; row++) {
            if (!column.isNull(row)) {
                long number = values[row];
                out.putLongLe(number);
                byte[] name = enumName(type, number);
                out.put(name, 0, name.length);
            }
            Endian.putLongLe(out.bytes(), offsets + Long.BYTES * (row + 1), out.length() - first);
        }
    }

    private static final byte[] NO_NAME = {};

    private static byte[] enumName(FieldType type, long number) {
        if (number == 0) {
            return NO_NAME;
        }
        if (number < 0 || number > type.elems().size()) {
            throw EvalException.uncoded(
                    "corrupted data: enum number is beyond its members: number=" + Long.toUnsignedString(number));
        }
        return type.elems().get((int) number - 1);
    }

    private static int takeOffsets(ByteSink out, int rows) {
        int start = take(out, Math.addExact(rows, 1), Long.BYTES);
        Endian.putLongLe(out.bytes(), start, 0);
        return start;
    }
}
