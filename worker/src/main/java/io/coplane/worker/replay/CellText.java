package io.coplane.worker.replay;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.codec.Datums;
import io.coplane.types.json.JsonDocs;
import io.coplane.types.json.JsonText;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;

/** Datums as MySQL would show them. Strings that are no UTF-8 are shown as 0x and hex. */
final class CellText {
    private static final int DATE = 10;
    private static final int NANOS_PER_MICRO = 1_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private CellText() {}

    /** The text of a datum; null for NULL. */
    static String of(byte[] datum, OutputColumn column) {
        ByteBuffer payload = ByteBuffer.wrap(datum, 1, datum.length - 1);
        return switch (datum[0]) {
            case Datums.NIL -> null;
            case Datums.BYTES -> string(ValueText.fromGroups(datum));
            case Datums.COMPACT_BYTES -> string(ValueText.afterVarint(datum));
            case Datums.UINT -> unsigned(payload.getLong(), column);
            case Datums.VAR_UINT -> unsigned(ValueText.varint(datum), column);
            case Datums.DURATION -> duration(payload.getLong() ^ Long.MIN_VALUE, Math.max(0, column.decimal()));
            case Datums.JSON -> json(datum);
            default -> ValueText.datum(datum, column);
        };
    }

    /** True if the text of a datum is a number. */
    static boolean isNumber(byte[] datum, OutputColumn column) {
        return switch (datum[0]) {
            case Datums.INT, Datums.VAR_INT, Datums.DECIMAL -> true;
            case Datums.UINT, Datums.VAR_UINT -> !ValueText.isTime(column);
            case Datums.FLOAT -> Double.isFinite(ValueText.real(datum));
            default -> false;
        };
    }

    private static String unsigned(long value, OutputColumn column) {
        return ValueText.isTime(column) ? time(value, column) : Long.toUnsignedString(value);
    }

    private static String time(long packed, OutputColumn column) {
        long micro = packed & 0xFF_FFFF;
        long clock = packed >>> 24 & 0x1_FFFF;
        long date = packed >>> 41;
        long months = date >>> 5;
        String day = String.format(Locale.ROOT, "%04d-%02d-%02d", months / 13, months % 13, date & 31);
        if (column.tp() == DATE) {
            return day;
        }
        String text = day + String.format(Locale.ROOT, " %02d:%02d:%02d", clock >>> 12, clock >>> 6 & 63, clock & 63);
        return text + fraction(micro, Math.max(0, column.decimal()));
    }

    private static String duration(long nanos, int fsp) {
        long all = Math.abs(nanos);
        long seconds = all / NANOS_PER_SECOND;
        return (nanos < 0 ? "-" : "")
                + String.format(Locale.ROOT, "%02d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60)
                + fraction(all % NANOS_PER_SECOND / NANOS_PER_MICRO, fsp);
    }

    private static String fraction(long micro, int fsp) {
        return fsp == 0 ? "" : "." + String.format(Locale.ROOT, "%06d", micro).substring(0, Math.min(6, fsp));
    }

    private static String json(byte[] datum) {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                ByteSink text = new ByteSink(guard)) {
            JsonText.append(text, datum, JsonDocs.root(datum, 1, datum.length - 1));
            return string(text.copyBytes());
        }
    }

    private static String string(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            return "0x" + HexFormat.of().formatHex(bytes);
        }
    }
}
