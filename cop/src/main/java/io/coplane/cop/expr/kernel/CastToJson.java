package io.coplane.cop.expr.kernel;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
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
import io.coplane.types.decimal.DecimalStatus;
import io.coplane.types.decimal.DecimalText;
import io.coplane.types.json.JsonBuilder;
import io.coplane.types.json.JsonDocs;
import io.coplane.types.json.JsonParser;
import io.coplane.types.json.JsonText;
import io.coplane.types.number.IntBounds;
import io.coplane.types.number.TextNumbers;
import io.coplane.types.text.Utf8;
import io.coplane.types.time.Times;
import java.nio.charset.StandardCharsets;

/** Casts to JSON, and from JSON to numbers and strings (expressions.md 6.9.6, 7.8). */
final class CastToJson {
    private static final int TRUNCATED_VALUE = 1292;

    private static final int MAX_FSP = 6;

    private CastToJson() {}

    static void declare(CastKernels casts) {
        casts.add(EvalType.INT, EvalType.JSON, CastToJson::fromInt);
        casts.add(EvalType.REAL, EvalType.JSON, CastToJson::fromReal);
        casts.add(EvalType.DECIMAL, EvalType.JSON, CastToJson::fromDecimal);
        casts.add(EvalType.BYTES, EvalType.JSON, CastToJson::fromBytes);
        casts.add(EvalType.DATE_TIME, EvalType.JSON, CastToJson::fromTime);
        casts.add(EvalType.DURATION, EvalType.JSON, CastToJson::fromDuration);
        casts.add(EvalType.JSON, EvalType.JSON, CastToJson::same);
        casts.add(EvalType.JSON, EvalType.INT, CastToJson::toInt);
        casts.add(EvalType.JSON, EvalType.REAL, CastToJson::toReal);
        casts.add(EvalType.JSON, EvalType.DECIMAL, CastToJson::toDecimal);
        casts.add(EvalType.JSON, EvalType.BYTES, CastToJson::toBytes);
    }

    private static JsonBuilder builder(KernelContext ctx) {
        if (ctx.scratch() == null) {
            ctx.scratch(new JsonBuilder());
        }
        JsonBuilder builder = (JsonBuilder) ctx.scratch();
        builder.clear();
        return builder;
    }

