package io.coplane.cop.expr;

import com.google.protobuf.ByteString;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Values of vectors as columns, constants and text. */
final class VectorValues {
    private VectorValues() {}

    static EvalType evalType(VectorLiteral literal) {
        return switch (literal.kind()) {
            case "I", "U" -> EvalType.INT;
            case "R" -> EvalType.REAL;
            case "D" -> EvalType.DECIMAL;
            case "B" -> EvalType.BYTES;
            case "T" -> EvalType.DATE_TIME;
            case "N" -> EvalType.DURATION;
            case "J" -> EvalType.JSON;
            case "V" -> EvalType.VECTOR_FLOAT32;
            case "E" -> EvalType.ENUM;
            default -> null;
        };
    }

    static EvalType castType(String name) {
        return switch (name) {
            case "Int" -> EvalType.INT;
            case "Real" -> EvalType.REAL;
            case "Decimal" -> EvalType.DECIMAL;
            case "String" -> EvalType.BYTES;
            case "Time" -> EvalType.DATE_TIME;
            case "Duration" -> EvalType.DURATION;
            case "Json" -> EvalType.JSON;
            case "VectorFloat32" -> EvalType.VECTOR_FLOAT32;
            case "Enum" -> EvalType.ENUM;
            default -> throw new AssertionError(name);
        };
    }

    private static int defaultTp(EvalType type) {
        return switch (type) {
            case INT -> FieldType.LONG_LONG;
            case REAL -> FieldType.DOUBLE;
            case DECIMAL -> FieldType.NEW_DECIMAL;
            case BYTES -> FieldType.VAR_STRING;
            case DATE_TIME -> FieldType.DATE_TIME;
            case DURATION -> FieldType.DURATION;
            case JSON -> FieldType.JSON;
            case ENUM -> FieldType.ENUM;
            case SET -> FieldType.SET;
            case VECTOR_FLOAT32 -> FieldType.VECTOR_FLOAT32;
        };
    }

    /** What words such as {@code unsigned} and {@code YEAR} say about a type. */
    static void applyWord(String word, Map<String, String> attributes) {
        switch (word) {
            case "unsigned" -> attributes.merge("flag", "UNSIGNED", (a, b) -> a + "|" + b);
            case "IS_BOOLEAN" -> attributes.merge("flag", "IS_BOOLEAN", (a, b) -> a + "|" + b);
            case "YEAR" -> attributes.put("tp", "Year");
            case "FLOAT" -> attributes.put("tp", "Float");
            case "BIT" -> attributes.put("tp", "Bit");
            default -> throw new AssertionError("unknown word: " + word);
        }
    }

    static FieldType fieldType(VectorLiteral literal, Map<String, String> attributes, EvalType wanted) {
        EvalType type = literal.kind().equals("NULL") ? wanted : evalType(literal);
        int tp = type == null ? FieldType.LONG_LONG : defaultTp(type);
        int flag = literal.kind().equals("U") ? FieldType.UNSIGNED_FLAG : 0;
        int decimal = FieldType.UNSPECIFIED_LENGTH;
        List<byte[]> elems = List.of();
        switch (literal.kind()) {
            case "T" -> {
                tp = literal.suffix().startsWith("DATETIME") || literal.suffix().startsWith("AUTO")
                        ? FieldType.DATE_TIME
                        : literal.suffix().startsWith("TIMESTAMP") ? FieldType.TIMESTAMP : FieldType.DATE;
                decimal = fsp(literal.suffix());
            }
            case "N" -> decimal = fsp(literal.suffix());
            case "E" -> {
                elems = new ArrayList<>();
                for (int i = 1; i < Integer.parseInt(literal.suffix()); i++) {
                    elems.add(new byte[] {'-'});
                }
                if (!literal.suffix().equals("0")) {
                    elems.add(literal.bytes());
                }
            }
            default -> {}
        }
        return withAttributes(tp, flag, decimal, attributes, elems);
    }

    static FieldType returnType(Map<String, String> attributes, EvalType type) {
        return withAttributes(
                type == null ? FieldType.LONG_LONG : defaultTp(type),
                0,
                FieldType.UNSPECIFIED_LENGTH,
                attributes,
                List.of());
    }

    private static FieldType withAttributes(
            int tp, int flag, int decimal, Map<String, String> attributes, List<byte[]> elems) {
        int flen = FieldType.UNSPECIFIED_LENGTH;
        int collate = 0;
        boolean rawCollate = attributes.containsKey("collate");
        String charset = "";
        int code = tp;
        int flags = flag;
        int digits = decimal;
        for (var entry : attributes.entrySet()) {
            String value = entry.getValue();
            switch (entry.getKey()) {
                case "tp" -> code = tp(value);
                case "flag" -> flags |= flag(value);
                case "flen" -> flen = Integer.parseInt(value);
                case "decimal" -> digits = Integer.parseInt(value);
                case "collation" -> collate = rawCollate ? collate : collation(value);
                case "collate" -> collate = Integer.parseInt(value);
                case "charset" -> charset = value;
                default -> throw new AssertionError("unknown attribute: " + entry);
            }
        }
        return new FieldType(code, flags, flen, digits, collate, charset, elems);
    }

