package io.coplane.cop.agg;

import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import java.util.Arrays;
import java.util.List;

/** SUM_INT: checked 64-bit addition. */
final class SumIntAggregate extends Aggregate {
    private static final int OUT_OF_RANGE = 1690;

    private final CountAggregate counts = new CountAggregate();
    private final boolean unsigned;
    private long[] sums = new long[0];

    SumIntAggregate(FieldType type) {
        super(List.of(type));
        unsigned = type.isUnsigned();
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
        long[] values = ((LongColumn) argument).values();
        for (int row = 0; row < rows; row++) {
            if (argument.isNull(row)) {
                continue;
            }
            long sum = sums[groups[row]];
            long total = sum + values[row];
            boolean overflow =
                    unsigned ? Long.compareUnsigned(total, sum) < 0 : ((sum ^ total) & (values[row] ^ total)) < 0;
            if (overflow) {
                throw overflow(sum, values[row]);
            }
            sums[groups[row]] = total;
        }
    }

    private EvalException overflow(long sum, long value) {
        String text = unsigned
                ? "BIGINT UNSIGNED value is out of range in '(" + Long.toUnsignedString(sum) + " + "
                        + Long.toUnsignedString(value) + ")'"
                : "BIGINT value is out of range in '(" + sum + " + " + value + ")'";
        return EvalException.coded(OUT_OF_RANGE, text);
    }

    @Override
    public void emit(int to, Column[] results) {
        int base = results[0].rows();
        emitLongs(sums, to, results[0]);
        long[] seen = counts.counts();
        for (int group = 0; group < to; group++) {
            if (seen[group] == 0) {
                results[0].setNull(base + group);
            }
        }
    }

    @Override
    public void keepOnly(int group) {
        counts.keepOnly(group);
        long kept = sums[group];
        Arrays.fill(sums, 0);
        sums[0] = kept;
    }

    @Override
    public long heapBytes() {
        return counts.heapBytes() + (long) sums.length * Long.BYTES;
    }
}
