package io.coplane.worker.inspect;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;

/** Writes a line a fact: {@code type name=value ..} with indentation, or a JSON object. Nothing is kept. One thread. */
final class Lines {
    private final PrintWriter out;
    private final ObjectMapper json; // null: plain text

    Lines(PrintWriter out, boolean isJson) {
        this.out = out;
        json = isJson ? new ObjectMapper() : null;
    }

    /** @param depth levels of indentation of plain text */
    void print(int depth, String type, Map<String, Object> values) {
        if (json == null) {
            StringBuilder line = new StringBuilder("  ".repeat(depth)).append(type);
            values.forEach(
                    (name, value) -> line.append(' ').append(name).append('=').append(value));
            out.println(line);
            return;
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("type", type);
        all.putAll(values);
        try {
            out.println(json.writeValueAsString(all));
        } catch (IOException e) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "a map does not become JSON", e);
        }
    }

    void flush() {
        out.flush();
    }
}
