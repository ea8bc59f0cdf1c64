package io.coplane.cop.expr.kernel;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalBinary;

/** Numbers in the payload of literals (expressions.md 1.3). */
public final class Literals {
    private static final int SIGN = 0x80;
    private static final int MOST_FSP = 6;

    private Literals() {}

    /** A comparable int64. */
    public static long comparableLong(ByteString val) {
        return bigEndian(val, "int64") ^ Long.MIN_VALUE;
    }

    /**
     * Eight bytes, big-endian.
     *
     * @param what named by the error
     */
    public static long bigEndian(ByteString val, String what) {
        if (val.size() < Long.BYTES) {
            throw undecodable(what);
        }
        long value = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            value = value << 8 | val.byteAt(i) & 0xff;
        }
        return value;
    }

    /** A comparable float64; may be NaN. */
    public static double comparableDouble(ByteString val) {
        long bits = bigEndian(val, "float");
        return Double.longBitsToDouble((val.byteAt(0) & SIGN) != 0 ? bits & Long.MAX_VALUE : ~bits);
    }

    /** Up to eight bytes, big-endian. */
    public static long bits(ByteString val) {
        if (val.size() > Long.BYTES) {
            throw undecodable("bit");
        }
        long value = 0;
        for (int i = 0; i < val.size(); i++) {
            value = value << 8 | val.byteAt(i) & 0xff;
        }
        return value;
    }

    /** A decimal: precision, fraction digits, comparable digits. */
    public static Decimal decimal(ByteString val) {
        Decimal value = new Decimal();
        try {
            DecimalBinary.read(val.toByteArray(), 0, val.size(), value);
        } catch (CoplaneException e) {
            throw new CoplaneException(ErrorCode.BAD_PLAN, "Unable to decode decimal from the request", e);
        }
        return value;
    }

    /** Bytes of a vector: uint32 LE count, then that many float32; more bytes are ignored. */
    public static int vectorLength(byte[] bytes) {
        long count = -1;
        if (bytes.length >= Integer.BYTES) {
            count = bytes[0] & 0xffL | (bytes[1] & 0xffL) << 8 | (bytes[2] & 0xffL) << 16 | (bytes[3] & 0xffL) << 24;
        }
        long length = Integer.BYTES + count * Float.BYTES;
        if (count < 0 || length > bytes.length) {
            throw undecodable("vector float32");
        }
        return (int) length;
    }

    /** Fraction digits of a time's field type: -1 is 0. */
    public static int fsp(FieldType type) {
        if (type.decimal() == FieldType.UNSPECIFIED_LENGTH) {
            return 0;
        }
        if (type.decimal() < 0 || type.decimal() > MOST_FSP) {
            throw EvalException.uncoded("invalid data type: Invalid fsp " + type.decimal());
        }
        return type.decimal();
    }

    /** The failure of a payload that is too short or broken. */
    public static CoplaneException undecodable(String what) {
        return new CoplaneException(ErrorCode.BAD_PLAN, "Unable to decode " + what + " from the request");
    }
}
