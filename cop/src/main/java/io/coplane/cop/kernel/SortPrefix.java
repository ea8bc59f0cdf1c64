package io.coplane.cop.kernel;

import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import java.util.Arrays;

/**
 * Abbreviated sort keys: one long per row whose signed order never contradicts the order of the key's values. Equal longs decide nothing. With
 * them most rows of a TopN are turned away by one comparison.
 */
public final class SortPrefix {
    private static final long[] POWERS = powers();

    private SortPrefix() {}

    private static long[] powers() {
        long[] powers = new long[19];
        powers[0] = 1;
        for (int i = 1; i < powers.length; i++) {
            powers[i] = powers[i - 1] * 10;
        }
        return powers;
    }

    /**
     * Fills the prefixes of a batch.
     *
     * @param descending reverses the order
     * @param prefixes at least {@code rows} long
     */
    public static void fill(Column column, KeyKind kind, boolean descending, int rows, long[] prefixes) {
        switch (kind) {
            case SIGNED, UNSIGNED, TIME -> longs((LongColumn) column, kind, rows, prefixes);
            case REAL -> doubles((DoubleColumn) column, rows, prefixes);
            case DECIMAL -> decimals((DecimalColumn) column, rows, prefixes);
            case BYTES -> bytes((BytesColumn) column, rows, prefixes);
            case JSON, VECTOR -> Arrays.fill(prefixes, 0, rows, 0);
        }
        if (column.mayHaveNulls() && kind != KeyKind.JSON && kind != KeyKind.VECTOR) {
            for (int row = 0; row < rows; row++) {
                if (column.isNull(row)) {
                    prefixes[row] = Long.MIN_VALUE;
                }
            }
        }
        if (descending) {
            for (int row = 0; row < rows; row++) {
                prefixes[row] = ~prefixes[row];
            }
        }
    }

    private static void longs(LongColumn column, KeyKind kind, int rows, long[] prefixes) {
        long[] values = column.values();
        switch (kind) {
            case SIGNED -> System.arraycopy(values, 0, prefixes, 0, rows);
            case TIME -> {
                for (int row = 0; row < rows; row++) {
                    prefixes[row] = values[row] >>> 4;
                }
            }
            default -> {
                for (int row = 0; row < rows; row++) {
                    prefixes[row] = values[row] ^ Long.MIN_VALUE;
                }
            }
        }
    }

    private static void doubles(DoubleColumn column, int rows, long[] prefixes) {
        double[] values = column.values();
        for (int row = 0; row < rows; row++) {
            long bits = Double.doubleToRawLongBits(values[row] + 0.0); // -0.0 becomes 0.0
            prefixes[row] = bits ^ bits >> 63 & Long.MAX_VALUE;
        }
    }

    /** The integer part; everything beyond 18 digits is the same. */
    private static void decimals(DecimalColumn column, int rows, long[] prefixes) {
        int[] headers = column.headers();
        long[] unscaled = column.unscaled();
        for (int row = 0; row < rows; row++) {
            int header = headers[row];
            if ((header & DecimalColumn.FLAT) != 0) {
                int frac = header >>> 8 & 0xff;
                prefixes[row] = frac < POWERS.length ? unscaled[row] / POWERS[frac] : 0;
            } else {
                prefixes[row] = integerPart(column, row, header);
            }
        }
    }

    private static long integerPart(DecimalColumn column, int row, int header) {
        int words = Math.min(DecimalColumn.WORDS, ((header & 0xff) + 8) / 9);
        int[] digits = column.words();
        int base = row * DecimalColumn.WORDS;
        long value = 0;
        for (int i = 0; i < words; i++) {
            if (value >= POWERS[9]) {
                value = POWERS[18];
                break;
            }
            value = value * POWERS[9] + digits[base + i];
        }
        return (header & DecimalColumn.NEGATIVE) != 0 ? -value : value;
    }

    private static void bytes(BytesColumn column, int rows, long[] prefixes) {
        byte[] data = column.data();
        int[] starts = column.starts();
        int[] lengths = column.lengths();
        for (int row = 0; row < rows; row++) {
            if (column.isNull(row)) {
                continue;
            }
            prefixes[row] = first(data, starts[row], lengths[row]) ^ Long.MIN_VALUE;
        }
    }

    private static long first(byte[] data, int start, int length) {
        if (start + Long.BYTES <= data.length) {
            long word = HeapWords.bigLongAt(data, start);
            return length >= Long.BYTES ? word : length == 0 ? 0 : word & -1L << 64 - 8 * length;
        }
        long word = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            word = word << 8 | (i < length ? data[start + i] & 0xff : 0);
        }
        return word;
    }
}
