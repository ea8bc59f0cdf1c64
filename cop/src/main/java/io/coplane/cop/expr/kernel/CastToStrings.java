package io.coplane.cop.expr.kernel;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalColumns;
import io.coplane.types.decimal.DecimalText;
import io.coplane.types.number.IntText;
import io.coplane.types.number.RealText;

/** Casts to Bytes (expressions.md 7.4). */
final class CastToStrings {
    private static final byte[] YEAR_ZERO = {'0', '0', '0', '0'};

    private CastToStrings() {}

    static void declare(CastKernels casts) {
        casts.add(EvalType.INT, EvalType.BYTES, CastToStrings::fromInt);
        casts.add(EvalType.REAL, EvalType.BYTES, CastToStrings::fromReal);
        casts.add(EvalType.DECIMAL, EvalType.BYTES, CastToStrings::fromDecimal);
        casts.add(EvalType.BYTES, EvalType.BYTES, CastToStrings::fromBytes);
        casts.add(EvalType.VECTOR_FLOAT32, EvalType.BYTES, CastToStrings::fromVector);
        casts.add(EvalType.VECTOR_FLOAT32, EvalType.VECTOR_FLOAT32, CastToStrings::same);
    }

    private static byte[] scratch(KernelContext ctx, int length) {
        if (!(ctx.scratch() instanceof byte[] kept) || kept.length < length) {
            ctx.scratch(new byte[length]);
        }
        return (byte[]) ctx.scratch();
    }

    private static void fromInt(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        long[] arg = ((LongColumn) args[0]).values();
        FieldType type = ctx.argType(0);
        if (type.tp() == FieldType.BIT) {
            fromBit(ctx, arg, rows, out);
            return;
        }
        boolean year = type.tp() == FieldType.YEAR;
        boolean unsigned = type.isUnsigned();
        byte[] text = scratch(ctx, IntText.MAX_BYTES);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (year && arg[i] == 0) {
                FieldFit.putText(ctx, out, i, YEAR_ZERO, 0, YEAR_ZERO.length);
            } else {
                int length = unsigned ? IntText.writeUnsigned(arg[i], text, 0) : IntText.write(arg[i], text, 0);
                FieldFit.putText(ctx, out, i, text, 0, length);
            }
        }
    }

    private static void fromBit(KernelContext ctx, long[] arg, int rows, BytesColumn out) {
        int length = ctx.returnType().flen();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (length < 1 || length > Long.BYTES) {
                throw EvalException.uncoded("Unsupported ret_field_type.Flen " + length);
            }
            int to = ctx.reserve(out, length);
            for (int k = 0; k < length; k++) {
                out.data()[to + k] = (byte) (arg[i] >>> 8 * (length - 1 - k));
            }
            out.setView(i, to, length);
        }
    }

    private static void fromReal(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        double[] arg = ((DoubleColumn) args[0]).values();
        boolean single = ctx.argType(0).tp() == FieldType.FLOAT;
        byte[] text = scratch(ctx, RealText.MAX_BYTES);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                int end = single ? RealText.writeFloat((float) arg[i], text, 0) : RealText.write(arg[i], text, 0);
                FieldFit.putText(ctx, out, i, text, 0, end);
            }
        }
    }

    private static void fromDecimal(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        byte[] text = scratch(ctx, DecimalText.MAX_BYTES);
        Decimal value = ctx.decimal(0);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                DecimalColumns.load((DecimalColumn) args[0], i, value);
                FieldFit.putText(ctx, out, i, text, 0, value.plainText(text, 0));
            }
        }
    }

    private static void fromBytes(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                FieldFit.putText(ctx, out, i, arg.data(), arg.starts()[i], arg.lengths()[i]);
            }
        }
    }

    /** {@code [1,2.5]}; not fitted to the type. */
    static void fromVector(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        ByteSink sink = new ByteSink(MemoryGuard.unlimited());
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            sink.truncate(0);
            sink.putByte('[');
            int count = VectorKernels.count(arg, i);
            for (int k = 0; k < count; k++) {
                if (k > 0) {
                    sink.putByte(',');
                }
                sink.ensure(RealText.MAX_BYTES);
                float element = VectorKernels.element(arg.data(), arg.starts()[i], k);
                sink.advance(RealText.writeFloat(element, sink.bytes(), sink.length()) - sink.length());
            }
            sink.putByte(']');
            Texts.put(ctx, out, i, sink.bytes(), 0, sink.length());
        }
        sink.close();
    }

    private static void same(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                Texts.put(ctx, out, i, arg.data(), arg.starts()[i], arg.lengths()[i]);
            }
        }
    }
}
