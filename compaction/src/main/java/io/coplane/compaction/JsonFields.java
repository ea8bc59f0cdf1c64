package io.coplane.compaction;

import com.fasterxml.jackson.databind.JsonNode;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Typed access to the members of one JSON object, as strict as the reference's parser: an integer that doesn't fit, a fraction, a value of another
 * kind is an error. Members that nobody asks for are ignored (compaction.md 1.2).
 */
final class JsonFields {
    private static final int U64_BITS = 64;
    private static final int U32_BITS = 32;
    private static final int U8_BITS = 8;

    private final JsonNode node;
    private final String where;

    JsonFields(JsonNode node, String where) {
        if (!node.isObject()) {
            throw bad("invalid type, expected an object: at=" + where);
        }
        this.node = node;
        this.where = where;
    }

    static CoplaneException bad(String message) {
        return new CoplaneException(ErrorCode.BAD_REQUEST_BODY, message);
    }

    /** A member that must be there. */
    JsonNode required(String name) {
        JsonNode value = node.get(name);
        if (value == null) {
            throw bad("missing field `" + name + "`: at=" + where);
        }
        return value;
    }

    /** A member that may be missing. */
    JsonNode optional(String name) {
        return node.get(name);
    }

    /** A member that may be missing or null: null then. */
    JsonNode nullable(String name) {
        JsonNode value = node.get(name);
        return value == null || value.isNull() ? null : value;
    }

    long u64(String name) {
        return unsigned(required(name), U64_BITS, name);
    }

    long u64(String name, long absent) {
        JsonNode value = optional(name);
        return value == null ? absent : unsigned(value, U64_BITS, name);
    }

    long u32(String name, long absent) {
        JsonNode value = optional(name);
        return value == null ? absent : unsigned(value, U32_BITS, name);
    }

    long u32(String name) {
        return unsigned(required(name), U32_BITS, name);
    }

    long i64(String name) {
        return i64(required(name), name);
    }

    int u8(String name, int absent) {
        JsonNode value = optional(name);
        return value == null ? absent : (int) unsigned(value, U8_BITS, name);
    }

    boolean bool(String name) {
        JsonNode value = required(name);
        if (!value.isBoolean()) {
            throw bad("invalid type, expected a boolean: field=" + name);
        }
        return value.booleanValue();
    }

    byte[] bytes(String name) {
        return bytes(required(name), name);
    }

    byte[] bytesOrEmpty(String name) {
        JsonNode value = optional(name);
        return value == null ? new byte[0] : bytes(value, name);
    }

    long[] u64s(String name) {
        return u64s(required(name), name);
    }

    long[] i64s(String name) {
        return i64s(required(name), name);
    }

    <T> List<T> list(String name, Function<JsonNode, T> element) {
        return list(required(name), name, element);
    }

    static long unsigned(JsonNode value, int bits, String name) {
        if (!value.isIntegralNumber()) {
            throw bad("invalid type, expected an unsigned integer: field=" + name);
        }
        if (value.canConvertToLong()) {
            long number = value.longValue();
            if (number >= 0 && (bits == U64_BITS || number >>> bits == 0)) {
                return number;
            }
        } else {
            BigInteger number = value.bigIntegerValue();
            if (bits == U64_BITS && number.signum() >= 0 && number.bitLength() <= U64_BITS) {
                return number.longValue();
            }
        }
        throw bad("invalid value, expected an unsigned integer of " + bits + " bits: field=" + name);
    }

    static long i64(JsonNode value, String name) {
        if (!value.isIntegralNumber() || !value.canConvertToLong()) {
            throw bad("invalid value, expected an integer of 64 bits: field=" + name);
        }
        return value.longValue();
    }

    static long u64(JsonNode value, String name) {
        return unsigned(value, U64_BITS, name);
    }

    static byte[] bytes(JsonNode value, String name) {
        requireArray(value, name);
        byte[] bytes = new byte[value.size()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) unsigned(value.get(i), U8_BITS, name);
        }
        return bytes;
    }

    static long[] u64s(JsonNode value, String name) {
        requireArray(value, name);
        long[] numbers = new long[value.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = unsigned(value.get(i), U64_BITS, name);
        }
        return numbers;
    }

    static long[] i64s(JsonNode value, String name) {
        requireArray(value, name);
        long[] numbers = new long[value.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = i64(value.get(i), name);
        }
        return numbers;
    }

    static <T> List<T> list(JsonNode value, String name, Function<JsonNode, T> element) {
        requireArray(value, name);
        var list = new ArrayList<T>(value.size());
        for (JsonNode item : value) {
            list.add(element.apply(item));
        }
        return List.copyOf(list);
    }

    /** An array of exactly this many elements. */
    static JsonNode tuple(JsonNode value, int length, String name) {
        requireArray(value, name);
        if (value.size() != length) {
            throw bad("invalid length " + value.size() + ", expected a tuple of size " + length + ": field=" + name);
        }
        return value;
    }

    private static void requireArray(JsonNode value, String name) {
        if (!value.isArray()) {
            throw bad("invalid type, expected an array: field=" + name);
        }
    }
}
