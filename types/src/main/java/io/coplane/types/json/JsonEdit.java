package io.coplane.types.json;

import io.coplane.types.EvalException;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.json.JsonPath.Elements;
import io.coplane.types.json.JsonPath.Key;
import io.coplane.types.json.JsonPath.Leg;
import java.util.ArrayList;
import java.util.List;

/**
 * Documents changed, merged and patched (expressions.md 6.9.6). Each result is a document of its own. Holds scratch; one thread.
 */
public final class JsonEdit {
    /** What JSON_SET, JSON_INSERT and JSON_REPLACE do with a path that matches, or not. */
    public enum Mode {
        SET,
        INSERT,
        REPLACE
    }

    private final JsonBuilder builder = new JsonBuilder();
    private final JsonMatches matches = new JsonMatches();
    private final BytesColumn finished = new BytesColumn();

    /**
     * Sets, inserts or replaces one value.
     *
     * @param pathText for the error
     * @throws EvalException if the path has an asterisk or a range
     */
    public JsonValue modify(Mode mode, JsonValue document, JsonPath path, String pathText, JsonValue value) {
        if (path.mayMatchMany()) {
            throw EvalException.uncoded("Invalid path expression: expected no asterisk, found " + pathText);
        }
        matches.find(document.data(), document.ref(), path);
        if (matches.count() > 0) {
            if (mode == Mode.INSERT) {
                return document;
            }
            pushReplaced(document, document.ref(), matches.ref(0), value);
            return done();
        }
        return mode == Mode.REPLACE ? document : insert(document, path.legs(), value);
    }

    /**
     * Removes what each path finds, one path after the other.
     *
     * @throws EvalException if a path has no legs, an asterisk or a range
     */
    public JsonValue remove(JsonValue document, JsonPath[] paths) {
        for (JsonPath path : paths) {
            if (path.legs().isEmpty() || path.mayMatchMany()) {
                throw EvalException.uncoded("Invalid path expression");
            }
        }
        JsonValue result = document;
        for (JsonPath path : paths) {
            List<Leg> legs = path.legs();
            matches.find(result.data(), result.ref(), legs.subList(0, legs.size() - 1));
            long parent = matches.count() == 0 ? JsonDocs.NONE : matches.ref(0);
            matches.find(result.data(), result.ref(), path);
            if (matches.count() > 0 && JsonDocs.isContainer(parent) && parent != matches.ref(0)) {
                pushReplaced(result, result.ref(), matches.ref(0), null);
                result = done();
            }
        }
        return result;
    }

    /** JSON_MERGE: adjacent objects become one, the rest an array. */
    public JsonValue merge(List<JsonValue> values) {
        List<JsonValue> left = new ArrayList<>();
        for (JsonValue value : values) {
            if (value.isObject() && !left.isEmpty() && left.getLast().isObject()) {
                left.set(left.size() - 1, mergeObjects(left.getLast(), value));
            } else {
                left.add(value);
            }
        }
        if (left.size() == 1) {
            return left.getFirst();
        }
        int mark = builder.mark();
        for (JsonValue value : left) {
            if (value.type() != JsonDocs.ARRAY) {
                push(value);
                continue;
            }
            for (int i = 0; i < value.count(); i++) {
                push(value.element(i));
            }
        }
        builder.endArray(mark);
        return done();
    }

    /** JSON_MERGE_PATCH, RFC 7396. */
    public JsonValue mergePatch(JsonValue target, JsonValue patch) {
        if (!patch.isObject()) {
            return patch;
        }
        List<JsonValue> merged = new ArrayList<>();
        for (int i = 0; i < patch.count(); i++) {
            JsonValue value = patch.element(i);
            JsonValue old = target.isObject() ? target.memberLike(patch, i) : null;
            boolean removes = JsonDocs.isNull(value.data(), value.ref());
            merged.add(removes ? null : mergePatch(old == null ? JsonValue.NULL : old, value));
        }
        int mark = builder.mark();
        for (int i = 0; target.isObject() && i < target.count(); i++) {
            if (patch.memberLike(target, i) == null) {
                push(target.element(i));
                keyOf(target, i);
            }
        }
        for (int i = 0; i < merged.size(); i++) {
            if (merged.get(i) != null) {
                push(merged.get(i));
                keyOf(patch, i);
            }
        }
        builder.endObject(mark);
        return done();
    }

