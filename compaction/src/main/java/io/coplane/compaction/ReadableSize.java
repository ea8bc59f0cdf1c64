package io.coplane.compaction;

import com.fasterxml.jackson.databind.JsonNode;
import io.coplane.nativecache.AsciiNumbers;
import java.math.BigDecimal;
import java.util.Locale;

/** Sizes as the options of full text compactions write them: a number of bytes, or a number with a binary unit (compaction.md 1.7). */
final class ReadableSize {
    private static final String UNITS = "KMGTP";
    private static final int SHIFT = 10;
    private static final BigDecimal MOST = new BigDecimal("18446744073709551615");

    private ReadableSize() {}

    /** Bytes of a size; {@code K}, {@code KB} and {@code KiB} are the same, and so on. */
    static long bytes(JsonNode value, String name) {
        if (!value.isTextual()) {
            return JsonFields.u64(value, name);
        }
        String text = value.textValue().strip();
        int digits = 0;
        while (digits < text.length() && isOfNumber(text.charAt(digits))) {
            digits++;
        }
        int shift = shift(text.substring(digits).strip(), name);
        try {
            BigDecimal bytes =
                    AsciiNumbers.parseDecimal(text.substring(0, digits)).multiply(BigDecimal.valueOf(1L << shift));
            if (bytes.compareTo(MOST) > 0) {
                throw JsonFields.bad("size is too large: field=" + name + " size=" + text);
            }
            return bytes.toBigInteger().longValue();
        } catch (NumberFormatException e) {
            throw JsonFields.bad("not a size: field=" + name + " size=" + text + " cause=" + e.getMessage());
        }
    }

    private static boolean isOfNumber(char c) {
        return c >= '0' && c <= '9' || c == '.';
    }

    private static int shift(String unit, String name) {
        String upper = unit.toUpperCase(Locale.ROOT);
        if (upper.isEmpty() || upper.equals("B")) {
            return 0;
        }
        int power = UNITS.indexOf(upper.charAt(0)) + 1;
        String rest = upper.substring(1);
        if (power == 0 || !(rest.isEmpty() || rest.equals("B") || rest.equals("IB"))) {
            throw JsonFields.bad("unknown unit of a size: field=" + name + " unit=" + unit);
        }
        return SHIFT * power;
    }
}
