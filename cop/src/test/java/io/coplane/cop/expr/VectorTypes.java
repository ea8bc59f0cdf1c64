package io.coplane.cop.expr;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalBinary;
import io.coplane.types.decimal.DecimalColumns;
import io.coplane.types.json.JsonBuilder;
import io.coplane.types.json.JsonCompare;
import io.coplane.types.json.JsonDocs;
import io.coplane.types.json.JsonText;
import io.coplane.types.time.DurationParser;
import io.coplane.types.time.Durations;
import io.coplane.types.time.TimeCore;
import io.coplane.types.time.TimeParser;
import io.coplane.types.time.Times;
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
        String suffix = literal.suffix();
        int type = suffix.startsWith("DATETIME")
                ? FieldType.DATE_TIME
                : suffix.startsWith("TIMESTAMP")
                        ? FieldType.TIMESTAMP
                        : suffix.startsWith("DATE") ? FieldType.DATE : TimeParser.ANY_TYPE;
        byte[] text = VectorCase.utf8(literal.text());
        int fsp = type == FieldType.DATE ? 0 : Math.max(0, VectorValues.fsp(suffix));
        EvalContext lenient = new EvalContext(0, 0, eval.zoneTable(), 64, 4, eval.clock());
        long core = new TimeParser().parse(lenient, text, 0, text.length, type, fsp, !suffix.contains("cut"));
        if (core == Times.NONE) {
            throw new AssertionError("no time: " + literal);
        }
        return core;
    }

    static long packed(VectorLiteral literal, EvalContext eval) {
        return TimeCore.toPacked(time(literal, eval), eval);
    }

    static long[] duration(VectorLiteral literal, EvalContext eval) {
        int fsp = Math.max(0, VectorValues.fsp(literal.suffix()));
        if (literal.text().startsWith("#")) {
            String[] parts = literal.text().substring(1).split(" ", 2);
            long unit = switch (parts[0]) {
                case "nanos" -> 1L;
                case "micros" -> 1_000L;
                case "millis" -> 1_000_000L;
                case "secs" -> 1_000_000_000L;
                default -> throw new AssertionError(parts[0]);
            };
            return new long[] {Durations.round(Long.parseLong(parts[1]) * unit, fsp), fsp};
        }
        DurationParser parser = new DurationParser();
        byte[] text = VectorCase.utf8(literal.text());
        EvalContext lenient = new EvalContext(0, 0, eval.zoneTable(), 64, 4, eval.clock());
        if (!parser.parse(lenient, text, 0, text.length, fsp, true, false)) {
            throw new AssertionError("no duration: " + literal);
        }
        return new long[] {parser.nanos(), fsp};
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
        LongColumn longs = (LongColumn) column;
        return VectorCase.utf8(
                switch (type) {
                    case DATE_TIME -> Times.text(longs.values()[row]);
                    case DURATION -> Durations.text(longs.values()[row], longs.fsp()[row]);
                    default -> Long.toString(longs.values()[row]);
                });
    }
}
