package io.coplane.cop.exec;

import io.coplane.cop.kernel.ColumnRows;
import io.coplane.cop.kernel.RawRows;
import io.coplane.types.FieldType;
import io.coplane.types.codec.RawColumn;
import io.coplane.types.column.Column;
import java.util.List;

/** Rows copied out of batches, column by column, each column in the form it came in. Growing; one thread. */
final class RowStore {
    private final Stored[] columns;
    private int rows;

    RowStore(List<FieldType> schema) {
        columns = new Stored[schema.size()];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = new Stored(schema.get(i));
        }
    }

    /** One column; raw until a decoded batch comes. */
    private static final class Stored {
        private final FieldType type;
        private RawColumn raw;
        private Column decoded;

        Stored(FieldType type) {
            this.type = type;
        }

        void appendRaw(RawColumn from, int[] picked, int count) {
            if (raw == null) {
                raw = new RawColumn();
                raw.setDefaultDatum(from.defaultDatum());
                raw.resetOwned(count);
            }
            RawRows.append(from, picked, count, raw);
        }

        void appendDecoded(Column from, int[] picked, int count) {
            if (decoded == null) {
                decoded = ColumnRows.create(type.evalType());
            }
            ColumnRows.append(from, picked, count, decoded);
        }

        void clear() {
            if (raw != null) {
                raw.resetOwned(0);
            }
            if (decoded != null) {
                ColumnRows.clear(decoded);
            }
        }
    }

    int rows() {
        return rows;
    }

    /** Copies rows of a batch. */
    void append(Batch batch, int[] picked, int count) {
        for (int i = 0; i < columns.length; i++) {
            if (batch.lazy(i).isRaw()) {
                columns[i].appendRaw(batch.raw(i), picked, count);
            } else {
                columns[i].appendDecoded(batch.lazy(i).decoded(), picked, count);
            }
        }
        rows += count;
    }

    /** Copies rows of another store. */
    void append(RowStore other, int[] picked, int count) {
        for (int i = 0; i < columns.length; i++) {
            Stored from = other.columns[i];
            if (from.decoded != null) {
                columns[i].appendDecoded(from.decoded, picked, count);
            } else if (from.raw != null) {
                columns[i].appendRaw(from.raw, picked, count);
            }
        }
        rows += count;
    }

    void clear() {
        rows = 0;
        for (Stored column : columns) {
            column.clear();
        }
    }

    /** Shows all rows as a batch, which borrows them. */
    void show(Batch batch, Drained drained) {
        batch.reset(rows, drained);
        for (int i = 0; i < columns.length; i++) {
            if (columns[i].decoded != null) {
                batch.lazy(i).setDecoded(columns[i].decoded);
            } else {
                batch.lazy(i).setRaw(columns[i].raw);
            }
        }
    }

    long heapBytes() {
        long bytes = 0;
        for (Stored column : columns) {
            bytes += (column.raw == null ? 0 : column.raw.heapBytes())
                    + (column.decoded == null ? 0 : column.decoded.heapBytes());
        }
        return bytes;
    }
}
