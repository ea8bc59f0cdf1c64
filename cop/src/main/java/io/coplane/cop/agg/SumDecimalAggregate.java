package io.coplane.cop.agg;

import io.coplane.cop.kernel.ColumnRows;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.decimal.DecimalSum;
import java.util.List;

/** SUM and AVG of decimals; AVG gives the count too. Keeps the digits it has accumulated: no rounding. */
final class SumDecimalAggregate extends Aggregate {
    private final CountAggregate counts = new CountAggregate();
    private final DecimalSums sums = new DecimalSums();
    private final boolean withCount;
    /** The sum of the only group, if there is but one. */
    private DecimalSum only;

    SumDecimalAggregate(FieldType type, boolean withCount) {
        super(withCount ? List.of(CountAggregate.COUNT_TYPE, type) : List.of(type));
        this.withCount = withCount;
    }

    @Override
    public void ensureGroups(int groups) {
        counts.ensureGroups(groups);
        sums.ensureGroups(groups);
    }

    @Override
    public void update(Column argument, int[] groups, int rows) {
        counts.update(argument, groups, rows);
        sums.add((DecimalColumn) argument, groups, rows);
    }

    @Override
    public void updateOnly(Column argument, int[] zeros, int rows) {
        counts.updateOnly(argument, zeros, rows);
        if (only == null) {
            only = new DecimalSum();
        }
        only.add((DecimalColumn) argument, 0, rows);
    }

    @Override
    public void emit(int to, Column[] results) {
        if (withCount) {
            counts.emit(to, results);
        }
        Column result = results[withCount ? 1 : 0];
        long[] seen = counts.counts();
        int base = result.rows();
        result.resize(base + to);
        for (int group = 0; group < to; group++) {
            if (seen[group] == 0) {
                result.setNull(base + group);
            } else if (only != null) {
                only.get((DecimalColumn) result, base);
            } else {
                ColumnRows.setRow(sums.column(), group, result, base + group);
            }
        }
    }

    @Override
    public void keepOnly(int group) {
        counts.keepOnly(group);
        sums.keepOnly(group);
    }

    @Override
    public long heapBytes() {
        return counts.heapBytes() + sums.heapBytes();
    }
}
