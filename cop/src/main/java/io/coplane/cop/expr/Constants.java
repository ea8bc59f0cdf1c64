package io.coplane.cop.expr;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;

/** Literals (expressions.md 1.3). */
final class Constants {
    private static final byte FLOAT_SIGN = (byte) 0x80;

    private Constants() {}

    /** Decodes a literal; the kind must fit the eval type of its field type. */
    static Expression decode(Expr node, FieldType type, EvalContext eval) {
        EvalType evalType = type.evalType();
        Column column = Columns.create(evalType);
        if (column instanceof BytesColumn bytes) {
            bytes.resetOwned(1);
            bytes.setEmpty(0);
        } else {
            column.reset(1);
        }
        ByteString val = node.getVal();
        ExprType tp = node.getTp();
        if (tp == ExprType.Null) {
            column.setNull(0);
            return new ConstantExpression(type, evalType, column);
        }
        switch (tp) {
            case Int64 -> {
                expect(evalType == EvalType.INT, tp, evalType);
                ((LongColumn) column).values()[0] = comparableLong(longBytes(val, "int64"));
            }
            case Uint64 -> {
                expect(evalType == EvalType.INT, tp, evalType);
                ((LongColumn) column).values()[0] = bigEndian(longBytes(val, "uint64"));
            }
            case MysqlBit -> {
                expect(evalType == EvalType.INT, tp, evalType);
                ((LongColumn) column).values()[0] = bits(val);
            }
            case Float32, Float64 -> {
                expect(evalType == EvalType.REAL, tp, evalType);
                double value = comparableDouble(longBytes(val, "float"));
                if (Double.isNaN(value)) {
                    column.setNull(0);
                } else {
                    ((DoubleColumn) column).values()[0] = value;
                }
            }
            case String, Bytes -> {
                expect(evalType == EvalType.BYTES, tp, evalType);
                ((BytesColumn) column).set(0, val.toByteArray(), 0, val.size());
            }
            case MysqlEnum -> {
                expect(evalType == EvalType.ENUM, tp, evalType);
                long ordinal = bigEndian(longBytes(val, "enum"));
                Columns.memberName(type.elems(), ordinal); // the reference looks it up here
                ((LongColumn) column).values()[0] = ordinal;
            }
            default -> throw unexpected(tp, evalType);
        }
        return new ConstantExpression(type, evalType, column);
    }

    private static void expect(boolean fits, ExprType tp, EvalType evalType) {
        if (!fits) {
            throw unexpected(tp, evalType);
        }
    }

    private static CoplaneException unexpected(ExprType tp, EvalType evalType) {
        return new CoplaneException(
                ErrorCode.BAD_PLAN, "Unexpected ExprType " + tp.name() + " and EvalType " + evalType.label());
    }

    private static ByteString longBytes(ByteString val, String what) {
        if (val.size() < Long.BYTES) {
            throw undecodable(what);
        }
        return val;
    }

    private static CoplaneException undecodable(String what) {
        return new CoplaneException(ErrorCode.BAD_PLAN, "Unable to decode " + what + " from the request");
    }

    /** The first eight bytes as a comparable int64. */
    static long comparableLong(ByteString val) {
        return bigEndian(val) ^ Long.MIN_VALUE;
    }

    /** The first eight bytes as a big-endian number. */
    static long bigEndian(ByteString val) {
        long value = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            value = value << 8 | val.byteAt(i) & 0xff;
        }
        return value;
    }

    /** The first eight bytes as a comparable float64. */
    static double comparableDouble(ByteString val) {
        long bits = bigEndian(val);
        return Double.longBitsToDouble((val.byteAt(0) & FLOAT_SIGN) != 0 ? bits & Long.MAX_VALUE : ~bits);
    }

    private static long bits(ByteString val) {
        if (val.size() > Long.BYTES) {
            throw undecodable("bit");
        }
        long value = 0;
        for (int i = 0; i < val.size(); i++) {
            value = value << 8 | val.byteAt(i) & 0xff;
        }
        return value;
    }
}
