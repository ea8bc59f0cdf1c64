package io.coplane.cop.agg;

import io.coplane.cop.kernel.ColumnRows;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import java.util.Arrays;
import java.util.List;

/** FIRST_ROW: the value of the first row of the group, NULL included. */
final class FirstAggregate extends Aggregate {
    private Column values;
    private boolean[] seen = new boolean[0];
    private int groups;

    FirstAggregate(FieldType type) {
        super(List.of(type));
        values = ColumnRows.create(type.evalType());
    }

    @Override
    public void ensureGroups(int wanted) {
        groups = Math.max(groups, wanted);
        values.resize(groups);
        if (groups > seen.length) {
            seen = Arrays.copyOf(seen, grown(seen.length, groups));
        }
    }

    @Override
    public void update(Column argument, int[] groupOf, int rows) {
        for (int row = 0; row < rows; row++) {
            int group = groupOf[row];
            if (!seen[group]) {
                seen[group] = true;
                if (argument.isNull(row)) {
                    values.setNull(group);
                } else {
                    ColumnRows.setRow(argument, row, values, group);
                }
            }
        }
    }

    @Override
    public void emit(int to, Column[] results) {
        int[] all = new int[to];
        Arrays.setAll(all, i -> i);
        int base = results[0].rows();
        ColumnRows.append(values, all, to, results[0]);
        for (int group = 0; group < to; group++) {
            if (!seen[group]) {
                results[0].setNull(base + group);
            }
        }
    }

    @Override
    public void keepOnly(int group) {
        Column kept = ColumnRows.create(resultTypes().get(0).evalType());
        ColumnRows.appendRow(values, group, kept);
        values = kept;
        boolean keptSeen = seen[group];
        Arrays.fill(seen, false);
        seen[0] = keptSeen;
        groups = 1;
    }

    @Override
    public long heapBytes() {
        return values.heapBytes() + seen.length;
    }
}
