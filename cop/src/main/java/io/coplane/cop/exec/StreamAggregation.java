package io.coplane.cop.exec;

import io.coplane.cop.agg.Aggregates;
import io.coplane.cop.expr.Expression;
import io.coplane.cop.kernel.ColumnRows;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.EvalContext;
import io.coplane.types.column.Column;
import java.util.List;

/**
 * Aggregation of input in which the rows of a group are adjacent (coprocessor.md 3.8). Groups are emitted as soon as they are closed; the last one
 * stays open.
 */
public final class StreamAggregation extends AggregationExecutor {
    private final KeyExpressions keys;
    /** Values of the first row of each group held. */
    private final Column[] values;
    /** The same in comparable form, of the last group only. */
    private final Column[] lastKey;

    private final Column[] emitted;
    private int[] groupOf = new int[0];
    private int[] firstRows = new int[0];
    private int groups;
    private long required;

    public StreamAggregation(
            Executor source,
            List<Aggregates.Compiled> functions,
            List<Expression> groupBy,
            long pagingSize,
            ExecutionSummary summary,
            EvalContext context,
            MemoryGuard guard) {
        super(source, columns(functions), groupBy, pagingSize, summary, context, guard);
        keys = new KeyExpressions(groupBy);
        values = new Column[keys.count()];
        lastKey = new Column[keys.count()];
        emitted = new Column[keys.count()];
        for (int i = 0; i < values.length; i++) {
            var type = groupBy.get(i).fieldType().evalType();
            values[i] = ColumnRows.create(type);
            lastKey[i] = ColumnRows.create(type);
            emitted[i] = ColumnRows.create(type);
        }
        required = pagingSize;
    }

    @Override
    void update(Batch input) {
        int rows = input.rows();
        if (rows > groupOf.length) {
            groupOf = new int[Math.max(rows, 2 * groupOf.length)];
            firstRows = new int[groupOf.length];
        }
        keys.evaluate(context, input);
        Column[] now = keys.comparable();
        int opened = 0;
        int group = groups - 1;
        if (groups == 0 || !keys.sameKey(lastKey, 0, now, 0)) {
            firstRows[opened++] = 0;
            group++;
        }
        groupOf[0] = group;
        for (int row = 1; row < rows; row++) {
            if (!keys.sameKey(now, row - 1, now, row)) {
                firstRows[opened++] = row;
                group++;
            }
            groupOf[row] = group;
        }
        groups = group + 1;
        for (int i = 0; i < values.length; i++) {
            ColumnRows.append(keys.values()[i], firstRows, opened, values[i]);
            ColumnRows.clear(lastKey[i]);
            ColumnRows.appendRow(now[i], rows - 1, lastKey[i]);
        }
        aggregates.update(context, input, groupOf, groups);
    }

    @Override
    int groups() {
        return groups;
    }

    @Override
    long requiredRows(long pageRows) {
        return required;
    }

    @Override
    void emit(Drained state) {
        int rows = state.stops() ? groups : groups >= 2 ? groups - 1 : 0;
        if (!state.stops() && groups >= 2) {
            required = required + 1 - groups;
        }
        batch.reset(rows, state);
        int next = aggregates.emit(rows, batch);
        for (int i = 0; i < values.length; i++) {
            emitKeys(i, rows);
            batch.lazy(next++).setDecoded(emitted[i]);
        }
        if (rows > 0 && !state.stops()) {
            aggregates.keepOnly(groups - 1);
            groups = 1;
        }
    }

    private void emitKeys(int i, int rows) {
        ColumnRows.clear(emitted[i]);
        if (rows == 0) {
            return;
        }
        for (int row = 0; row < rows; row++) {
            ColumnRows.appendRow(values[i], row, emitted[i]);
        }
        Column open = ColumnRows.create(keys.expression(i).fieldType().evalType());
        if (rows < groups) {
            ColumnRows.appendRow(values[i], groups - 1, open);
        }
        values[i] = open;
    }

    @Override
    long keyBytes() {
        long bytes = keys.heapBytes() + (long) (groupOf.length + firstRows.length) * Integer.BYTES;
        for (int i = 0; i < values.length; i++) {
            bytes += values[i].heapBytes() + lastKey[i].heapBytes() + emitted[i].heapBytes();
        }
        return bytes;
    }

    @Override
    void releaseKeys() {
        keys.release();
    }
}
