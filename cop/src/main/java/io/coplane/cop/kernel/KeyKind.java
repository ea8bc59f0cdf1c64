package io.coplane.cop.kernel;

import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.DecimalColumns;
import io.coplane.types.json.JsonCompare;
import io.coplane.types.json.JsonDocs;
import java.util.Arrays;

/** How two values of a sort or group key compare (coprocessor.md 3.9). NULL is less than any value. */
public enum KeyKind {
    /** Int, Duration. */
    SIGNED,
    /** Unsigned Int, Enum, Set. */
    UNSIGNED,
    /** Core times: what is below bit 4 does not count. */
    TIME,
    REAL,
    DECIMAL,
    /** Sort keys of strings: unsigned bytes. */
    BYTES,
    JSON,
    /** float32 lists. */
    VECTOR;

    /** Kind of the values of an expression. Strings are compared by their sort keys: see {@link SortKeys}. */
    public static KeyKind of(EvalType type, FieldType fieldType) {
        return switch (type) {
            case INT -> fieldType.isUnsigned() ? UNSIGNED : SIGNED;
            case ENUM, SET -> UNSIGNED;
            case DURATION -> SIGNED;
            case DATE_TIME -> TIME;
            case REAL -> REAL;
            case DECIMAL -> DECIMAL;
            case BYTES -> BYTES;
            case JSON -> JSON;
            case VECTOR_FLOAT32 -> VECTOR;
        };
    }

    /** Compares two rows, NULLs included. */
    public int compare(Column left, int i, Column right, int j) {
        boolean leftNull = left.isNull(i);
        boolean rightNull = right.isNull(j);
        if (leftNull || rightNull) {
            return leftNull == rightNull ? 0 : leftNull ? -1 : 1;
        }
        return switch (this) {
            case SIGNED -> Long.compare(((LongColumn) left).values()[i], ((LongColumn) right).values()[j]);
            case UNSIGNED -> Long.compareUnsigned(((LongColumn) left).values()[i], ((LongColumn) right).values()[j]);
            case TIME -> Long.compare(((LongColumn) left).values()[i] >>> 4, ((LongColumn) right).values()[j] >>> 4);
            case REAL -> {
                double a = ((DoubleColumn) left).values()[i];
                double b = ((DoubleColumn) right).values()[j];
                yield a < b ? -1 : a > b ? 1 : 0;
            }
            case DECIMAL -> compareDecimals((DecimalColumn) left, i, (DecimalColumn) right, j);
            case BYTES -> compareBytes((BytesColumn) left, i, (BytesColumn) right, j);
            case JSON -> compareJson((BytesColumn) left, i, (BytesColumn) right, j);
            case VECTOR -> compareVectors((BytesColumn) left, i, (BytesColumn) right, j);
        };
    }

    private static int compareDecimals(DecimalColumn left, int i, DecimalColumn right, int j) {
        int header = left.headers()[i];
        if (((header ^ right.headers()[j]) & ~DecimalColumn.TAIL) == 0 && (header & DecimalColumn.FLAT) != 0) {
            return Long.compare(left.unscaled()[i], right.unscaled()[j]);
        }
        return DecimalColumns.compare(left, i, right, j, new DecimalColumns.Scratch());
    }

    private static int compareBytes(BytesColumn left, int i, BytesColumn right, int j) {
        int leftStart = left.starts()[i];
        int rightStart = right.starts()[j];
        return Arrays.compareUnsigned(
                left.data(),
                leftStart,
                leftStart + left.lengths()[i],
                right.data(),
                rightStart,
                rightStart + right.lengths()[j]);
    }

    private static int compareJson(BytesColumn left, int i, BytesColumn right, int j) {
        byte[] a = left.data();
        byte[] b = right.data();
        return JsonCompare.compare(
                a,
                JsonDocs.root(a, left.starts()[i], left.lengths()[i]),
                b,
                JsonDocs.root(b, right.starts()[j], right.lengths()[j]));
    }

    private static int compareVectors(BytesColumn left, int i, BytesColumn right, int j) {
        int a = left.starts()[i];
        int b = right.starts()[j];
        int leftCount = Math.max(0, left.lengths()[i] - Integer.BYTES) / Float.BYTES;
        int rightCount = Math.max(0, right.lengths()[j] - Integer.BYTES) / Float.BYTES;
        for (int k = 1; k <= Math.min(leftCount, rightCount); k++) {
            float x = HeapWords.floatAt(left.data(), a + k * Float.BYTES);
            float y = HeapWords.floatAt(right.data(), b + k * Float.BYTES);
            if (x != y) {
                return x < y ? -1 : 1;
            }
        }
        return Integer.compare(leftCount, rightCount);
    }
}
