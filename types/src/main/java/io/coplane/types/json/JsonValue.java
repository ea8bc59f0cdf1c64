package io.coplane.types.json;

/**
 * A JSON value and the bytes it lies in: for functions that take several documents. Borrows the bytes.
 *
 * @param data document bytes
 * @param ref the value in them
 */
public record JsonValue(byte[] data, long ref) {
    private static final byte[] NULL_BYTES = {JsonDocs.LITERAL, JsonDocs.NULL_LITERAL};

    /** The JSON value {@code null}. */
    public static final JsonValue NULL = new JsonValue(NULL_BYTES, JsonDocs.ref(JsonDocs.LITERAL, 1));

    int type() {
        return JsonDocs.type(ref);
    }

    boolean isObject() {
        return type() == JsonDocs.OBJECT;
    }

    int count() {
        return JsonDocs.count(data, ref);
    }

    JsonValue element(int index) {
        return new JsonValue(data, JsonDocs.element(data, ref, index));
    }

    /** The member with the key that {@code other} has at {@code index}, or null. */
    JsonValue memberLike(JsonValue other, int index) {
        int member = JsonDocs.findKey(
                data,
                ref,
                other.data,
                JsonDocs.keyStart(other.data, other.ref, index),
                JsonDocs.keyLength(other.data, other.ref, index));
        return member < 0 ? null : element(member);
    }

    int compare(JsonValue other) {
        return JsonCompare.compare(data, ref, other.data, other.ref);
    }
}