    private static void fromInt(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        boolean isBoolean = (ctx.argType(0).flag() & FieldType.IS_BOOLEAN_FLAG) != 0;
        int type = ctx.isUnsigned(0) ? JsonDocs.U64 : JsonDocs.I64;
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            JsonBuilder builder = builder(ctx);
            if (isBoolean) {
                builder.pushBoolean(arg[i] != 0);
            } else {
                builder.pushBits(type, arg[i]);
            }
            builder.finish((BytesColumn) out, i);
        }
    }

    private static void putDouble(KernelContext ctx, double value, Column out, int row) {
        JsonBuilder builder = builder(ctx);
        builder.pushBits(JsonDocs.DOUBLE, Double.doubleToRawLongBits(value));
        builder.finish((BytesColumn) out, row);
    }

    private static void fromReal(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] arg = ((DoubleColumn) args[0]).values();
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                putDouble(ctx, arg[i], out, i);
            }
        }
    }

    private static void fromDecimal(KernelContext ctx, Column[] args, int rows, Column out) {
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                putDouble(ctx, DecimalColumns.toDouble((DecimalColumn) args[0], i, ctx.decimalScratch()), out, i);
            }
        }
    }

    private static void fromTime(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                JsonBuilder builder = builder(ctx);
                int type = Times.isDate(arg[i])
                        ? JsonDocs.DATE
                        : Times.isTimestamp(arg[i]) ? JsonDocs.TIMESTAMP : JsonDocs.DATETIME;
                builder.pushBits(type, arg[i]);
                builder.finish((BytesColumn) out, i);
            }
        }
    }

    private static void fromDuration(KernelContext ctx, Column[] args, int rows, Column out) {
        LongColumn arg = (LongColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                JsonBuilder builder = builder(ctx);
                builder.pushDuration(arg.values()[i], arg.fsp()[i]);
                builder.finish((BytesColumn) out, i);
            }
        }
    }

    private static void fromBytes(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        FieldType type = ctx.argType(0);
        boolean opaque = type.evalType() != EvalType.ENUM && FieldFit.isBinaryString(type);
        boolean parse = (ctx.returnType().flag() & FieldType.PARSE_TO_JSON_FLAG) != 0;
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int start = arg.starts()[i];
            int length = arg.lengths()[i];
            JsonBuilder builder = builder(ctx);
            if (opaque) {
                int padded = type.tp() == FieldType.STRING && type.flen() > 0 ? type.flen() : length;
                builder.pushOpaque(type.tp(), arg.data(), start, Math.min(length, padded), padded);
            } else if (parse) {
                Texts.requireUtf8(arg, i);
                new JsonParser(builder).parse(arg.data(), start, length);
            } else {
                Texts.requireUtf8(arg, i);
                builder.pushString(arg.data(), start, length);
            }
            builder.finish((BytesColumn) out, i);
        }
    }

    private static void same(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                Texts.put(ctx, (BytesColumn) out, i, arg.data(), arg.starts()[i], arg.lengths()[i]);
            }
        }
    }

    /** The value of a row. */
    static long ref(BytesColumn column, int row) {
        return JsonDocs.root(column.data(), column.starts()[row], column.lengths()[row]);
    }

    /** Fraction digits of a Time value. */
    static int durationFsp(byte[] data, long ref) {
        return Math.min(data[JsonDocs.at(ref) + Long.BYTES], MAX_FSP);
    }

    /** The text of a value, for messages. */
    static String text(byte[] data, long ref) {
        try (ByteSink sink = new ByteSink(MemoryGuard.unlimited())) {
            JsonText.append(sink, data, ref);
            return new String(sink.bytes(), 0, sink.length(), StandardCharsets.UTF_8);
        }
    }

    private static void toInt(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        long[] values = ((LongColumn) out).values();
        boolean unsigned = ctx.returnType().isUnsigned();
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                values[i] = toInt(ctx.eval(), arg.data(), ref(arg, i), unsigned);
            }
        }
    }

    private static long toInt(EvalContext eval, byte[] data, long ref, boolean unsigned) {
        switch (JsonDocs.type(ref)) {
            case JsonDocs.LITERAL -> {
                return JsonDocs.literal(data, ref) == JsonDocs.TRUE_LITERAL ? 1 : 0;
            }
            case JsonDocs.I64, JsonDocs.U64 -> {
                return JsonDocs.bits(data, ref);
            }
            case JsonDocs.DOUBLE -> {
                double value = JsonDocs.doubleValue(data, ref);
                return unsigned
                        ? IntBounds.fromRealUnsigned(value, FieldType.LONG_LONG, eval)
                        : IntBounds.fromReal(value, FieldType.LONG_LONG, eval);
            }
            case JsonDocs.STRING -> {
                int start = JsonDocs.bytesStart(data, ref);
                int length = JsonDocs.bytesLength(data, ref);
                return unsigned
                        ? TextNumbers.toUnsigned(data, start, length, FieldType.LONG_LONG, eval)
                        : TextNumbers.toInt(data, start, length, FieldType.LONG_LONG, eval);
            }
            default -> {
                eval.truncated(EvalException.coded(
                        TRUNCATED_VALUE, "Truncated incorrect Integer value: '" + text(data, ref) + "'"));
                return 0;
            }
        }
    }

    private static void toReal(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        double[] values = ((DoubleColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                values[i] = toDouble(ctx.eval(), arg.data(), ref(arg, i));
            }
        }
    }

    private static double toDouble(EvalContext eval, byte[] data, long ref) {
        switch (JsonDocs.type(ref)) {
            case JsonDocs.LITERAL -> {
                return JsonDocs.literal(data, ref) == JsonDocs.TRUE_LITERAL ? 1 : 0;
            }
            case JsonDocs.I64 -> {
                return JsonDocs.bits(data, ref);
            }
            case JsonDocs.U64 -> {
                return IntBounds.toReal(JsonDocs.bits(data, ref));
            }
            case JsonDocs.DOUBLE -> {
                return JsonDocs.doubleValue(data, ref);
            }
            case JsonDocs.STRING -> {
                return TextNumbers.toReal(data, JsonDocs.bytesStart(data, ref), JsonDocs.bytesLength(data, ref), eval);
            }
            default -> {
                eval.truncated(EvalException.coded(
                        TRUNCATED_VALUE, "Truncated incorrect Float value: '" + text(data, ref) + "'"));
                return 0;
            }
        }
    }

    private static void toDecimal(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        Decimal value = ctx.decimal(0);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            byte[] data = arg.data();
            long ref = ref(arg, i);
            if (JsonDocs.type(ref) == JsonDocs.STRING) {
                parse(ctx.eval(), value, data, JsonDocs.bytesStart(data, ref), JsonDocs.bytesLength(data, ref));
            } else {
                value.setDouble(toDouble(ctx.eval(), data, ref));
            }
            CastToNumbers.store(ctx, value, (DecimalColumn) out, i);
        }
    }

    /** Any failure is a truncation to zero. */
    private static void parse(EvalContext eval, Decimal value, byte[] data, int start, int length) {
        try {
            DecimalStatus status = value.parse(data, start, length);
            if (status != DecimalStatus.OK) {
                throw DecimalText.unfit(status, Utf8.lossy(data, start, length));
            }
        } catch (EvalException e) {
            eval.truncated(e);
            value.setZero();
        }
    }

    private static void toBytes(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        if (ctx.scratch() == null) {
            ctx.scratch(new ByteSink(MemoryGuard.unlimited()));
        }
        ByteSink sink = (ByteSink) ctx.scratch();
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                sink.truncate(0);
                JsonText.append(sink, arg.data(), ref(arg, i));
                Texts.put(ctx, out, i, sink.bytes(), 0, sink.length());
            }
        }
    }
}
