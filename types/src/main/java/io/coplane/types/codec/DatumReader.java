package io.coplane.types.codec;

import io.coplane.nativecache.CoplaneException;
import io.coplane.types.EvalType;

/** Payloads of single datums, by what they are to become (coprocessor.md 4.4). */
final class DatumReader {
    static final int INT_FLAGS = 1 << Datums.INT | 1 << Datums.UINT | 1 << Datums.VAR_INT | 1 << Datums.VAR_UINT;
    static final int TIME_FLAGS = 1 << Datums.UINT | 1 << Datums.VAR_UINT;
    static final int DURATION_FLAGS = 1 << Datums.DURATION | 1 << Datums.VAR_INT;
    static final int ENUM_FLAGS = 1 << Datums.COMPACT_BYTES | 1 << Datums.UINT | 1 << Datums.VAR_UINT;

    private static final int MAX_MASKED_FLAG = 31;

    private DatumReader() {}

    static CoplaneException unsupportedFlag(int flag, EvalType type) {
        return Corrupt.datum("Unsupported datum flag " + flag + " for " + type.label() + " vector");
    }

    /** True if the datum is NULL. */
    static boolean isNull(byte[] data, int at, int end) {
        if (at >= end) {
            throw Corrupt.noFlag();
        }
        return data[at] == Datums.NIL;
    }

    /** The 64 bits of an integer datum that is not NULL. @param accepted a bit per flag */
    static long integer(byte[] data, int at, int end, int accepted, EvalType type) {
        int flag = data[at] & 0xff;
        if (flag > MAX_MASKED_FLAG || (accepted >>> flag & 1) == 0) {
            throw unsupportedFlag(flag, type);
        }
        int payload = at + 1;
        return switch (flag) {
            case Datums.INT, Datums.DURATION -> {
                if (end - payload < Long.BYTES) {
                    throw Corrupt.payload("i64");
                }
                yield Memcomparable.getLong(data, payload);
            }
            case Datums.UINT -> {
                if (end - payload < Long.BYTES) {
                    throw Corrupt.payload("u64");
                }
                yield Memcomparable.getUlong(data, payload);
            }
            case Datums.VAR_INT -> Varints.unzigzag(varint(data, payload, end, "var_i64"));
            case Datums.VAR_UINT -> varint(data, payload, end, "var_u64");
            case Datums.COMPACT_BYTES -> {
                int start = payload + compactPrefix(data, payload, end);
                yield varint(data, start, end, "var_u64");
            }
            default -> throw unsupportedFlag(flag, type);
        };
    }

    private static long varint(byte[] data, int at, int end, String kind) {
        int length = Varints.length(data, at, end);
        if (length == 0) {
            throw Corrupt.payload(kind);
        }
        return Varints.getUint(data, at, length);
    }

    /** Bytes of the length in front of compact bytes that lie wholly before {@code end}. */
    static int compactPrefix(byte[] data, int at, int end) {
        if (Datums.compactBytes(data, at, end) < 0) {
            throw Corrupt.payload("compact bytes");
        }
        return Varints.length(data, at, end);
    }

    /** The double of a datum that is not NULL. */
    static double real(byte[] data, int at, int end) {
        int flag = data[at] & 0xff;
        if (flag != Datums.FLOAT) {
            throw unsupportedFlag(flag, EvalType.REAL);
        }
        if (end - at - 1 < Long.BYTES) {
            throw Corrupt.payload("f64");
        }
        return Memcomparable.getDouble(data, at + 1);
    }

    /** Where the decimal of a datum that is not NULL starts. */
    static int decimal(byte[] data, int at) {
        int flag = data[at] & 0xff;
        if (flag != Datums.DECIMAL) {
            throw unsupportedFlag(flag, EvalType.DECIMAL);
        }
        return at + 1;
    }

    /** Bytes of the JSON value at {@code at}, checked to lie before {@code end}. */
    static int jsonLength(byte[] data, int at, int end) {
        long length = Datums.jsonBytes(data, at, end);
        if (length < 0 || length > end - at) {
            throw Corrupt.payload("json");
        }
        return (int) length;
    }

    /** Bytes of the vector at {@code at}, checked to lie before {@code end} and to be finite; 0 for no bytes at all. */
    static int vectorLength(byte[] data, int at, int end) {
        if (at == end) {
            return 0;
        }
        long length = Datums.vectorBytes(data, at, end);
        if (length < 0 || length > end - at) {
            throw Corrupt.payload("vector float32");
        }
        for (int i = at + Integer.BYTES; i < at + (int) length; i += Float.BYTES) {
            float value = Float.intBitsToFloat(Endian.intLe(data, i));
            if (Float.isNaN(value)) {
                throw Corrupt.datum("NaN not allowed in vector");
            }
            if (Float.isInfinite(value)) {
                throw Corrupt.datum("infinite value not allowed in vector");
            }
        }
        return (int) length;
    }
}
