package io.coplane.cop.agg;

import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import java.util.Arrays;
import java.util.List;

/** BIT_AND, BIT_OR, BIT_XOR over 64 bits; never NULL. */
final class BitAggregate extends Aggregate {
    /** Which one. */
    enum Operation {
        AND,
        OR,
        XOR
    }

    private final Operation operation;
    private long[] states = new long[0];

    BitAggregate(FieldType type, Operation operation) {
        super(List.of(type));
        this.operation = operation;
    }

    private long initial() {
        return operation == Operation.AND ? -1 : 0;
    }

    @Override
    public void ensureGroups(int groups) {
        int before = states.length;
        if (groups > before) {
            states = Arrays.copyOf(states, grown(before, groups));
            Arrays.fill(states, before, states.length, initial());
        }
    }

    @Override
    public void update(Column argument, int[] groups, int rows) {
        long[] values = ((LongColumn) argument).values();
        for (int row = 0; row < rows; row++) {
            if (argument.isNull(row)) {
                continue;
            }
            int group = groups[row];
            switch (operation) {
                case AND -> states[group] &= values[row];
                case OR -> states[group] |= values[row];
                case XOR -> states[group] ^= values[row];
            }
        }
    }

    @Override
    public void emit(int to, Column[] results) {
        emitLongs(states, to, results[0]);
    }

    @Override
    public void keepOnly(int group) {
        long kept = states[group];
        Arrays.fill(states, initial());
        states[0] = kept;
    }

    @Override
    public long heapBytes() {
        return (long) states.length * Long.BYTES;
    }
}