    /** JSON_ARRAY of one value, for JSON_ARRAY_APPEND. */
    public JsonValue arrayOf(JsonValue value) {
        int mark = builder.mark();
        push(value);
        builder.endArray(mark);
        return done();
    }

    private JsonValue mergeObjects(JsonValue left, JsonValue right) {
        List<JsonValue> merged = new ArrayList<>();
        for (int i = 0; i < right.count(); i++) {
            JsonValue old = left.memberLike(right, i);
            merged.add(old == null ? right.element(i) : merge(List.of(old, right.element(i))));
        }
        int mark = builder.mark();
        for (int i = 0; i < left.count(); i++) {
            push(left.element(i));
            keyOf(left, i);
        }
        for (int i = 0; i < merged.size(); i++) {
            push(merged.get(i));
            keyOf(right, i);
        }
        builder.endObject(mark);
        return done();
    }

    private JsonValue insert(JsonValue document, List<Leg> legs, JsonValue value) {
        if (legs.isEmpty()) {
            return document;
        }
        matches.find(document.data(), document.ref(), legs.subList(0, legs.size() - 1));
        if (matches.count() == 0) {
            return document;
        }
        JsonValue parent = new JsonValue(document.data(), matches.ref(0));
        int mark = builder.mark();
        switch (legs.getLast()) {
            case Elements elements -> {
                if (parent.type() == JsonDocs.ARRAY) {
                    for (int i = 0; i < parent.count(); i++) {
                        push(parent.element(i));
                    }
                } else {
                    push(parent);
                }
                push(value);
                builder.endArray(mark);
            }
            case Key key -> {
                if (!parent.isObject() || key.name() == null) {
                    return document;
                }
                for (int i = 0; i < parent.count(); i++) {
                    push(parent.element(i));
                    keyOf(parent, i);
                }
                push(value);
                builder.key(key.name(), 0, key.name().length);
                builder.endObject(mark);
            }
            case JsonPath.AnyKey any -> throw EvalException.uncoded("Invalid path expression");
            case JsonPath.AnyElement any -> throw EvalException.uncoded("Invalid path expression");
            case JsonPath.Descend descend -> throw EvalException.uncoded("Invalid path expression");
        }
        JsonValue changed = done();
        pushReplaced(document, document.ref(), parent.ref(), changed);
        return done();
    }

    /** Pushes a copy in which the value at {@code target} is another one, or left out where {@code replacement} is null. */
    private void pushReplaced(JsonValue document, long ref, long target, JsonValue replacement) {
        byte[] data = document.data();
        if (ref == target) {
            push(replacement);
            return;
        }
        int at = JsonDocs.at(ref);
        boolean holdsTarget = JsonDocs.isContainer(ref)
                && JsonDocs.at(target) >= at
                && JsonDocs.at(target) < at + JsonDocs.valueLength(data, ref);
        if (!holdsTarget) {
            builder.pushCopy(data, ref);
            return;
        }
        int mark = builder.mark();
        boolean isObject = JsonDocs.type(ref) == JsonDocs.OBJECT;
        for (int i = 0; i < JsonDocs.count(data, ref); i++) {
            long child = JsonDocs.element(data, ref, i);
            if (child == target && replacement == null) {
                continue;
            }
            pushReplaced(document, child, target, replacement);
            if (isObject) {
                builder.key(data, JsonDocs.keyStart(data, ref, i), JsonDocs.keyLength(data, ref, i));
            }
        }
        if (isObject) {
            builder.endObject(mark);
        } else {
            builder.endArray(mark);
        }
    }

    private void push(JsonValue value) {
        builder.pushCopy(value.data(), value.ref());
    }

    private void keyOf(JsonValue object, int index) {
        builder.key(
                object.data(),
                JsonDocs.keyStart(object.data(), object.ref(), index),
                JsonDocs.keyLength(object.data(), object.ref(), index));
    }

    /** Ends the document in bytes of its own. */
    private JsonValue done() {
        finished.resetOwned(1);
        builder.finish(finished, 0);
        int start = finished.starts()[0];
        byte[] document = new byte[finished.lengths()[0]];
        System.arraycopy(finished.data(), start, document, 0, document.length);
        return new JsonValue(document, JsonDocs.ref(document[0] & 0xff, 1));
    }
}
