package io.coplane.types;

import java.util.List;

/**
 * Type of a column or an expression (coprocessor.md 4.1, expressions.md 1.2, 1.4, 1.5).
 *
 * @param tp MySQL type code; codes that are not known read as {@link #UNSPECIFIED}
 * @param flag {@code *_FLAG} bits; unknown bits are kept, nobody reads them
 * @param flen display length, -1 = unspecified
 * @param decimal digits after the point or fsp, -1 = unspecified
 * @param collate collation id as on the wire (negative: new collation framework)
 * @param charset empty where the wire has none
 * @param elems members of an ENUM or SET; bytes, as they need not be UTF-8; not to be modified
 */
public record FieldType(int tp, int flag, int flen, int decimal, int collate, String charset, List<byte[]> elems) {
    public static final int UNSPECIFIED = 0;
    public static final int TINY = 1;
    public static final int SHORT = 2;
    public static final int LONG = 3;
    public static final int FLOAT = 4;
    public static final int DOUBLE = 5;
    public static final int NULL = 6;
    public static final int TIMESTAMP = 7;
    public static final int LONG_LONG = 8;
    public static final int INT24 = 9;
    public static final int DATE = 10;
    public static final int DURATION = 11;
    public static final int DATE_TIME = 12;
    public static final int YEAR = 13;
    public static final int NEW_DATE = 14;
    public static final int VAR_CHAR = 15;
    public static final int BIT = 16;
    public static final int VECTOR_FLOAT32 = 0xe1;
    public static final int JSON = 0xf5;
    public static final int NEW_DECIMAL = 0xf6;
    public static final int ENUM = 0xf7;
    public static final int SET = 0xf8;
    public static final int TINY_BLOB = 0xf9;
    public static final int MEDIUM_BLOB = 0xfa;
    public static final int LONG_BLOB = 0xfb;
    public static final int BLOB = 0xfc;
    public static final int VAR_STRING = 0xfd;
    public static final int STRING = 0xfe;
    public static final int GEOMETRY = 0xff;

    public static final int NOT_NULL_FLAG = 1;
    public static final int UNSIGNED_FLAG = 32;
    public static final int BINARY_FLAG = 128;
    public static final int PARSE_TO_JSON_FLAG = 1 << 18;
    public static final int IS_BOOLEAN_FLAG = 1 << 19;

    public static final int UNSPECIFIED_LENGTH = -1;

    public FieldType {
        if (nameOrNull(tp) == null) {
            tp = UNSPECIFIED;
        }
        elems = List.copyOf(elems);
    }

    /** A type with nothing but a code, and no length. */
    public static FieldType of(int tp) {
        return new FieldType(tp, 0, UNSPECIFIED_LENGTH, UNSPECIFIED_LENGTH, 0, "", List.of());
    }

    /** True where Int values are read as uint64. */
    public boolean isUnsigned() {
        return (flag & UNSIGNED_FLAG) != 0;
    }

    /** True where the column is declared NOT NULL. */
    public boolean isNotNull() {
        return (flag & NOT_NULL_FLAG) != 0;
    }

    /** Eval type; throws where the code has none. */
    public EvalType evalType() {
        return EvalType.of(tp);
    }

    /** Name of a type code as error texts spell it. */
    public static String name(int tp) {
        String name = nameOrNull(tp);
        return name == null ? "Unspecified" : name;
    }

    private static String nameOrNull(int tp) {
        return switch (tp) {
            case UNSPECIFIED -> "Unspecified";
            case TINY -> "Tiny";
            case SHORT -> "Short";
            case LONG -> "Long";
            case FLOAT -> "Float";
            case DOUBLE -> "Double";
            case NULL -> "Null";
            case TIMESTAMP -> "Timestamp";
            case LONG_LONG -> "LongLong";
            case INT24 -> "Int24";
            case DATE -> "Date";
            case DURATION -> "Duration";
            case DATE_TIME -> "DateTime";
            case YEAR -> "Year";
            case NEW_DATE -> "NewDate";
            case VAR_CHAR -> "VarChar";
            case BIT -> "Bit";
            case VECTOR_FLOAT32 -> "TiDBVectorFloat32";
            case JSON -> "Json";
            case NEW_DECIMAL -> "NewDecimal";
            case ENUM -> "Enum";
            case SET -> "Set";
            case TINY_BLOB -> "TinyBlob";
            case MEDIUM_BLOB -> "MediumBlob";
            case LONG_BLOB -> "LongBlob";
            case BLOB -> "Blob";
            case VAR_STRING -> "VarString";
            case STRING -> "String";
            case GEOMETRY -> "Geometry";
            default -> null;
        };
    }
}
