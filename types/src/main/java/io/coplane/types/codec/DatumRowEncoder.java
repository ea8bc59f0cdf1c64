package io.coplane.types.codec;

import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalBinary;
import io.coplane.types.time.TimeCore;
import java.util.List;

/**
 * Writes rows in default encoding: row by row, one datum per column (coprocessor.md 3.12). Raw columns are copied, decoded ones encoded. Bind every
 * column, then encode rows; bind again for the next batch. One request, one thread.
 */
public final class DatumRowEncoder {
    private static final int RAW = 0;
    private static final int INT = 1;
    private static final int UINT = 2;
    private static final int REAL = 3;
    private static final int DECIMAL = 4;
    private static final int BYTES = 5;
    private static final int TIME = 6;
    private static final int DURATION = 7;
    private static final int JSON = 8;
    private static final int VECTOR = 9;

    private final EvalContext context;
    private final FieldType[] types;
    private final int[] cellKinds;
    private final int[] forms;
    private final RawColumn[] raws;
    private final Column[] columns;
    private final Decimal scratch = new Decimal();

    /**
     * @param types of the output columns, in order
     * @param context for TIMESTAMP
     */
    public DatumRowEncoder(List<FieldType> types, EvalContext context) {
        this.context = context;
        this.types = types.toArray(FieldType[]::new);
        cellKinds = new int[types.size()];
        for (int i = 0; i < cellKinds.length; i++) {
            cellKinds[i] = CellKind.of(types.get(i));
        }
        forms = new int[types.size()];
        raws = new RawColumn[types.size()];
        columns = new Column[types.size()];
    }

    /** Output column {@code index} is this raw column for the rows encoded next; borrowed. */
    public void bind(int index, RawColumn raw) {
        forms[index] = RAW;
        raws[index] = raw;
        columns[index] = null;
    }

    /** Output column {@code index} is this decoded column for the rows encoded next; borrowed. */
    public void bind(int index, Column column) {
        FieldType type = types[index];
        forms[index] = switch (type.evalType()) {
            case INT -> type.isUnsigned() ? UINT : INT;
            case ENUM, SET -> UINT;
            case REAL -> REAL;
            case DECIMAL -> DECIMAL;
            case BYTES -> BYTES;
            case DATE_TIME -> TIME;
            case DURATION -> DURATION;
            case JSON -> JSON;
            case VECTOR_FLOAT32 -> VECTOR;
        };
        raws[index] = null;
        columns[index] = column;
    }

    /**
     * Appends rows {@code from} .. {@code to} - 1. Hot: runs per value.
     *
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_DATUM for malformed cells; then part of a row has been written
     */
    public void encode(int from, int to, ByteSink out) {
        int count = types.length;
        for (int row = from; row < to; row++) {
            for (int i = 0; i < count; i++) {
                if (forms[i] == RAW) {
                    putRaw(i, row, out);
                } else if (columns[i].isNull(row)) {
                    out.putByte(Datums.NIL);
                } else {
                    putDecoded(forms[i], columns[i], row, out);
                }
            }
        }
    }

    private void putRaw(int index, int row, ByteSink out) {
        RawColumn raw = raws[index];
        int length = raw.lengths()[row];
        int start = raw.starts()[row];
        if (length >= 0) {
            CellKind.putDatum(cellKinds[index], types[index], raw.data(), start, length, out);
        } else if (length == RawColumn.NULL) {
            out.putByte(Datums.NIL);
        } else if (length == RawColumn.DEFAULT) {
            out.put(raw.defaultDatum(), 0, raw.defaultDatum().length);
        } else {
            out.put(raw.data(), start, RawColumn.datumLength(length));
        }
    }

    private void putDecoded(int form, Column column, int row, ByteSink out) {
        switch (form) {
            case INT -> Datums.putInt(out, ((LongColumn) column).values()[row]);
            case UINT -> Datums.putUint(out, ((LongColumn) column).values()[row]);
            case REAL -> Datums.putDouble(out, ((DoubleColumn) column).values()[row]);
            case DECIMAL -> {
                out.putByte(Datums.DECIMAL);
                DecimalBinary.write((DecimalColumn) column, row, out, scratch);
            }
            case BYTES -> {
                BytesColumn bytes = (BytesColumn) column;
                Datums.putCompactBytes(out, bytes.data(), bytes.starts()[row], bytes.lengths()[row]);
            }
            case TIME -> Datums.putUint(out, TimeCore.toPacked(((LongColumn) column).values()[row], context));
            case DURATION -> Datums.putDuration(out, ((LongColumn) column).values()[row]);
            case JSON -> putVerbatim(Datums.JSON, (BytesColumn) column, row, out);
            default -> putVerbatim(Datums.VECTOR_FLOAT32, (BytesColumn) column, row, out);
        }
    }

    private static void putVerbatim(int flag, BytesColumn column, int row, ByteSink out) {
        Datums.putVerbatim(out, flag, column.data(), column.starts()[row], column.lengths()[row]);
    }
}
