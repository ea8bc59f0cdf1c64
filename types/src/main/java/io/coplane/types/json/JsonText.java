package io.coplane.types.json;

import io.coplane.types.ByteSink;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** JSON values as text (expressions.md 6.9.4). */
public final class JsonText {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final int MOST_PLAIN_DIGITS = 16;
    private static final int MOST_LEADING_ZEROS = 5;
    private static final int DATE_MARK = 0b1110;
    private static final long NANOS_PER_MICRO = 1_000;

    private JsonText() {}

    /** Appends the text of a value. */
    public static void append(ByteSink out, byte[] data, long ref) {
        switch (JsonDocs.type(ref)) {
            case JsonDocs.OBJECT -> appendObject(out, data, ref);
            case JsonDocs.ARRAY -> appendArray(out, data, ref);
            case JsonDocs.LITERAL -> appendAscii(out, literalText(JsonDocs.literal(data, ref)));
            case JsonDocs.I64 -> appendAscii(out, Long.toString(JsonDocs.bits(data, ref)));
            case JsonDocs.U64 -> appendAscii(out, Long.toUnsignedString(JsonDocs.bits(data, ref)));
            case JsonDocs.DOUBLE -> appendAscii(out, doubleText(JsonDocs.doubleValue(data, ref)));
            case JsonDocs.STRING ->
                appendQuoted(out, data, JsonDocs.bytesStart(data, ref), JsonDocs.bytesLength(data, ref));
            case JsonDocs.OPAQUE, JsonDocs.DATE, JsonDocs.DATETIME, JsonDocs.TIMESTAMP, JsonDocs.TIME -> {
                out.putByte('"');
                appendUnquotedScalar(out, data, ref);
                out.putByte('"');
            }
            default -> throw JsonDocs.corrupt("unknown JSON type " + JsonDocs.type(ref), JsonDocs.at(ref));
        }
    }

    /** Appends an Opaque, Date, Datetime, Timestamp or Time without its quotes. */
    static void appendUnquotedScalar(ByteSink out, byte[] data, long ref) {
        switch (JsonDocs.type(ref)) {
            case JsonDocs.OPAQUE -> appendOpaque(out, data, ref);
            case JsonDocs.DATE, JsonDocs.DATETIME, JsonDocs.TIMESTAMP -> appendTime(out, JsonDocs.bits(data, ref));
            case JsonDocs.TIME -> appendDuration(out, JsonDocs.bits(data, ref));
            default -> throw JsonDocs.corrupt("JSON value has no quotes to leave out", JsonDocs.at(ref));
        }
    }

    /** {@link Double#toString} gives at least two digits, so for a few numbers one would do: 4.9E-324 is 5E-324. */
    private static String shortest(double value) {
        String text = Double.toString(value);
        int exponentAt = text.indexOf('E');
        if (exponentAt != 3 || text.charAt(2) == '0') {
            return text;
        }
        BigDecimal one = new BigDecimal(text).round(new MathContext(1, RoundingMode.HALF_UP));
        if (one.doubleValue() != value) {
            return text;
        }
        int exponent = one.precision() - one.scale() - 1;
        return one.unscaledValue().toString().charAt(0) + ".0E" + exponent;
    }

    /**
     * Text of a double: shortest digits that round-trip, laid out as the reference's JSON writer does. Of infinity and NaN, which only broken
     * documents hold, {@code null}: that writer's text for what JSON has no text for.
     */
    public static String doubleText(double value) {
        if (!Double.isFinite(value)) {
            return "null";
        }
        if (value == 0) {
            return 1 / value < 0 ? "-0.0" : "0.0";
        }
        String shortest = shortest(Math.abs(value));
        int exponentAt = shortest.indexOf('E');
        int exponent = exponentAt < 0 ? 0 : Integer.parseInt(shortest.substring(exponentAt + 1));
        String mantissa = exponentAt < 0 ? shortest : shortest.substring(0, exponentAt);
        int dot = mantissa.indexOf('.');
        StringBuilder digits = new StringBuilder(mantissa).deleteCharAt(dot);
        int point = dot + exponent;
        int zeros = 0;
        while (digits.charAt(zeros) == '0') {
            zeros++;
        }
        digits.delete(0, zeros);
        point -= zeros;
        while (digits.length() > 1 && digits.charAt(digits.length() - 1) == '0') {
            digits.setLength(digits.length() - 1);
        }
        return (value < 0 ? "-" : "") + layOut(digits, point);
    }

