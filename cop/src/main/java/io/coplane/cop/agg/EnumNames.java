package io.coplane.cop.agg;

import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;

/** Names of the members of an ENUM column, where they are compared by name (coprocessor.md 5). */
final class EnumNames {
    private final FieldType type;
    private final BytesColumn names = new BytesColumn();

    EnumNames(FieldType type) {
        this.type = type;
    }

    /** The names of a batch; borrowed until the next one. */
    BytesColumn of(Column members, int rows) {
        long[] numbers = ((LongColumn) members).values();
        names.resetOwned(rows);
        for (int row = 0; row < rows; row++) {
            if (members.isNull(row)) {
                names.setNull(row);
                names.setEmpty(row);
            } else {
                set(row, numbers[row]);
            }
        }
        return names;
    }

    private void set(int row, long number) {
        if (number == 0) {
            names.setEmpty(row);
            return;
        }
        if (number < 0 || number > type.elems().size()) {
            throw EvalException.uncoded("enum value out of range: ordinal=" + number + " members="
                    + type.elems().size());
        }
        byte[] name = type.elems().get((int) number - 1);
        names.set(row, name, 0, name.length);
    }
}
