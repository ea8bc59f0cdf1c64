package io.coplane.types;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/** What expressions compute with (coprocessor.md 4.1, expressions.md 1.4). */
public enum EvalType {
    INT("Int"),
    REAL("Real"),
    DECIMAL("Decimal"),
    BYTES("Bytes"),
    DATE_TIME("DateTime"),
    DURATION("Duration"),
    JSON("Json"),
    ENUM("Enum"),
    SET("Set"),
    VECTOR_FLOAT32("VectorFloat32");

    private final String label;

    EvalType(String label) {
        this.label = label;
    }

    /** Name as it stands in error texts. */
    public String label() {
        return label;
    }

    /**
     * Eval type of a field type code.
     *
     * @throws CoplaneException UNSUPPORTED for the codes without one
     */
    public static EvalType of(int tp) {
        EvalType type = ofOrNull(tp);
        if (type == null) {
            throw new CoplaneException(ErrorCode.UNSUPPORTED, "Unsupported type: " + FieldType.name(tp));
        }
        return type;
    }

    /** Eval type of a field type code, or null where it has none (Unspecified, NewDate, Set, Geometry, unknown codes). */
    public static EvalType ofOrNull(int tp) {
        return switch (tp) {
            case FieldType.TINY,
                    FieldType.SHORT,
                    FieldType.LONG,
                    FieldType.LONG_LONG,
                    FieldType.INT24,
                    FieldType.YEAR,
                    FieldType.BIT -> INT;
            case FieldType.FLOAT, FieldType.DOUBLE -> REAL;
            case FieldType.NEW_DECIMAL -> DECIMAL;
            case FieldType.NULL,
                    FieldType.VAR_CHAR,
                    FieldType.TINY_BLOB,
                    FieldType.MEDIUM_BLOB,
                    FieldType.LONG_BLOB,
                    FieldType.BLOB,
                    FieldType.VAR_STRING,
                    FieldType.STRING -> BYTES;
            case FieldType.TIMESTAMP, FieldType.DATE, FieldType.DATE_TIME -> DATE_TIME;
            case FieldType.DURATION -> DURATION;
            case FieldType.JSON -> JSON;
            case FieldType.ENUM -> ENUM;
            case FieldType.VECTOR_FLOAT32 -> VECTOR_FLOAT32;
            default -> null;
        };
    }
}
