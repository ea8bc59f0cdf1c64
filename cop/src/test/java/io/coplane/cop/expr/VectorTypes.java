package io.coplane.cop.expr;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalBinary;
import io.coplane.types.decimal.DecimalColumns;
import io.coplane.types.json.JsonBuilder;
import io.coplane.types.json.JsonCompare;
import io.coplane.types.json.JsonDocs;
import io.coplane.types.json.JsonText;
import java.util.Arrays;

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

    /** JSON text in which numbers may be of a stated type and other types stand as words; see the head of the file. */
    static byte[] json(String text, EvalContext eval) {
        JsonBuilder builder = new JsonBuilder();
        new VectorJson(text, builder, eval).document();
        BytesColumn out = new BytesColumn();
        out.resetOwned(1);
        builder.finish(out, 0);
        return Arrays.copyOfRange(out.data(), out.starts()[0], out.starts()[0] + out.lengths()[0]);
    }

    /** Equal, and of equal text: 1 and 1.0 are different answers. */
    static boolean sameJson(byte[] got, byte[] wanted) {
        long left = JsonDocs.root(got, 0, got.length);
        long right = JsonDocs.root(wanted, 0, wanted.length);
        return Arrays.equals(got, wanted)
                || JsonCompare.compare(got, left, wanted, right) == 0
                        && Arrays.equals(jsonText(got, left), jsonText(wanted, right));
    }

    private static byte[] jsonText(byte[] data, long ref) {
        ByteSink out = new ByteSink(MemoryGuard.unlimited());
        JsonText.append(out, data, ref);
        return out.copyBytes();
    }

    static byte[] text(Column column, int row, EvalType type) {
        if (type == EvalType.DECIMAL) {
            Decimal value = new Decimal();
            DecimalColumns.load((DecimalColumn) column, row, value);
            return VectorCase.utf8(value.plainText());
        }
        if (type == EvalType.JSON) {
            BytesColumn bytes = (BytesColumn) column;
            ByteSink out = new ByteSink(MemoryGuard.unlimited());
            long ref = JsonDocs.root(bytes.data(), bytes.starts()[row], bytes.lengths()[row]);
            JsonText.append(out, bytes.data(), ref);
            return out.copyBytes();
        }
        if (column instanceof BytesColumn bytes) {
            return Arrays.copyOfRange(bytes.data(), bytes.starts()[row], bytes.starts()[row] + bytes.lengths()[row]);
        }
        throw new UnsupportedOperationException("text");
    }
}
