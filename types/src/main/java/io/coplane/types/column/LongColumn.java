package io.coplane.types.column;

import java.util.Arrays;

/**
 * 64-bit values: Int (signed pattern), DateTime (the core of expressions.md 6.1: fields, fsp and type in one word), Duration (nanoseconds; its
 * fsp per row in {@link #fsp()}), Enum (ordinal), Set (bits).
 */
public final class LongColumn extends Column {
    private long[] values = new long[0];
    private byte[] fsp;

    /** The values; borrowed, replaced when the column grows. */
    public long[] values() {
        return values;
    }

    /** Fractional second digits of each Duration; created on first use, borrowed, replaced when the column grows. */
    public byte[] fsp() {
        if (fsp == null) {
            fsp = new byte[values.length];
        }
        return fsp;
    }

    /** True if {@link #fsp()} was created: the values are durations. */
    public boolean hasFsp() {
        return fsp != null;
    }

    @Override
    protected void ensureRows(int rows) {
        if (rows > values.length) {
            values = Arrays.copyOf(values, Math.max(rows, 2 * values.length));
            if (fsp != null) {
                fsp = Arrays.copyOf(fsp, values.length);
            }
        }
    }

    @Override
    protected void moveValue(int from, int to) {
        values[to] = values[from];
        if (fsp != null) {
            fsp[to] = fsp[from];
        }
    }

    @Override
    public long heapBytes() {
        return nullBytes() + (long) values.length * Long.BYTES + (fsp == null ? 0 : fsp.length);
    }
}
