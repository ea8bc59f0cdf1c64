package io.coplane.cop.exec;

import io.coplane.cop.kernel.ColumnRows;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.codec.ColumnDecoder;
import io.coplane.types.codec.RawColumn;
import io.coplane.types.column.Column;

/**
 * One column of a batch in raw form or in decoded form. Raw rows are the physical rows of the scan until the batch's selection is applied to
 * them, which happens once, when somebody asks for the values or the bytes: a column that no survivor needs is never touched. A decoded column is
 * dense over the batch's rows. Once decoded, the decoded form is what counts, also for output (coprocessor.md 3.12).
 */
public final class LazyColumn {
    private final FieldType type;
    private RawColumn raw;
    private boolean compacted;
    private Column decoded;
    private Column own;
    private RawColumn ownRaw;

    LazyColumn(FieldType type) {
        this.type = type;
    }

    /** Type in the schema. */
    public FieldType type() {
        return type;
    }

    /** Starts a batch with raw values, numbered by physical row. */
    void setRaw(RawColumn physical) {
        raw = physical;
        compacted = false;
        decoded = null;
    }

    /** Starts a batch with decoded values. */
    void setDecoded(Column values) {
        raw = null;
        decoded = values;
    }

    /** Takes the content of a column of another batch, which is not used any more. */
    void take(LazyColumn other) {
        raw = other.raw;
        compacted = other.compacted;
        decoded = other.decoded;
    }

    /** Copies the content of a column of another batch. */
    void copy(LazyColumn other, int[] allRows, int rows) {
        if (other.isRaw()) {
            if (ownRaw == null) {
                ownRaw = new RawColumn();
            }
            ownRaw.resetLike(other.raw);
            setRaw(ownRaw);
            compacted = other.compacted;
        } else {
            copyDecoded(other.decoded, allRows, rows);
        }
    }

    /** Copies decoded values. */
    void copyDecoded(Column values, int[] allRows, int rows) {
        Column target = ownColumn();
        ColumnRows.clear(target);
        ColumnRows.append(values, allRows, rows, target);
        setDecoded(target);
    }

    /** True as long as nothing has asked for the values. */
    public boolean isRaw() {
        return decoded == null;
    }

    /** The raw values of the batch's rows, of a column that {@link #isRaw()}; borrowed. */
    RawColumn raw(int[] selection, int rows) {
        if (!compacted) {
            if (raw.rows() != rows) {
                raw.keep(selection, rows);
            }
            compacted = true;
        }
        return raw;
    }

    /** The decoded column of one that is not {@link #isRaw()}; borrowed. */
    public Column decoded() {
        return decoded;
    }

    /** The decoded column; decodes the batch's rows on first use. */
    Column decode(EvalContext context, int[] selection, int rows) {
        if (decoded == null) {
            Column target = ownColumn();
            ColumnDecoder.decode(raw(selection, rows), type, context, target);
            decoded = target;
        }
        return decoded;
    }

    /** Keeps rows of what does not follow the batch's selection. */
    void keep(int[] kept, int count) {
        if (decoded == null) {
            if (compacted) {
                raw.keep(kept, count);
            }
        } else if (decoded.isConstant()) {
            decoded.resize(count);
        } else {
            decoded.keep(kept, count);
        }
    }

    /** Keeps the first rows. */
    void truncate(int count) {
        if (decoded != null) {
            decoded.resize(count);
        } else if (compacted) {
            raw.truncate(count);
        }
    }

    /** A decoded column without rows. */
    Column emptyColumn() {
        Column column = ownColumn();
        ColumnRows.clear(column);
        return column;
    }

    /** A column of this object's own for decoded values; reused between batches. */
    Column ownColumn() {
        if (own == null) {
            own = ColumnRows.create(type.evalType());
        }
        return own;
    }

    /** Heap bytes owned. */
    long heapBytes() {
        return (own == null ? 0 : own.heapBytes()) + (ownRaw == null ? 0 : ownRaw.heapBytes());
    }
}
