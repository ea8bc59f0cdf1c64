package io.coplane.cop.expr;

import com.google.protobuf.ByteString;
import io.coplane.cop.expr.kernel.Literals;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
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
import io.coplane.types.decimal.DecimalColumns;
import io.coplane.types.json.JsonDocs;
import io.coplane.types.time.TimeCore;

/** Literals (expressions.md 1.3). */
final class Constants {
    private static final byte DURATION_FSP = 6;

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
                ((LongColumn) column).values()[0] = Literals.comparableLong(val);
            }
            case Uint64 -> {
                expect(evalType == EvalType.INT, tp, evalType);
                ((LongColumn) column).values()[0] = Literals.bigEndian(val, "uint64");
            }
            case MysqlBit -> {
                expect(evalType == EvalType.INT, tp, evalType);
                ((LongColumn) column).values()[0] = Literals.bits(val);
            }
            case Float32, Float64 -> {
                expect(evalType == EvalType.REAL, tp, evalType);
                double value = Literals.comparableDouble(val);
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
                long ordinal = Literals.bigEndian(val, "enum");
                Columns.memberName(type.elems(), ordinal); // the reference looks it up here
                ((LongColumn) column).values()[0] = ordinal;
            }
            case MysqlDecimal -> {
                expect(evalType == EvalType.DECIMAL, tp, evalType);
                DecimalColumns.store(Literals.decimal(val), (DecimalColumn) column, 0);
            }
            case MysqlDuration -> {
                expect(evalType == EvalType.DURATION, tp, evalType);
                if (val.size() < Long.BYTES) {
                    throw Literals.undecodable("duration");
                }
                ((LongColumn) column).values()[0] = Literals.comparableLong(val);
                ((LongColumn) column).fsp()[0] = DURATION_FSP;
            }
            case MysqlJson -> {
                expect(evalType == EvalType.JSON, tp, evalType);
                byte[] bytes = val.toByteArray();
                try {
                    JsonDocs.root(bytes, 0, bytes.length);
                } catch (CoplaneException e) {
                    throw new CoplaneException(ErrorCode.BAD_PLAN, "Unable to decode json from the request", e);
                }
                ((BytesColumn) column).set(0, bytes, 0, bytes.length);
            }
            case TiDBVectorFloat32 -> {
                expect(evalType == EvalType.VECTOR_FLOAT32, tp, evalType);
                byte[] bytes = val.isEmpty() ? new byte[Integer.BYTES] : val.toByteArray();
                ((BytesColumn) column).set(0, bytes, 0, Literals.vectorLength(bytes));
            }
            case MysqlTime -> {
                expect(evalType == EvalType.DATE_TIME, tp, evalType);
                long packed = Literals.bigEndian(val, "date time");
                ((LongColumn) column).values()[0] = TimeCore.fromPacked(packed, type.tp(), Literals.fsp(type), eval);
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
}
