package io.coplane.cop.agg;

import io.coplane.types.column.DecimalColumn;
import io.coplane.types.decimal.DecimalColumns;

/** Running decimal sums by group. Truncation and overflow are errors whatever the flags say (coprocessor.md 5). */
final class DecimalSums {
    private final DecimalColumn sums = new DecimalColumn();
    private final DecimalColumns.Scratch scratch = new DecimalColumns.Scratch();

    DecimalSums() {
        sums.reset(0);
    }

    /** The sums; borrowed. */
    DecimalColumn column() {
        return sums;
    }

    /** Makes sums for this many groups; new ones are zero. */
    void ensureGroups(int groups) {
        int before = sums.rows();
        if (groups > before) {
            sums.resize(groups);
            for (int group = before; group < groups; group++) {
                DecimalColumns.setZero(sums, group);
            }
        }
    }

    /** Adds rows that are not NULL. */
    void add(DecimalColumn values, int[] groups, int rows) {
        boolean nulls = values.mayHaveNulls();
        for (int row = 0; row < rows; row++) {
            if (!nulls || !values.isNull(row)) {
                DecimalColumns.accumulate(sums, groups[row], values, row, scratch);
            }
        }
    }

    /** Makes group {@code group} group 0 and forgets the others. */
    void keepOnly(int group) {
        sums.keep(new int[] {group}, 1);
    }

    long heapBytes() {
        return sums.heapBytes();
    }
}
