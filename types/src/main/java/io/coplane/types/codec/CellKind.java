package io.coplane.types.codec;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.types.ByteSink;
import io.coplane.types.FieldType;

/** What a value of a v2 row is, and how it becomes a datum (coprocessor.md 4.6). Small ints, so that row loops switch on them. */
final class CellKind {
    static final int SIGNED = 0;
    static final int UNSIGNED = 1;
    static final int REAL = 2;
    static final int STRING = 3;
    static final int DURATION = 4;
    static final int DECIMAL = 5;
    static final int JSON = 6;
    static final int VECTOR = 7;
    static final int NULL = 8;
    static final int UNSUPPORTED = 9;

    private CellKind() {}

    static int of(FieldType type) {
        return switch (type.tp()) {
            case FieldType.TINY, FieldType.SHORT, FieldType.INT24, FieldType.LONG, FieldType.LONG_LONG ->
                type.isUnsigned() ? UNSIGNED : SIGNED;
            case FieldType.YEAR -> SIGNED;
            case FieldType.FLOAT, FieldType.DOUBLE -> REAL;
            case FieldType.VAR_CHAR,
                    FieldType.VAR_STRING,
                    FieldType.STRING,
                    FieldType.TINY_BLOB,
                    FieldType.MEDIUM_BLOB,
                    FieldType.LONG_BLOB,
                    FieldType.BLOB,
                    FieldType.GEOMETRY -> STRING;
            case FieldType.DATE,
                    FieldType.DATE_TIME,
                    FieldType.TIMESTAMP,
                    FieldType.ENUM,
                    FieldType.SET,
                    FieldType.BIT -> UNSIGNED;
            case FieldType.DURATION -> DURATION;
            case FieldType.NEW_DECIMAL -> DECIMAL;
            case FieldType.JSON -> JSON;
            case FieldType.VECTOR_FLOAT32 -> VECTOR;
            case FieldType.NULL -> NULL;
            default -> UNSUPPORTED;
        };
    }

    static CoplaneException unsupported(FieldType type) {
        return new CoplaneException(
                ErrorCode.UNSUPPORTED, "invalid data type: Unsupported FieldType " + FieldType.name(type.tp()));
    }

    /** A signed integer of 1, 2, 4 or 8 bytes, little-endian. */
    static long signed(byte[] data, int at, int length) {
        return switch (length) {
            case 1 -> data[at];
            case 2 -> Endian.shortLe(data, at);
            case 4 -> Endian.intLe(data, at);
            case 8 -> Endian.longLe(data, at);
            default -> throw Corrupt.datum("Failed to decode row v2 data as i64");
        };
    }

    /** An unsigned integer of 1, 2, 4 or 8 bytes, little-endian. */
    static long unsigned(byte[] data, int at, int length) {
        return switch (length) {
            case 1 -> data[at] & 0xff;
            case 2 -> Endian.unsignedShortLe(data, at);
            case 4 -> Endian.unsignedIntLe(data, at);
            case 8 -> Endian.longLe(data, at);
            default -> throw Corrupt.datum("Failed to decode row v2 data as u64");
        };
    }

    /** Appends the datum of a v2 cell. */
    static void putDatum(int kind, FieldType type, byte[] data, int at, int length, ByteSink out) {
        switch (kind) {
            case SIGNED -> Datums.putInt(out, signed(data, at, length));
            case UNSIGNED -> Datums.putUint(out, unsigned(data, at, length));
            case REAL -> Datums.putVerbatim(out, Datums.FLOAT, data, at, length);
            case STRING -> Datums.putCompactBytes(out, data, at, length);
            case DURATION -> Datums.putDuration(out, signed(data, at, length));
            case DECIMAL -> Datums.putVerbatim(out, Datums.DECIMAL, data, at, length);
            case JSON -> Datums.putVerbatim(out, Datums.JSON, data, at, length);
            case VECTOR -> Datums.putVerbatim(out, Datums.VECTOR_FLOAT32, data, at, length);
            case NULL -> Datums.putNull(out);
            default -> throw unsupported(type);
        }
    }
}
