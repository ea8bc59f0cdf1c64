package io.coplane.worker.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * One table of the configuration file. A missing key is its default; a value of the wrong kind is an error that names the key. Borrows its
 * nodes. One thread.
 */
final class TomlTable {
    private static final long MOST_KEYSPACE_ID = 0xffff_ffffL;

    private final ObjectNode node;
    private final String path;
    private final Set<String> asked;

    /** The whole file. */
    TomlTable(ObjectNode node) {
        this(node, "", new TreeSet<>());
    }

    private TomlTable(ObjectNode node, String path, Set<String> asked) {
        this.node = node;
        this.path = path;
        this.asked = asked;
    }

    /** Keys of the file that were asked for so far, by dotted path, tables left out. */
    Set<String> asked() {
        return Set.copyOf(asked);
    }

    private JsonNode value(String key) {
        asked.add(path + key);
        return node.get(key);
    }

    /** A table below this one; empty where there is none. */
    TomlTable table(String key) {
        JsonNode value = node.get(key);
        if (value == null) {
            return new TomlTable(JsonNodeFactory.instance.objectNode(), path + key + ".", asked);
        }
        if (value instanceof ObjectNode table) {
            return new TomlTable(table, path + key + ".", asked);
        }
        throw bad(key, "a table", value);
    }

    /** Overrides a value below this table: a Boolean, a Long, a Double, a list of Longs and texts, or anything else by its text. */
    void set(String key, Object value) {
        switch (value) {
            case Boolean flag -> node.put(key, flag);
            case Long number -> node.put(key, number);
            case Double number -> node.put(key, number);
            case List<?> items -> {
                ArrayNode list = node.putArray(key);
                for (Object item : items) {
                    if (item instanceof Long number) {
                        list.add(number);
                    } else {
                        list.add(item.toString());
                    }
                }
            }
            default -> node.put(key, value.toString());
        }
    }

    /** A table below this one, made where there is none, whose values can be overridden. */
    TomlTable writable(String key) {
        JsonNode value = node.get(key);
        return value == null ? new TomlTable(node.putObject(key), path + key + ".", asked) : table(key);
    }

    String text(String key, String fallback) {
        JsonNode value = value(key);
        if (value == null) {
            return fallback;
        }
        if (!value.isTextual()) {
            throw bad(key, "a string", value);
        }
        return value.textValue();
    }

    /** A text that no error may repeat; empty if it is not there. */
    String secret(String key) {
        JsonNode value = value(key);
        if (value != null && !value.isTextual()) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, path + key + " must be a string");
        }
        return value == null ? "" : value.textValue();
    }

    boolean flag(String key, boolean fallback) {
        JsonNode value = value(key);
        if (value == null) {
            return fallback;
        }
        if (!value.isBoolean()) {
            throw bad(key, "true or false", value);
        }
        return value.booleanValue();
    }

    long integer(String key, long fallback, long min, long max) {
        JsonNode value = value(key);
        if (value == null) {
            return fallback;
        }
        if (!value.isIntegralNumber()
                || !value.canConvertToLong()
                || value.longValue() < min
                || value.longValue() > max) {
            throw bad(key, "an integer of " + min + " .. " + max, value);
        }
        return value.longValue();
    }

    double number(String key, double fallback) {
        JsonNode value = value(key);
        if (value == null) {
            return fallback;
        }
        if (!value.isNumber() || !Double.isFinite(value.doubleValue())) {
            throw bad(key, "a number", value);
        }
        return value.doubleValue();
    }

    long bytes(String key, long fallback, long min, long max) {
        JsonNode value = value(key);
        if (value == null) {
            return fallback;
        }
        if (value.isTextual()) {
            return bounded(key, parsed(key, () -> SizeText.parse(value.textValue())), min, max);
        }
        return integer(key, fallback, min, max);
    }

    SizeOrPercent sizeOrPercent(String key, SizeOrPercent fallback) {
        JsonNode value = value(key);
        if (value == null) {
            return fallback;
        }
        if (value.isTextual()) {
            return parsed(key, () -> SizeOrPercent.parse(value.textValue()));
        }
        return SizeOrPercent.ofBytes(integer(key, 0, 0, Long.MAX_VALUE));
    }

    Duration duration(String key, Duration fallback) {
        JsonNode value = value(key);
        if (value == null) {
            return fallback;
        }
        if (!value.isTextual()) {
            throw bad(key, "a duration like \"1h30m\"", value);
        }
        return parsed(key, () -> DurationText.parse(value.textValue()));
    }

    List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        for (JsonNode item : items(key)) {
            if (!item.isTextual()) {
                throw bad(key, "a list of strings", item);
            }
            texts.add(item.textValue());
        }
        return texts;
    }

    /** A list of strings, or one string with commas (the form that command-line options have). */
    List<String> textsOrList(String key) {
        JsonNode value = value(key);
        if (value == null || !value.isTextual()) {
            return texts(key);
        }
        List<String> texts = new ArrayList<>();
        for (String item : value.textValue().split(",", -1)) {
            if (!item.isBlank()) {
                texts.add(item.strip());
            }
        }
        return texts;
    }

    /** Unsigned 32-bit ids, as ints of the same bits. */
    Set<Integer> keyspaceIds(String key) {
        Set<Integer> ids = new HashSet<>();
        for (JsonNode item : items(key)) {
            if (!item.isIntegralNumber()
                    || !item.canConvertToLong()
                    || item.longValue() < 0
                    || item.longValue() > MOST_KEYSPACE_ID) {
                throw bad(key, "a list of unsigned 32-bit ids", item);
            }
            ids.add((int) item.longValue());
        }
        return ids;
    }

    private Iterable<JsonNode> items(String key) {
        JsonNode value = value(key);
        if (value == null) {
            return List.of();
        }
        if (!value.isArray()) {
            throw bad(key, "a list", value);
        }
        return value;
    }

    private interface Parser<T> {
        T parse();
    }

    private <T> T parsed(String key, Parser<T> parser) {
        try {
            return parser.parse();
        } catch (CoplaneException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, path + key + ": " + e.getMessage(), e);
        }
    }

    private long bounded(String key, long value, long min, long max) {
        if (value < min || value > max) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG,
                    path + key + " is out of bounds: value=" + value + " min=" + min + " max=" + max);
        }
        return value;
    }

    private CoplaneException bad(String key, String wanted, JsonNode value) {
        return new CoplaneException(ErrorCode.BAD_CONFIG, path + key + " must be " + wanted + ": value=" + value);
    }
}
