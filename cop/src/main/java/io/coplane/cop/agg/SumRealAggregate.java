package io.coplane.cop.agg;

import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import io.coplane.types.column.DoubleColumn;
import java.util.Arrays;
import java.util.List;

/** SUM and AVG of reals, added in row order; AVG gives the count too. */
final class SumRealAggregate extends Aggregate {
    private final CountAggregate counts = new CountAggregate();
    private final boolean withCount;
    private double[] sums = new double[0];

    SumRealAggregate(FieldType type, boolean withCount) {
        super(withCount ? List.of(CountAggregate.COUNT_TYPE, type) : List.of(type));
        this.withCount = withCount;
    }

    @Override
    public void ensureGroups(int groups) {
        counts.ensureGroups(groups);
        if (groups > sums.length) {
            sums = Arrays.copyOf(sums, grown(sums.length, groups));
        }
    }

    @Override
    public void update(Column argument, int[] groups, int rows) {
        counts.update(argument, groups, rows);
        double[] values = ((DoubleColumn) argument).values();
        double[] states = sums;
        boolean nulls = argument.mayHaveNulls();
        for (int row = 0; row < rows; row++) {
            if (!nulls || !argument.isNull(row)) {
                states[groups[row]] += values[row];
            }
        }
    }

    @Override
    public void emit(int to, Column[] results) {
        if (withCount) {
            counts.emit(to, results);
        }
        DoubleColumn result = (DoubleColumn) results[withCount ? 1 : 0];
        long[] seen = counts.counts();
        int base = result.rows();
        result.resize(base + to);
        for (int group = 0; group < to; group++) {
            if (seen[group] == 0) {
                result.setNull(base + group);
            } else {
                result.values()[base + group] = sums[group];
            }
        }
    }

    @Override
    public void keepOnly(int group) {
        counts.keepOnly(group);
        double kept = sums[group];
        Arrays.fill(sums, 0);
        sums[0] = kept;
    }

    @Override
    public long heapBytes() {
        return counts.heapBytes() + (long) sums.length * Double.BYTES;
    }
}
