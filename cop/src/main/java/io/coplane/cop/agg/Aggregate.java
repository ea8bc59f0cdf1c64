package io.coplane.cop.agg;

import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import java.util.List;

/** One aggregate function and its states: state {@code g} belongs to group {@code g}. Owns its arrays; one thread. */
public abstract sealed class Aggregate
        permits CountAggregate,
                SumDecimalAggregate,
                SumRealAggregate,
                SumIntAggregate,
                FirstAggregate,
                ExtremeAggregate,
                BitAggregate,
                VarianceAggregate {
    private final List<FieldType> resultTypes;

    Aggregate(List<FieldType> resultTypes) {
        this.resultTypes = List.copyOf(resultTypes);
    }

    /** Types of the result columns, in order. */
    public final List<FieldType> resultTypes() {
        return resultTypes;
    }

    /** Makes states for groups 0 to {@code groups - 1}; new ones are empty. */
    public abstract void ensureGroups(int groups);

    /**
     * Adds rows to the states.
     *
     * @param argument values, at least {@code rows}
     * @param groups group of each row, below what {@link #ensureGroups} made
     */
    public abstract void update(Column argument, int[] groups, int rows);

    /**
     * Adds rows to the only group there is or will be: either this or {@link #update} is called for one object, never both.
     *
     * @param zeros as many zeros as rows
     */
    public void updateOnly(Column argument, int[] zeros, int rows) {
        update(argument, zeros, rows);
    }

    /**
     * Appends the results of groups {@code 0 .. to - 1}.
     *
     * @param results one growing column per result type
     */
    public abstract void emit(int to, Column[] results);

    /** Makes group {@code group} group 0 and forgets all others. */
    public abstract void keepOnly(int group);

    /** Heap bytes of the states. */
    public abstract long heapBytes();

    /** Appends longs. */
    static void emitLongs(long[] values, int to, Column result) {
        LongColumn longs = (LongColumn) result;
        int base = longs.rows();
        longs.resize(base + to);
        System.arraycopy(values, 0, longs.values(), base, to);
    }

    /** Capacity for {@code groups} states where there are {@code capacity}. */
    static int grown(int capacity, int groups) {
        return Math.max(groups, Math.max(16, 2 * capacity));
    }
}
