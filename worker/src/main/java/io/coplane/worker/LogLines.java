package io.coplane.worker;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import org.slf4j.event.KeyValuePair;

/**
 * Log events as lines, one an event but for stack traces of the text form.
 *
 * <p>Text: {@code <time> <level> [<thread>] <logger> - <message> <key>=<value> ...}, values with blanks or quotes quoted. JSON: an object with {@code time},
 * {@code level}, {@code thread}, {@code logger}, {@code message}, a field for each key, and {@code stack} where there is one. What comes from outside can't
 * begin a line: control characters are escaped. Thread-safe.
 */
final class LogLines extends EncoderBase<ILoggingEvent> {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern(
                    "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", Locale.ROOT)
            .withZone(ZoneId.systemDefault());
    private static final byte[] NOTHING = {};

    private final boolean isJson;

    LogLines(boolean isJson) {
        this.isJson = isJson;
    }

    @Override
    public byte[] headerBytes() {
        return NOTHING;
    }

    @Override
    public byte[] footerBytes() {
        return NOTHING;
    }

    @Override
    public byte[] encode(ILoggingEvent event) {
        return (isJson ? json(event) : text(event)).getBytes(StandardCharsets.UTF_8);
    }

    private static String text(ILoggingEvent event) {
        StringBuilder line = new StringBuilder(256);
        line.append(TIME.format(event.getInstant())).append(' ');
        line.append(String.format(Locale.ROOT, "%-5s", event.getLevel()));
        line.append(" [").append(event.getThreadName()).append("] ");
        line.append(shortName(event.getLoggerName())).append(" - ");
        escape(line, event.getFormattedMessage());
        for (KeyValuePair pair : pairs(event)) {
            line.append(' ').append(pair.key).append('=');
            String value = String.valueOf(pair.value);
            boolean quoted = value.isEmpty() || value.indexOf(' ') >= 0 || value.indexOf('"') >= 0;
            escape(line, quoted ? '"' + value.replace("\"", "\\\"") + '"' : value);
        }
        line.append('\n');
        IThrowableProxy thrown = event.getThrowableProxy();
        return thrown == null
                ? line.toString()
                : line.append(ThrowableProxyUtil.asString(thrown)).toString();
    }

    private static String json(ILoggingEvent event) {
        ObjectNode line = JsonNodeFactory.instance.objectNode();
        line.put("time", TIME.format(event.getInstant()));
        line.put("level", event.getLevel().toString());
        line.put("thread", event.getThreadName());
        line.put("logger", shortName(event.getLoggerName()));
        line.put("message", event.getFormattedMessage());
        for (KeyValuePair pair : pairs(event)) {
            switch (pair.value) {
                case Long number -> line.put(pair.key, number);
                case Integer number -> line.put(pair.key, number);
                case Boolean flag -> line.put(pair.key, flag);
                case null, default -> line.put(pair.key, String.valueOf(pair.value));
            }
        }
        if (event.getThrowableProxy() != null) {
            line.put("stack", ThrowableProxyUtil.asString(event.getThrowableProxy()));
        }
        return line + "\n";
    }

    private static List<KeyValuePair> pairs(ILoggingEvent event) {
        List<KeyValuePair> pairs = event.getKeyValuePairs();
        return pairs == null ? List.of() : pairs;
    }

    private static String shortName(String logger) {
        return logger.substring(logger.lastIndexOf('.') + 1);
    }

    private static void escape(StringBuilder line, String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '\n' -> line.append("\\n");
                case '\r' -> line.append("\\r");
                case '\t' -> line.append("\\t");
                default -> {
                    if (Character.isISOControl(c)) {
                        line.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
                    } else {
                        line.append(c);
                    }
                }
            }
        }
    }
}
