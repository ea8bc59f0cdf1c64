package io.coplane.cop.exec;

import io.coplane.cop.agg.Aggregates;
import io.coplane.cop.expr.Expression;
import io.coplane.cop.kernel.HashGroups;
import io.coplane.cop.kernel.KeyKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.codec.DatumRowEncoder;
import io.coplane.types.codec.RawColumn;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import java.util.List;

/**
 * Aggregation by any number of group expressions (coprocessor.md 3.8). Two rows are in one group if the datums of their keys are the same bytes;
 * strings count by their sort keys. Group columns are raw datums: of strings as they were in the first row, of others those of the key.
 */
public final class SlowHashAggregation extends AggregationExecutor {
    private final KeyExpressions keys;
    private final HashGroups groups;
    private final DatumRowEncoder keyEncoder;
    private final DatumRowEncoder[] valueEncoders;
    private final ByteSink keyBytes;
    private final ByteSink valueBytes;
    private final BytesColumn rowKeys = new BytesColumn();
    private final RawColumn[] values;
    private int[] groupOf = new int[0];

    public SlowHashAggregation(
            Executor source,
            List<Aggregates.Compiled> functions,
            List<Expression> groupBy,
            long pagingSize,
            ExecutionSummary summary,
            EvalContext context,
            MemoryGuard guard) {
        super(source, columns(functions), groupBy, pagingSize, summary, context, guard);
        keys = new KeyExpressions(groupBy);
        BytesColumn groupKeys = new BytesColumn();
        groupKeys.resetOwned(0);
        groups = new HashGroups(KeyKind.BYTES, groupKeys);
        List<FieldType> types = groupBy.stream().map(Expression::fieldType).toList();
        keyEncoder = new DatumRowEncoder(types, context);
        keyBytes = new ByteSink(guard);
        valueBytes = new ByteSink(guard);
        valueEncoders = new DatumRowEncoder[types.size()];
        values = new RawColumn[types.size()];
        for (int i = 0; i < values.length; i++) {
            valueEncoders[i] = new DatumRowEncoder(List.of(types.get(i)), context);
            values[i] = new RawColumn();
            values[i].resetOwned(0);
        }
    }

    @Override
    void update(Batch input) {
        int rows = input.rows();
        if (rows > groupOf.length) {
            groupOf = new int[Math.max(rows, 2 * groupOf.length)];
        }
        keys.evaluate(context, input);
        encodeKeys(rows);
        groups.assign(rowKeys, rows, groupOf);
        keepValues();
        aggregates.update(context, input, groupOf, groups.groups());
    }

    /** Leaves the key of each row in {@link #rowKeys}; {@link #groupOf} holds their ends meanwhile. */
    private void encodeKeys(int rows) {
        for (int i = 0; i < values.length; i++) {
            keyEncoder.bind(i, keys.comparable()[i]);
        }
        keyBytes.truncate(0);
        for (int row = 0; row < rows; row++) {
            keyEncoder.encode(row, row + 1, keyBytes);
            groupOf[row] = keyBytes.length();
        }
        rowKeys.resetBorrowed(rows, keyBytes.bytes());
        int start = 0;
        for (int row = 0; row < rows; row++) {
            rowKeys.setView(row, start, groupOf[row] - start);
            start = groupOf[row];
        }
    }

    private void keepValues() {
        int[] newRows = groups.newRows();
        int count = groups.newCount();
        for (int i = 0; i < values.length; i++) {
            Column original = keys.values()[i];
            valueEncoders[i].bind(0, original);
            values[i].ensureRows(values[i].rows() + count);
            for (int j = 0; j < count; j++) {
                valueBytes.truncate(0);
                valueEncoders[i].encode(newRows[j], newRows[j] + 1, valueBytes);
                values[i].copyDatum(valueBytes.bytes(), 0, valueBytes.length());
            }
        }
    }

    @Override
    int groups() {
        return groups.groups();
    }

    @Override
    void emit(Drained state) {
        int rows = state.stops() ? groups.groups() : 0;
        batch.reset(rows, state);
        int next = aggregates.emit(rows, batch);
        for (RawColumn value : values) {
            batch.lazy(next++).setRaw(value);
        }
    }

    @Override
    long keyBytes() {
        long bytes = keys.heapBytes() + groups.heapBytes() + rowKeys.heapBytes();
        for (RawColumn value : values) {
            bytes += value.heapBytes();
        }
        return bytes + (long) groupOf.length * Integer.BYTES;
    }

    @Override
    void releaseKeys() {
        keys.release();
        keyBytes.close();
        valueBytes.close();
    }
}
