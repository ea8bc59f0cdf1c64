package io.coplane.cop.exec;

import io.coplane.cop.agg.Aggregates;
import io.coplane.cop.expr.Expression;
import io.coplane.cop.kernel.ColumnRows;
import io.coplane.cop.kernel.HashGroups;
import io.coplane.cop.kernel.SortKeys;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import java.util.List;

/** Aggregation by one group expression, by the equality of its values (coprocessor.md 3.8). Groups come in the order of their first rows. */
public final class FastHashAggregation extends AggregationExecutor {
    private final KeyExpressions keys;
    private final HashGroups groups;
    private final boolean checksUtf8;
    /** Value of the first row of each group. */
    private final Column values;

    private int[] groupOf = new int[0];

    public FastHashAggregation(
            Executor source,
            List<Aggregates.Compiled> functions,
            Expression groupBy,
            long pagingSize,
            ExecutionSummary summary,
            EvalContext context,
            MemoryGuard guard) {
        super(source, columns(functions), List.of(groupBy), pagingSize, summary, context, guard);
        keys = new KeyExpressions(List.of(groupBy));
        FieldType type = groupBy.fieldType();
        values = ColumnRows.create(type.evalType());
        groups = new HashGroups(keys.kinds()[0], ColumnRows.create(type.evalType()));
        checksUtf8 = type.evalType() == EvalType.BYTES && SortKeys.needsUtf8(type.collate());
    }

    /** True if the plan may be executed by this class: one group expression of an eval type that it knows. */
    public static boolean isEligible(List<FieldType> groupTypes) {
        if (groupTypes.size() != 1) {
            return false;
        }
        EvalType type = EvalType.ofOrNull(groupTypes.get(0).tp());
        if (type == null) {
            return false;
        }
        return switch (type) {
            case INT, REAL, BYTES, DURATION, DECIMAL, DATE_TIME, VECTOR_FLOAT32 -> true;
            case JSON, ENUM, SET -> false;
        };
    }

    @Override
    void update(Batch input) {
        int rows = input.rows();
        if (rows > groupOf.length) {
            groupOf = new int[Math.max(rows, 2 * groupOf.length)];
        }
        keys.evaluate(context, input);
        if (checksUtf8) {
            SortKeys.checkUtf8((BytesColumn) keys.values()[0], rows);
        }
        groups.assign(keys.comparable()[0], rows, groupOf);
        ColumnRows.append(keys.values()[0], groups.newRows(), groups.newCount(), values);
        aggregates.update(context, input, groupOf, groups.groups());
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
        batch.lazy(next).setDecoded(rows > 0 ? values : batch.lazy(next).emptyColumn());
    }

    @Override
    long keyBytes() {
        return keys.heapBytes() + groups.heapBytes() + values.heapBytes() + (long) groupOf.length * Integer.BYTES;
    }

    @Override
    void releaseKeys() {
        keys.release();
    }
}