    /** @param point digits before the decimal point */
    private static String layOut(StringBuilder digits, int point) {
        int count = digits.length();
        if (point > 0 && point <= MOST_PLAIN_DIGITS) {
            if (point >= count) {
                return digits.append("0".repeat(point - count)).append(".0").toString();
            }
            return digits.insert(point, '.').toString();
        }
        if (point <= 0 && point > -MOST_LEADING_ZEROS) {
            return "0." + "0".repeat(-point) + digits;
        }
        if (count > 1) {
            digits.insert(1, '.');
        }
        return digits.append('e').append(point - 1).toString();
    }

    private static String literalText(int literal) {
        return switch (literal) {
            case JsonDocs.NULL_LITERAL -> "null";
            case JsonDocs.TRUE_LITERAL -> "true";
            default -> "false";
        };
    }

    private static void appendObject(ByteSink out, byte[] data, long ref) {
        out.putByte('{');
        for (int i = 0; i < JsonDocs.count(data, ref); i++) {
            if (i > 0) {
                appendAscii(out, ", ");
            }
            appendQuoted(out, data, JsonDocs.keyStart(data, ref, i), JsonDocs.keyLength(data, ref, i));
            appendAscii(out, ": ");
            append(out, data, JsonDocs.element(data, ref, i));
        }
        out.putByte('}');
    }

    private static void appendArray(ByteSink out, byte[] data, long ref) {
        out.putByte('[');
        for (int i = 0; i < JsonDocs.count(data, ref); i++) {
            if (i > 0) {
                appendAscii(out, ", ");
            }
            append(out, data, JsonDocs.element(data, ref, i));
        }
        out.putByte(']');
    }

    private static void appendQuoted(ByteSink out, byte[] data, int start, int length) {
        out.putByte('"');
        for (int i = start; i < start + length; i++) {
            byte b = data[i];
            if (b == '"' || b == '\\') {
                out.putByte('\\');
                out.putByte(b);
            } else if (b >= 0 && b < ' ') {
                appendControl(out, b);
            } else {
                out.putByte(b);
            }
        }
        out.putByte('"');
    }

    private static void appendControl(ByteSink out, byte control) {
        out.putByte('\\');
        switch (control) {
            case '\b' -> out.putByte('b');
            case '\t' -> out.putByte('t');
            case '\n' -> out.putByte('n');
            case '\f' -> out.putByte('f');
            case '\r' -> out.putByte('r');
            default -> {
                appendAscii(out, "u00");
                out.putByte(HEX[control >> 4]);
                out.putByte(HEX[control & 0xf]);
            }
        }
    }

    private static void appendOpaque(ByteSink out, byte[] data, long ref) {
        appendAscii(out, "base64:type" + JsonDocs.opaqueType(data, ref) + ":");
        int start = JsonDocs.bytesStart(data, ref);
        byte[] payload = new byte[JsonDocs.bytesLength(data, ref)];
        System.arraycopy(data, start, payload, 0, payload.length);
        byte[] encoded = Base64.getEncoder().encode(payload);
        out.put(encoded, 0, encoded.length);
    }

    /** A time core (expressions.md 6.1) with six fraction digits; a Date without time. */
    private static void appendTime(ByteSink out, long core) {
        appendDigits(out, core >>> 50, 4);
        out.putByte('-');
        appendDigits(out, core >>> 46 & 0xf, 2);
        out.putByte('-');
        appendDigits(out, core >>> 41 & 0x1f, 2);
        if ((core & 0xf) == DATE_MARK) {
            return;
        }
        out.putByte(' ');
        appendDigits(out, core >>> 36 & 0x1f, 2);
        out.putByte(':');
        appendDigits(out, core >>> 30 & 0x3f, 2);
        out.putByte(':');
        appendDigits(out, core >>> 24 & 0x3f, 2);
        out.putByte('.');
        appendDigits(out, core >>> 4 & 0xf_ffff, 6);
    }

    private static void appendDuration(ByteSink out, long nanos) {
        if (nanos < 0) {
            out.putByte('-');
        }
        long micros = Math.abs(nanos / NANOS_PER_MICRO);
        long seconds = micros / 1_000_000;
        appendDigits(out, seconds / 3600, seconds >= 360_000 ? 3 : 2);
        out.putByte(':');
        appendDigits(out, seconds / 60 % 60, 2);
        out.putByte(':');
        appendDigits(out, seconds % 60, 2);
        out.putByte('.');
        appendDigits(out, micros % 1_000_000, 6);
    }

    private static void appendDigits(ByteSink out, long value, int width) {
        long unit = 1;
        for (int i = 1; i < width; i++) {
            unit *= 10;
        }
        for (; unit > 0; unit /= 10) {
            out.putByte((int) ('0' + value / unit % 10));
        }
    }

    private static void appendAscii(ByteSink out, String text) {
        out.ensure(text.length());
        for (int i = 0; i < text.length(); i++) {
            out.putByte(text.charAt(i));
        }
    }
}