    static int tp(String name) {
        for (int tp = 0; tp < 256; tp++) {
            if (FieldType.name(tp).equals(name)) {
                return tp;
            }
        }
        throw new AssertionError("unknown type: " + name);
    }

    private static int flag(String names) {
        int bits = 0;
        for (String name : names.split("\\|", -1)) {
            bits |= switch (name) {
                case "UNSIGNED" -> FieldType.UNSIGNED_FLAG;
                case "PARSE_TO_JSON" -> FieldType.PARSE_TO_JSON_FLAG;
                case "IS_BOOLEAN" -> FieldType.IS_BOOLEAN_FLAG;
                case "BINARY" -> FieldType.BINARY_FLAG;
                case "NOT_NULL" -> FieldType.NOT_NULL_FLAG;
                case "", "0" -> 0;
                default -> throw new AssertionError("unknown flag: " + name);
            };
        }
        return bits;
    }

    private static int collation(String name) {
        return switch (name) {
            case "Binary" -> 63;
            case "Utf8Mb4Bin" -> -46;
            case "Utf8Mb4BinNoPadding" -> 46;
            case "Utf8Mb4GeneralCi" -> -45;
            case "Utf8Mb4UnicodeCi" -> -224;
            case "Utf8Mb40900AiCi" -> -255;
            case "Utf8Mb40900Bin" -> -309;
            case "Latin1Bin" -> -47;
            case "GbkBin" -> -87;
            case "GbkChineseCi" -> -28;
            case "Gb18030Bin" -> -249;
            case "Gb18030ChineseCi" -> -248;
            default -> throw new AssertionError("unknown collation: " + name);
        };
    }

    static long flags(String names) {
        long bits = 0;
        for (String name : names.split("\\|", -1)) {
            bits |= switch (name) {
                case "IGNORE_TRUNCATE" -> EvalContext.IGNORE_TRUNCATE;
                case "TRUNCATE_AS_WARNING" -> EvalContext.TRUNCATE_AS_WARNING;
                case "IN_INSERT_STMT" -> EvalContext.IN_INSERT_STMT;
                case "IN_UPDATE_OR_DELETE_STMT" -> EvalContext.IN_UPDATE_OR_DELETE_STMT;
                case "IN_SELECT_STMT" -> EvalContext.IN_SELECT_STMT;
                case "OVERFLOW_AS_WARNING" -> EvalContext.OVERFLOW_AS_WARNING;
                case "DIVIDED_BY_ZERO_AS_WARNING" -> EvalContext.DIVIDED_BY_ZERO_AS_WARNING;
                case "IN_LOAD_DATA_STMT" -> EvalContext.IN_LOAD_DATA_STMT;
                default -> throw new AssertionError("unknown flag: " + name);
            };
        }
        return bits;
    }

    static long modes(String names) {
        if (names.startsWith("0x")) {
            return Long.parseLong(names.substring(2), 16);
        }
        long bits = 0;
        for (String name : names.split("\\|", -1)) {
            bits |= switch (name) {
                case "STRICT_TRANS_TABLES" -> EvalContext.MODE_STRICT_TRANS_TABLES;
                case "STRICT_ALL_TABLES" -> EvalContext.MODE_STRICT_ALL_TABLES;
                case "NO_ZERO_IN_DATE" -> EvalContext.MODE_NO_ZERO_IN_DATE;
                case "NO_ZERO_DATE" -> EvalContext.MODE_NO_ZERO_DATE;
                case "INVALID_DATES" -> EvalContext.MODE_INVALID_DATES;
                case "ERROR_FOR_DIVISION_BY_ZERO" -> EvalContext.MODE_ERROR_FOR_DIVISION_BY_ZERO;
                default -> throw new AssertionError("unknown mode: " + name);
            };
        }
        return bits;
    }

