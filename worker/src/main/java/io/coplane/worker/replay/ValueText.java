package io.coplane.worker.replay;

import io.coplane.types.codec.Datums;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalBinary;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** Cells as people read them. What does not decode is shown as hex. */
final class ValueText {
    private static final int MOST_CHARACTERS = 200;
    private static final HexFormat HEX = HexFormat.of();

    private ValueText() {}

    static String of(byte[] cell, OutputColumn column, boolean isChunked) {
        if (cell == null) {
            return "NULL";
        }
        String text;
        try {
            text = isChunked ? chunked(cell, column) : datum(cell, column);
        } catch (RuntimeException e) {
            text = "undecodable(" + e.getMessage() + ")";
        }
        String hex = HEX.formatHex(cell);
        String all = text + " [" + hex + "]";
        return all.length() <= MOST_CHARACTERS ? all : all.substring(0, MOST_CHARACTERS) + "...";
    }

    static String datum(byte[] cell, OutputColumn column) {
        ByteBuffer payload = ByteBuffer.wrap(cell, 1, cell.length - 1);
        return switch (cell[0]) {
            case Datums.NIL -> "NULL";
            case Datums.BYTES -> string(fromGroups(cell));
            case Datums.COMPACT_BYTES -> string(afterVarint(cell));
            case Datums.INT -> Long.toString(payload.getLong() ^ Long.MIN_VALUE);
            case Datums.UINT ->
                isTime(column) ? packedTime(payload.getLong()) : Long.toUnsignedString(payload.getLong());
            case Datums.FLOAT -> Double.toString(real(cell));
            case Datums.DECIMAL -> decimal(cell, 1);
            case Datums.DURATION -> duration(payload.getLong() ^ Long.MIN_VALUE);
            case Datums.VAR_INT -> {
                long zigzag = varint(cell);
                yield Long.toString(zigzag >>> 1 ^ -(zigzag & 1));
            }
            case Datums.VAR_UINT -> isTime(column) ? packedTime(varint(cell)) : Long.toUnsignedString(varint(cell));
            case Datums.JSON -> "JSON " + string(Arrays.copyOfRange(cell, 1, cell.length));
            case Datums.VECTOR_FLOAT32 -> vector(cell, 1);
            default -> "flag " + cell[0];
        };
    }

    private static String chunked(byte[] cell, OutputColumn column) {
        ByteBuffer bytes = ByteBuffer.wrap(cell).order(ByteOrder.LITTLE_ENDIAN);
        return switch (column.tp()) {
            case 1, 2, 3, 8, 9, 13 ->
                column.isUnsigned() ? Long.toUnsignedString(bytes.getLong()) : Long.toString(bytes.getLong());
            case 4 -> Float.toString(bytes.getFloat());
            case 5 -> Double.toString(bytes.getDouble());
            case 7, 10, 12 -> coreTime(bytes.getLong());
            case 11 -> duration(bytes.getLong());
            case 0xf6 -> chunkDecimal(cell);
            case 0xf7 -> bytes.getLong() + " " + string(Arrays.copyOfRange(cell, Long.BYTES, cell.length));
            case 0xf5 -> "JSON " + string(cell);
            case 0xe1 -> vector(cell, 0);
            default -> string(cell);
        };
    }

    /** The double of a FLOAT datum. */
    static double real(byte[] cell) {
        long bits = ByteBuffer.wrap(cell, 1, Long.BYTES).getLong();
        return Double.longBitsToDouble(bits < 0 ? bits & Long.MAX_VALUE : ~bits);
    }

    private static String decimal(byte[] cell, int at) {
        Decimal value = new Decimal();
        DecimalBinary.read(cell, at, cell.length, value);
        return value.plainText();
    }

    private static String chunkDecimal(byte[] cell) {
        var text = new StringBuilder(cell[3] != 0 ? "-" : "");
        int intWords = (cell[0] + 8) / 9;
        int words = intWords + (cell[1] + 8) / 9;
        for (int i = 0; i < words && 4 + 4 * i < cell.length; i++) {
            text.append(i == intWords ? "." : i > 0 ? "_" : "").append(LittleEndian.int32(cell, 4 + 4 * i));
        }
        return text.append(" int=")
                .append(cell[0])
                .append(" frac=")
                .append(cell[1])
                .append(" resultFrac=")
                .append(cell[2])
                .toString();
    }

    static boolean isTime(OutputColumn column) {
        return column.tp() == 7 || column.tp() == 10 || column.tp() == 12;
    }

    private static String packedTime(long packed) {
        long micro = packed & 0xFF_FFFF;
        long clock = packed >>> 24 & 0x1_FFFF;
        long date = packed >>> 41;
        long months = date >>> 5;
        return time(months / 13, months % 13, date & 31, clock >>> 12, clock >>> 6 & 63, clock & 63, micro);
    }

    private static String coreTime(long core) {
        return time(
                        core >>> 50,
                        core >>> 46 & 15,
                        core >>> 41 & 31,
                        core >>> 36 & 31,
                        core >>> 30 & 63,
                        core >>> 24 & 63,
                        core >>> 4 & 0xF_FFFF)
                + " fspTt=" + (core & 15);
    }

    private static String time(long year, long month, long day, long hour, long minute, long second, long micro) {
        return two(year) + "-" + two(month) + "-" + two(day) + " " + two(hour) + ":" + two(minute) + ":" + two(second)
                + (micro == 0 ? "" : "." + micro + "us");
    }

    private static String two(long number) {
        return number < 10 ? "0" + number : Long.toString(number);
    }

    private static String duration(long nanos) {
        long seconds = Math.abs(nanos / 1_000_000_000);
        return (nanos < 0 ? "-" : "") + two(seconds / 3600) + ":" + two(seconds / 60 % 60) + ":" + two(seconds % 60)
                + (nanos % 1_000_000_000 == 0 ? "" : " and " + Math.abs(nanos % 1_000_000_000) + "ns");
    }

    private static String vector(byte[] cell, int at) {
        ByteBuffer bytes = ByteBuffer.wrap(cell, at, cell.length - at).order(ByteOrder.LITTLE_ENDIAN);
        float[] values = new float[Math.min(bytes.getInt(), bytes.remaining() / Float.BYTES)];
        for (int i = 0; i < values.length; i++) {
            values[i] = bytes.getFloat();
        }
        return Arrays.toString(values);
    }

    private static String string(byte[] bytes) {
        try {
            CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            return "\""
                    + text.toString().replace("\n", "\\n").replace("\t", "\\t").replace("\0", "\\0") + "\"";
        } catch (CharacterCodingException e) {
            return "0x" + HEX.formatHex(bytes) + " (" + e.getMessage() + ")";
        }
    }

    static byte[] fromGroups(byte[] cell) {
        var out = ByteBuffer.allocate(cell.length);
        for (int at = 1; at + 9 <= cell.length; at += 9) {
            out.put(cell, at, Math.max(0, 8 - (0xFF - (cell[at + 8] & 0xFF))));
        }
        return Arrays.copyOf(out.array(), out.position());
    }

    static byte[] afterVarint(byte[] cell) {
        int at = 1;
        while (cell[at] < 0) {
            at++;
        }
        return Arrays.copyOfRange(cell, at + 1, cell.length);
    }

    static long varint(byte[] cell) {
        long value = 0;
        for (int i = 1; i < cell.length; i++) {
            value |= (cell[i] & 0x7FL) << 7 * (i - 1);
        }
        return value;
    }
}
