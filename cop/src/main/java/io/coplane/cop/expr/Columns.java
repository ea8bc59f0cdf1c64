package io.coplane.cop.expr;

import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import java.util.List;

/** Columns by eval type. */
final class Columns {
    private static final byte[] NO_NAME = {};

    private Columns() {}

    /** An empty column for values of the type. */
    static Column create(EvalType type) {
        return switch (type) {
            case INT, DATE_TIME, DURATION, ENUM, SET -> new LongColumn();
            case REAL -> new DoubleColumn();
            case DECIMAL -> new DecimalColumn();
            case BYTES, JSON, VECTOR_FLOAT32 -> new BytesColumn();
        };
    }

    /** Name of an ENUM member; empty for 0. Beyond the list is an error (expressions.md 6.10, 13). */
    static byte[] memberName(List<byte[]> elems, long ordinal) {
        if (ordinal == 0) {
            return NO_NAME;
        }
        if (ordinal < 0 || ordinal > elems.size()) {
            throw EvalException.uncoded("enum value out of range: ordinal=" + ordinal + " members=" + elems.size());
        }
        return elems.get((int) ordinal - 1);
    }
}
