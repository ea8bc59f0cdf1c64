package io.coplane.types.column;

import java.util.Arrays;

/** Real values; never NaN. */
public final class DoubleColumn extends Column {
    private double[] values = new double[0];

    /** The values; borrowed, replaced when the column grows. */
    public double[] values() {
        return values;
    }

    @Override
    protected void ensureRows(int rows) {
        if (rows > values.length) {
            values = Arrays.copyOf(values, Math.max(rows, 2 * values.length));
        }
    }

    @Override
    protected void moveValue(int from, int to) {
        values[to] = values[from];
    }

    @Override
    public long heapBytes() {
        return nullBytes() + (long) values.length * Double.BYTES;
    }
}
