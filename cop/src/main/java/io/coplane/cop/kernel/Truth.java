package io.coplane.cop.kernel;

import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;

/** Truth of values as conditions of a selection (coprocessor.md 3.7, expressions.md 2). NULL is false. */
public final class Truth {
    private static final int JSON_I64 = 0x09;
    private static final int JSON_U64 = 0x0a;
    private static final int JSON_DOUBLE = 0x0b;
    private static final double JSON_EPSILON = 2.220446049250313e-16;

    private Truth() {}

    /**
     * Collects the rows whose value is true.
     *
     * @param type any but BYTES, whose truth is that of the number it converts to
     * @param kept at least {@code rows} long; filled with ascending row numbers
     * @return how many there are
     */
    public static int select(Column column, EvalType type, int rows, int[] kept) {
        return switch (column) {
            case LongColumn longs ->
                type == EvalType.DATE_TIME ? times(longs.values(), longs, rows, kept) : longs(longs, rows, kept);
            case DoubleColumn doubles -> doubles(doubles, rows, kept);
            case DecimalColumn decimals -> decimals(decimals, rows, kept);
            case BytesColumn bytes -> type == EvalType.JSON ? documents(bytes, rows, kept) : vectors(bytes, rows, kept);
        };
    }

    private static int longs(LongColumn column, int rows, int[] kept) {
        long[] values = column.values();
        int count = 0;
        if (!column.mayHaveNulls()) {
            for (int row = 0; row < rows; row++) {
                kept[count] = row;
                count += values[row] != 0 ? 1 : 0;
            }
            return count;
        }
        long[] nulls = column.nullWords();
        for (int row = 0; row < rows; row++) {
            kept[count] = row;
            boolean isNull = (nulls[row >>> 6] >>> row & 1) != 0;
            count += !isNull && values[row] != 0 ? 1 : 0;
        }
        return count;
    }

    private static int times(long[] values, LongColumn column, int rows, int[] kept) {
        int count = 0;
        for (int row = 0; row < rows; row++) {
            kept[count] = row;
            count += values[row] >>> 4 != 0 && !column.isNull(row) ? 1 : 0;
        }
        return count;
    }

    private static int doubles(DoubleColumn column, int rows, int[] kept) {
        double[] values = column.values();
        int count = 0;
        for (int row = 0; row < rows; row++) {
            kept[count] = row;
            count += values[row] != 0 && !column.isNull(row) ? 1 : 0;
        }
        return count;
    }

    private static int decimals(DecimalColumn column, int rows, int[] kept) {
        int[] headers = column.headers();
        long[] unscaled = column.unscaled();
        int count = 0;
        for (int row = 0; row < rows; row++) {
            kept[count] = row;
            if (column.isNull(row)) {
                continue;
            }
            boolean isTrue = (headers[row] & DecimalColumn.FLAT) != 0 ? unscaled[row] != 0 : anyWord(column, row);
            count += isTrue ? 1 : 0;
        }
        return count;
    }

    private static boolean anyWord(DecimalColumn column, int row) {
        int header = column.headers()[row];
        int words = ((header & 0xff) + 8) / 9 + ((header >>> 8 & 0xff) + 8) / 9;
        int base = row * DecimalColumn.WORDS;
        int any = 0;
        for (int i = 0; i < Math.min(words, DecimalColumn.WORDS); i++) {
            any |= column.words()[base + i];
        }
        return any != 0;
    }

    private static int vectors(BytesColumn column, int rows, int[] kept) {
        int[] lengths = column.lengths();
        int count = 0;
        for (int row = 0; row < rows; row++) {
            kept[count] = row;
            count += lengths[row] > Integer.BYTES && !column.isNull(row) ? 1 : 0;
        }
        return count;
    }

    private static int documents(BytesColumn column, int rows, int[] kept) {
        int count = 0;
        for (int row = 0; row < rows; row++) {
            kept[count] = row;
            count += !column.isNull(row) && isTrueJson(column.data(), column.starts()[row], column.lengths()[row])
                    ? 1
                    : 0;
        }
        return count;
    }

    private static boolean isTrueJson(byte[] data, int start, int length) {
        if (length != 1 + Long.BYTES) {
            return true;
        }
        int type = data[start];
        if (type != JSON_I64 && type != JSON_U64 && type != JSON_DOUBLE) {
            return true;
        }
        long bits = 0;
        for (int i = Long.BYTES; i >= 1; i--) {
            bits = bits << 8 | data[start + i] & 0xff;
        }
        return type == JSON_DOUBLE ? Math.abs(Double.longBitsToDouble(bits)) >= JSON_EPSILON : bits != 0;
    }
}
