package io.coplane.cop.analyze;

import io.coplane.cop.exec.Batch;
import io.coplane.cop.kernel.SortKeys;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.codec.DatumRowEncoder;
import io.coplane.types.codec.Datums;
import io.coplane.types.column.BytesColumn;
import java.util.List;

/** One column of a batch as datums in default encoding, and as sort keys if it holds strings. Owns the buffer; one thread. */
final class ColumnValues implements AutoCloseable {
    private final int index;
    private final DatumRowEncoder encoder;
    private final SortKeys sortKeys;
    private final ByteSink datums;
    private int[] ends = new int[0];
    private BytesColumn keys;

    /** @param index column of the scan */
    ColumnValues(int index, FieldType type, EvalContext context, MemoryGuard guard) {
        this.index = index;
        encoder = new DatumRowEncoder(List.of(type), context);
        sortKeys = type.tp() != FieldType.NULL && EvalType.ofOrNull(type.tp()) == EvalType.BYTES
                ? new SortKeys(type.collate())
                : null;
        datums = new ByteSink(guard);
    }

    /** Takes the column of a batch. */
    void load(Batch batch) {
        int rows = batch.rows();
        if (rows > ends.length) {
            ends = new int[Math.max(rows, 2 * ends.length)];
        }
        if (batch.lazy(index).isRaw()) {
            encoder.bind(0, batch.raw(index));
        } else {
            encoder.bind(0, batch.lazy(index).decoded());
        }
        datums.truncate(0);
        for (int row = 0; row < rows; row++) {
            encoder.encode(row, row + 1, datums);
            ends[row] = datums.length();
        }
        if (sortKeys != null) {
            keys = sortKeys.of((BytesColumn) batch.column(index), rows);
        }
    }

    /** Datums of all rows; borrowed. */
    byte[] bytes() {
        return datums.bytes();
    }

    int start(int row) {
        return row == 0 ? 0 : ends[row - 1];
    }

    int length(int row) {
        return ends[row] - start(row);
    }

    boolean isNull(int row) {
        return datums.bytes()[start(row)] == Datums.NIL;
    }

    /** True for strings. */
    boolean hasKeys() {
        return sortKeys != null;
    }

    /** Sort keys of strings; borrowed. */
    BytesColumn keys() {
        return keys;
    }

    @Override
    public void close() {
        datums.close();
    }
}
