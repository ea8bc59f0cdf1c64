package io.coplane.cop.expr;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalBinary;
import io.coplane.types.decimal.DecimalColumns;

/** Values of decimals, times, durations and JSON in vectors. */
final class VectorTypes {
    private VectorTypes() {}

    static void putDecimal(String text, DecimalColumn column, int row) {
        DecimalColumns.store(parse(text), column, row);
    }

    private static Decimal parse(String text) {
        Decimal value = new Decimal();
        value.parse(text).orThrow();
        return value;
    }

    static boolean sameDecimal(DecimalColumn column, int row, String text) {
        Decimal value = new Decimal();
        DecimalColumns.load(column, row, value);
        return value.compareTo(parse(text)) == 0;
    }

    static byte[] decimal(String text) {
        ByteSink out = new ByteSink(MemoryGuard.unlimited());
        DecimalBinary.write(parse(text), out);
        return out.copyBytes();
    }

    static long time(VectorLiteral literal, EvalContext eval) {
        throw new UnsupportedOperationException("time");
    }

    static long packed(VectorLiteral literal, EvalContext eval) {
        throw new UnsupportedOperationException("time");
    }

    static long[] duration(VectorLiteral literal, EvalContext eval) {
        throw new UnsupportedOperationException("duration");
    }

    static byte[] json(String text, EvalContext eval) {
        throw new UnsupportedOperationException("json");
    }

    static byte[] text(Column column, int row, EvalType type) {
        if (type == EvalType.DECIMAL) {
            Decimal value = new Decimal();
            DecimalColumns.load((DecimalColumn) column, row, value);
            return VectorCase.utf8(value.plainText());
        }
        throw new UnsupportedOperationException("text");
    }
}
