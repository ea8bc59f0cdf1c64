package io.coplane.cop.agg;

import io.coplane.cop.kernel.ColumnRows;
import io.coplane.cop.kernel.KeyKind;
import io.coplane.cop.kernel.SortKeys;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import java.util.Arrays;
import java.util.List;

/**
 * MAX and MIN: a value replaces the held one only if it is strictly greater or less. Strings are compared by collation, but the original is held;
 * enum members by name.
 */
final class ExtremeAggregate extends Aggregate {
    private static final long SLACK_BYTES = 1 << 16;

    private final boolean max;
    private final KeyKind kind;
    private final EnumNames enumNames;
    private final SortKeys sortKeys;
    private final boolean separateKeys;
    private Column values;
    /** What is compared; the same column as {@link #values} where the values themselves are. */
    private Column keys;

    private boolean[] seen = new boolean[0];
    private int groups;
    private long garbageCheckBytes = SLACK_BYTES;

    /**
     * @param type of the result; strings have its collation
     * @param argumentType decides whether integers are unsigned
     */
    ExtremeAggregate(FieldType type, FieldType argumentType, boolean max) {
        super(List.of(type));
        this.max = max;
        EvalType evalType = type.evalType();
        enumNames = evalType == EvalType.ENUM ? new EnumNames(argumentType) : null;
        sortKeys = evalType == EvalType.BYTES ? new SortKeys(type.collate()) : null;
        separateKeys = enumNames != null || sortKeys != null && !sortKeys.isIdentity();
        kind = evalType == EvalType.ENUM ? KeyKind.BYTES : KeyKind.of(evalType, argumentType);
        values = ColumnRows.create(evalType);
        keys = separateKeys ? ColumnRows.create(EvalType.BYTES) : values;
    }

    @Override
    public void ensureGroups(int wanted) {
        groups = Math.max(groups, wanted);
        values.resize(groups);
        if (separateKeys) {
            keys.resize(groups);
        }
        if (groups > seen.length) {
            seen = Arrays.copyOf(seen, grown(seen.length, groups));
        }
    }

    @Override
    public void update(Column argument, int[] groupOf, int rows) {
        Column compared = argument;
        if (enumNames != null) {
            compared = enumNames.of(argument, rows);
        } else if (separateKeys) {
            compared = sortKeys.of((BytesColumn) argument, rows);
        }
        boolean nulls = argument.mayHaveNulls();
        for (int row = 0; row < rows; row++) {
            if (nulls && argument.isNull(row)) {
                continue;
            }
            int group = groupOf[row];
            if (seen[group]) {
                int order = kind.compare(compared, row, keys, group);
                if (max ? order <= 0 : order >= 0) {
                    continue;
                }
            }
            seen[group] = true;
            ColumnRows.setRow(argument, row, values, group);
            if (separateKeys) {
                ColumnRows.setRow(compared, row, keys, group);
            }
        }
        dropGarbage();
    }

    /** Replaced strings stay in their column's buffer: copies what is held when most of the buffer is garbage. */
    private void dropGarbage() {
        boolean same = keys == values;
        values = compacted(values);
        keys = same ? values : compacted(keys);
    }

    private Column compacted(Column column) {
        if (!(column instanceof BytesColumn bytes)) {
            return column;
        }
        if (bytes.data().length < garbageCheckBytes) {
            return column;
        }
        garbageCheckBytes = 2L * bytes.data().length;
        long held = 0;
        for (int group = 0; group < groups; group++) {
            held += seen[group] ? bytes.lengths()[group] : 0;
        }
        if (bytes.data().length <= 4 * held + SLACK_BYTES) {
            return column;
        }
        BytesColumn copy = new BytesColumn();
        copy.resetOwned(groups);
        for (int group = 0; group < groups; group++) {
            if (seen[group]) {
                ColumnRows.setRow(bytes, group, copy, group);
            }
        }
        return copy;
    }

    @Override
    public void emit(int to, Column[] results) {
        Column result = results[0];
        int base = result.rows();
        result.resize(base + to);
        for (int group = 0; group < to; group++) {
            if (seen[group]) {
                ColumnRows.setRow(values, group, result, base + group);
            } else {
                result.setNull(base + group);
            }
        }
    }

    @Override
    public void keepOnly(int group) {
        boolean same = keys == values;
        values = only(values, group, resultTypes().get(0).evalType());
        keys = same ? values : only(keys, group, EvalType.BYTES);
        boolean keptSeen = seen[group];
        Arrays.fill(seen, false);
        seen[0] = keptSeen;
        groups = 1;
    }

    private Column only(Column column, int group, EvalType type) {
        Column kept = ColumnRows.create(type);
        kept.resize(1);
        if (seen[group]) {
            ColumnRows.setRow(column, group, kept, 0);
        }
        return kept;
    }

    @Override
    public long heapBytes() {
        return values.heapBytes() + (separateKeys ? keys.heapBytes() : 0) + seen.length;
    }
}
