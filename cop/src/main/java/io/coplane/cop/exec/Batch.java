package io.coplane.cop.exec;

import io.coplane.cop.expr.ColumnSource;
import io.coplane.nativecache.CoplaneException;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.codec.RawColumn;
import io.coplane.types.column.Column;
import java.util.List;

/**
 * Rows on their way up the pipeline, the error that came after them, and whether more will come. Row {@code i} of the batch is physical row
 * {@code selection[i]} of the raw columns and row {@code i} of every decoded column. One owner, one thread.
 */
public final class Batch implements ColumnSource {
    private final EvalContext context;
    private final LazyColumn[] columns;
    private int[] selection = new int[0];
    private int rows;
    private Drained drained = Drained.REMAIN;
    private CoplaneException error;
    private RowHandles handles;

    Batch(EvalContext context, List<FieldType> schema) {
        this.context = context;
        this.columns = new LazyColumn[schema.size()];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = new LazyColumn(schema.get(i));
        }
    }

    /** Starts a batch of rows that are all selected; the caller sets the columns. */
    void reset(int rowCount, Drained state) {
        rows = rowCount;
        drained = state;
        error = null;
        if (rowCount > selection.length) {
            selection = new int[Math.max(rowCount, 2 * selection.length)];
        }
        for (int i = 0; i < rowCount; i++) {
            selection[i] = i;
        }
    }

    /** Takes rows, selection, state and error of another batch. */
    void resetLike(Batch other) {
        rows = other.rows;
        drained = other.drained;
        error = other.error;
        if (rows > selection.length) {
            selection = new int[Math.max(rows, 2 * selection.length)];
        }
        System.arraycopy(other.selection, 0, selection, 0, rows);
    }

    /** Rows. */
    public int rows() {
        return rows;
    }

    /** Columns. */
    public int columnCount() {
        return columns.length;
    }

    /** One column in whatever form it is. */
    public LazyColumn lazy(int index) {
        return columns[index];
    }

    /** The raw values of a column that is raw; borrowed. */
    public RawColumn raw(int index) {
        return columns[index].raw(selection, rows);
    }

    /** Common handles of the physical rows; null unless the batch comes straight from an index scan. */
    RowHandles handles() {
        return handles;
    }

    void setHandles(RowHandles physical) {
        handles = physical;
    }

    /** Physical row of a row. */
    int physicalRow(int row) {
        return selection[row];
    }

    @Override
    public Column column(int index) {
        return columns[index].decode(context, selection, rows);
    }

    /** What follows after this batch; without meaning if there is an error. */
    public Drained drained() {
        return drained;
    }

    void setDrained(Drained state) {
        drained = state;
    }

    /** The failure of the entry behind the last row; null if none. */
    public CoplaneException error() {
        return error;
    }

    void setError(CoplaneException failure) {
        error = failure;
    }

    /** Drops all rows and keeps the error: what most executors make of a failed batch. */
    Batch fail(CoplaneException failure) {
        rows = 0;
        error = failure;
        return this;
    }

    /** Keeps the given rows: ascending row numbers. */
    void keep(int[] kept, int count) {
        if (count == rows) {
            return;
        }
        for (int i = 0; i < count; i++) {
            selection[i] = selection[kept[i]];
        }
        for (LazyColumn column : columns) {
            column.keep(kept, count);
        }
        rows = count;
    }

    /** Keeps the first {@code count} rows. */
    void truncate(int count) {
        if (count >= rows) {
            return;
        }
        for (LazyColumn column : columns) {
            column.truncate(count);
        }
        rows = count;
    }

    /** Heap bytes owned by this batch besides the raw columns. */
    long heapBytes() {
        long bytes = (long) selection.length * Integer.BYTES;
        for (LazyColumn column : columns) {
            bytes += column.heapBytes();
        }
        return bytes;
    }
}