    /** The fsp in {@code TYPE(fsp)}, {@code TYPE(fsp,cut)} or {@code fsp}; 0 if there is none. */
    static int fsp(String suffix) {
        String digits = suffix;
        int open = suffix.indexOf('(');
        if (open >= 0) {
            digits = suffix.substring(open + 1, suffix.indexOf(')')).split(",", 2)[0];
        }
        try {
            return Integer.parseInt(digits);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    static io.coplane.proto.tipb.FieldType wire(FieldType type) {
        var wire = io.coplane.proto.tipb.FieldType.newBuilder()
                .setTp(type.tp())
                .setFlag(type.flag())
                .setFlen(type.flen())
                .setDecimal(type.decimal())
                .setCollate(type.collate())
                .setCharset(type.charset());
        for (byte[] elem : type.elems()) {
            wire.addElems(ByteString.copyFrom(elem));
        }
        return wire.build();
    }

    /** A column with the value in every row. */
    static Column column(VectorLiteral literal, FieldType type, EvalContext eval, int rows) {
        EvalType evalType = EvalType.of(type.tp());
        Column column = Columns.create(evalType);
        if (column instanceof BytesColumn bytes) {
            bytes.resetOwned(rows);
        } else {
            column.reset(rows);
        }
        for (int row = 0; row < rows; row++) {
            put(literal, type, eval, column, row);
        }
        return column;
    }

    static void put(VectorLiteral literal, FieldType type, EvalContext eval, Column column, int row) {
        if (literal.kind().equals("NULL")) {
            column.setNull(row);
            if (column instanceof BytesColumn bytes) {
                bytes.setEmpty(row);
            }
            return;
        }
        switch (column) {
            case LongColumn longs -> putLong(literal, type, eval, longs, row);
            case DoubleColumn doubles -> doubles.values()[row] = real(literal.text());
            case BytesColumn bytes -> {
                byte[] value = bytes(literal, type, eval);
                bytes.set(row, value, 0, value.length);
            }
            case DecimalColumn decimals -> VectorTypes.putDecimal(literal.text(), decimals, row);
        }
    }

    private static void putLong(VectorLiteral literal, FieldType type, EvalContext eval, LongColumn column, int row) {
        switch (literal.kind()) {
            case "I" -> column.values()[row] = Long.parseLong(literal.text());
            case "U" -> column.values()[row] = Long.parseUnsignedLong(literal.text());
            case "E" -> column.values()[row] = Long.parseLong(literal.suffix());
            case "T" -> column.values()[row] = VectorTypes.time(literal, eval);
            case "N" -> {
                long[] duration = VectorTypes.duration(literal, eval);
                column.values()[row] = duration[0];
                column.fsp()[row] = (byte) duration[1];
            }
            default -> throw new AssertionError("a " + literal.kind() + " for " + type);
        }
    }

    private static byte[] bytes(VectorLiteral literal, FieldType type, EvalContext eval) {
        return switch (literal.kind()) {
            case "B" -> literal.bytes();
            case "V" -> vector(literal.text());
            case "J" -> VectorTypes.json(literal.text(), eval);
            default -> throw new AssertionError("a " + literal.kind() + " for " + type);
        };
    }

    private static byte[] vector(String text) {
        String inside = text.substring(1, text.length() - 1).strip();
        String[] parts = inside.isEmpty() ? new String[0] : inside.split(",", -1);
        ByteBuffer wire = ByteBuffer.allocate(4 + 4 * parts.length).order(java.nio.ByteOrder.LITTLE_ENDIAN);
        wire.putInt(parts.length);
        for (String part : parts) {
            wire.putFloat(Float.parseFloat(part.strip()));
        }
        return wire.array();
    }

    static double real(String text) {
        return switch (text) {
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(text);
        };
    }

    /** The literal as a constant node. */
    static Expr constant(VectorLiteral literal, FieldType type, EvalContext eval) {
        Expr.Builder node = Expr.newBuilder().setFieldType(wire(type));
        switch (literal.kind()) {
            case "NULL" -> node.setTp(ExprType.Null);
            case "I" -> node.setTp(ExprType.Int64).setVal(bigEndian(Long.parseLong(literal.text()) ^ Long.MIN_VALUE));
            case "U" -> node.setTp(ExprType.Uint64).setVal(bigEndian(Long.parseUnsignedLong(literal.text())));
            case "R" -> {
                long bits = Double.doubleToRawLongBits(real(literal.text()));
                node.setTp(ExprType.Float64).setVal(bigEndian(bits < 0 ? ~bits : bits | Long.MIN_VALUE));
            }
            case "B" -> node.setTp(ExprType.String).setVal(ByteString.copyFrom(literal.bytes()));
            case "D" ->
                node.setTp(ExprType.MysqlDecimal).setVal(ByteString.copyFrom(VectorTypes.decimal(literal.text())));
            case "N" ->
                node.setTp(ExprType.MysqlDuration)
                        .setVal(bigEndian(VectorTypes.duration(literal, eval)[0] ^ Long.MIN_VALUE));
            case "T" -> node.setTp(ExprType.MysqlTime).setVal(bigEndian(VectorTypes.packed(literal, eval)));
            case "J" ->
                node.setTp(ExprType.MysqlJson).setVal(ByteString.copyFrom(VectorTypes.json(literal.text(), eval)));
            default -> throw new AssertionError(literal.kind());
        }
        return node.build();
    }

    private static ByteString bigEndian(long value) {
        return ByteString.copyFrom(ByteBuffer.allocate(Long.BYTES).putLong(0, value));
    }

    /** Null if the row is what the vector expects. */
    static String difference(
            String expect, Column column, int row, EvalType type, FieldType fieldType, EvalContext eval) {
        String got = show(column, row, type, fieldType);
        if (!expect.equals("NULL") && !expect.startsWith("~") && (expect.length() < 2 || expect.charAt(1) != ':')) {
            return null; // prose: any value, the tests of the function say more
        }
        boolean approximate = expect.startsWith("~");
        String wanted = approximate ? expect.substring(1) : expect;
        boolean asText = wanted.endsWith(" /text");
        boolean asLength = wanted.endsWith(" /len");
        if (asText || asLength) {
            wanted = wanted.substring(0, wanted.lastIndexOf(' '));
        }
        VectorLiteral literal = VectorLiteral.one(wanted);
        if (literal.kind().equals("NULL") || column.isNull(row)) {
            return literal.kind().equals("NULL") && column.isNull(row) ? null : "got " + got + ", expected " + expect;
        }
        boolean same;
        if (asLength) {
            same = ((BytesColumn) column).lengths()[row] == Integer.parseInt(literal.text());
        } else if (asText) {
            same = Arrays.equals(literal.bytes(), VectorTypes.text(column, row, type));
        } else {
            same = same(literal, approximate, column, row, type, eval);
        }
        return same ? null : "got " + got + ", expected " + expect;
    }

    private static boolean same(
            VectorLiteral literal, boolean approximate, Column column, int row, EvalType type, EvalContext eval) {
        return switch (column) {
            case LongColumn longs -> {
                long value = longs.values()[row];
                yield switch (type) {
                    case DATE_TIME -> value >>> 4 == VectorTypes.time(literal, eval) >>> 4;
                    case DURATION -> value == VectorTypes.duration(literal, eval)[0];
                    default ->
                        value
                                == (literal.text().startsWith("-")
                                        ? Long.parseLong(literal.text())
                                        : Long.parseUnsignedLong(literal.text()));
                };
            }
            case DoubleColumn doubles -> {
                double got = doubles.values()[row];
                double wanted = real(literal.text());
                yield approximate
                        ? Math.abs(got - wanted) <= Math.max(1e-12, 1e-9 * Math.abs(wanted))
                        : Double.compare(got, wanted) == 0 || got == wanted && got != 0 || ulps(got, wanted);
            }
            case BytesColumn bytes -> {
                byte[] got = Arrays.copyOfRange(
                        bytes.data(), bytes.starts()[row], bytes.starts()[row] + bytes.lengths()[row]);
                yield switch (type) {
                    case JSON -> VectorTypes.sameJson(got, VectorTypes.json(literal.text(), eval));
                    case VECTOR_FLOAT32 -> Arrays.equals(got, vector(literal.text()));
                    default -> Arrays.equals(got, literal.bytes());
                };
            }
            case DecimalColumn decimals -> VectorTypes.sameDecimal(decimals, row, literal.text());
        };
    }

    /** Zero of either sign, or the last digit of a function of the C library. */
    private static boolean ulps(double got, double wanted) {
        return got == wanted || Math.abs(got - wanted) <= 2 * Math.ulp(wanted);
    }

    static String show(Column column, int row, EvalType type, FieldType fieldType) {
        if (column.isNull(row)) {
            return "NULL";
        }
        return switch (column) {
            case LongColumn longs ->
                type == EvalType.INT || type == EvalType.ENUM
                        ? Long.toString(longs.values()[row])
                        : new String(VectorTypes.text(column, row, type), StandardCharsets.UTF_8);
            case DoubleColumn doubles -> Double.toString(doubles.values()[row]);
            case BytesColumn bytes ->
                type == EvalType.BYTES
                        ? "X:"
                                + HexFormat.of()
                                        .formatHex(
                                                bytes.data(),
                                                bytes.starts()[row],
                                                bytes.starts()[row] + bytes.lengths()[row])
                                + " "
                                + new String(
                                        bytes.data(), bytes.starts()[row], bytes.lengths()[row], StandardCharsets.UTF_8)
                        : new String(VectorTypes.text(column, row, type), StandardCharsets.UTF_8);
            case DecimalColumn ignored -> new String(VectorTypes.text(column, row, type), StandardCharsets.UTF_8);
        };
    }
}
