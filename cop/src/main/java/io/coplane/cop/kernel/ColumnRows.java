package io.coplane.cop.kernel;

import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;

/** Creates decoded columns and moves rows between them. */
public final class ColumnRows {
    private ColumnRows() {}

    /** A new, empty column for values of a type. */
    public static Column create(EvalType type) {
        return switch (type) {
            case INT, DATE_TIME, DURATION, ENUM, SET -> new LongColumn();
            case REAL -> new DoubleColumn();
            case DECIMAL -> new DecimalColumn();
            case BYTES, JSON, VECTOR_FLOAT32 -> {
                BytesColumn column = new BytesColumn();
                column.resetOwned(0);
                yield column;
            }
        };
    }

    /** Empties a growing column; a bytes column then appends to its own buffer. */
    public static void clear(Column column) {
        if (column instanceof BytesColumn bytes) {
            bytes.resetOwned(0);
        } else {
            column.reset(0);
        }
    }

    /**
     * Appends rows of one column to another of the same kind, which owns its bytes.
     *
     * @param rows row numbers in {@code from}
     * @param count how many of them
     */
    public static void append(Column from, int[] rows, int count, Column to) {
        int base = to.rows();
        to.resize(base + count);
        switch (from) {
            case LongColumn source -> appendLongs(source, rows, count, (LongColumn) to, base);
            case DoubleColumn source -> appendDoubles(source, rows, count, (DoubleColumn) to, base);
            case DecimalColumn source -> appendDecimals(source, rows, count, (DecimalColumn) to, base);
            case BytesColumn source -> appendBytes(source, rows, count, (BytesColumn) to, base);
        }
        if (from.mayHaveNulls()) {
            for (int i = 0; i < count; i++) {
                if (from.isNull(rows[i])) {
                    to.setNull(base + i);
                }
            }
        }
    }

    /** Appends one row. */
    public static void appendRow(Column from, int row, Column to) {
        int base = to.rows();
        to.resize(base + 1);
        if (from.isNull(row)) {
            to.setNull(base);
            if (to instanceof BytesColumn bytes) {
                bytes.setEmpty(base);
            }
            return;
        }
        setRow(from, row, to, base);
    }

    /** Copies a value (not null) to an existing row of a column of the same kind, which owns its bytes; the null bit stays. */
    public static void setRow(Column from, int row, Column to, int at) {
        switch (from) {
            case LongColumn source -> {
                LongColumn target = (LongColumn) to;
                target.values()[at] = source.values()[row];
                if (source.hasFsp()) {
                    target.fsp()[at] = source.fsp()[row];
                }
            }
            case DoubleColumn source -> ((DoubleColumn) to).values()[at] = source.values()[row];
            case DecimalColumn source -> copyDecimal(source, row, (DecimalColumn) to, at);
            case BytesColumn source ->
                ((BytesColumn) to).set(at, source.data(), source.starts()[row], source.lengths()[row]);
        }
    }

    private static void appendLongs(LongColumn from, int[] rows, int count, LongColumn to, int base) {
        long[] source = from.values();
        long[] target = to.values();
        for (int i = 0; i < count; i++) {
            target[base + i] = source[rows[i]];
        }
        if (from.hasFsp()) {
            byte[] sourceFsp = from.fsp();
            byte[] targetFsp = to.fsp();
            for (int i = 0; i < count; i++) {
                targetFsp[base + i] = sourceFsp[rows[i]];
            }
        }
    }

    private static void appendDoubles(DoubleColumn from, int[] rows, int count, DoubleColumn to, int base) {
        double[] source = from.values();
        double[] target = to.values();
        for (int i = 0; i < count; i++) {
            target[base + i] = source[rows[i]];
        }
    }

    private static void appendDecimals(DecimalColumn from, int[] rows, int count, DecimalColumn to, int base) {
        for (int i = 0; i < count; i++) {
            copyDecimal(from, rows[i], to, base + i);
        }
    }

    private static void copyDecimal(DecimalColumn from, int row, DecimalColumn to, int at) {
        int header = from.headers()[row];
        to.headers()[at] = header;
        if ((header & DecimalColumn.FLAT) != 0) {
            to.unscaled()[at] = from.unscaled()[row];
        } else {
            System.arraycopy(
                    from.words(), row * DecimalColumn.WORDS, to.words(), at * DecimalColumn.WORDS, DecimalColumn.WORDS);
        }
    }

    private static void appendBytes(BytesColumn from, int[] rows, int count, BytesColumn to, int base) {
        byte[] data = from.data();
        int[] starts = from.starts();
        int[] lengths = from.lengths();
        boolean nulls = from.mayHaveNulls();
        for (int i = 0; i < count; i++) {
            int row = rows[i];
            if (nulls && from.isNull(row)) {
                to.setEmpty(base + i);
            } else {
                to.set(base + i, data, starts[row], lengths[row]);
            }
        }
    }
}
