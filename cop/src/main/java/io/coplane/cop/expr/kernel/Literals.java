package io.coplane.cop.expr.kernel;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalBinary;

/** Numbers in the payload of literals (expressions.md 1.3). */
public final class Literals {
    private static final int SIGN = 0x80;

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

    /** The failure of a payload that is too short or broken. */
    public static CoplaneException undecodable(String what) {
        return new CoplaneException(ErrorCode.BAD_PLAN, "Unable to decode " + what + " from the request");
    }
}
