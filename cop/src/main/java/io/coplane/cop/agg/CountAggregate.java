package io.coplane.cop.agg;

import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import java.util.Arrays;
import java.util.List;

/** COUNT: rows that are not NULL. */
final class CountAggregate extends Aggregate {
    /** LongLong UNSIGNED. */
    static final FieldType COUNT_TYPE =
            new FieldType(FieldType.LONG_LONG, FieldType.UNSIGNED_FLAG, -1, -1, 0, "", List.of());

    private long[] counts = new long[0];

    CountAggregate() {
        super(List.of(COUNT_TYPE));
    }

    /** The states; borrowed. */
    long[] counts() {
        return counts;
    }

    @Override
    public void ensureGroups(int groups) {
        if (groups > counts.length) {
            counts = Arrays.copyOf(counts, grown(counts.length, groups));
        }
    }

    @Override
    public void update(Column argument, int[] groups, int rows) {
        long[] states = counts;
        if (!argument.mayHaveNulls()) {
            for (int row = 0; row < rows; row++) {
                states[groups[row]]++;
            }
            return;
        }
        for (int row = 0; row < rows; row++) {
            states[groups[row]] += argument.isNull(row) ? 0 : 1;
        }
    }

    @Override
    public void updateOnly(Column argument, int[] zeros, int rows) {
        int nulls = 0;
        if (argument.mayHaveNulls()) {
            for (int row = 0; row < rows; row++) {
                nulls += argument.isNull(row) ? 1 : 0;
            }
        }
        counts[0] += rows - nulls;
    }

    @Override
    public void emit(int to, Column[] results) {
        emitLongs(counts, to, results[0]);
    }

    @Override
    public void keepOnly(int group) {
        long kept = counts[group];
        Arrays.fill(counts, 0);
        counts[0] = kept;
    }

    @Override
    public long heapBytes() {
        return (long) counts.length * Long.BYTES;
    }
}
