package io.coplane.types.json;

import io.coplane.types.FieldType;

/** What can be asked of JSON values without changing them (expressions.md 6.9.5, 6.9.6). */
public final class JsonQuery {
    private JsonQuery() {}

    /** Name that JSON_TYPE gives. */
    public static String typeName(byte[] data, long ref) {
        return switch (JsonDocs.type(ref)) {
            case JsonDocs.OBJECT -> "OBJECT";
            case JsonDocs.ARRAY -> "ARRAY";
            case JsonDocs.I64 -> "INTEGER";
            case JsonDocs.U64 -> "UNSIGNED INTEGER";
            case JsonDocs.DOUBLE -> "DOUBLE";
            case JsonDocs.STRING -> "STRING";
            case JsonDocs.LITERAL -> JsonDocs.isNull(data, ref) ? "NULL" : "BOOLEAN";
            case JsonDocs.DATE -> "DATE";
            case JsonDocs.DATETIME, JsonDocs.TIMESTAMP -> "DATETIME";
            case JsonDocs.TIME -> "TIME";
            case JsonDocs.OPAQUE -> opaqueName(JsonDocs.opaqueType(data, ref));
            default -> throw JsonDocs.corrupt("unknown JSON type " + JsonDocs.type(ref), JsonDocs.at(ref));
        };
    }

    private static String opaqueName(int mysqlType) {
        return switch (mysqlType) {
            case FieldType.TINY_BLOB,
                    FieldType.MEDIUM_BLOB,
                    FieldType.LONG_BLOB,
                    FieldType.BLOB,
                    FieldType.STRING,
                    FieldType.VAR_STRING,
                    FieldType.VAR_CHAR -> "BLOB";
            case FieldType.BIT -> "BIT";
            default -> "OPAQUE";
        };
    }

    /** Depth: 1 for a scalar or an empty container, else one more than the deepest child. */
    public static int depth(byte[] data, long ref) {
        int deepest = 0;
        if (JsonDocs.isContainer(ref)) {
            for (int i = 0; i < JsonDocs.count(data, ref); i++) {
                deepest = Math.max(deepest, depth(data, JsonDocs.element(data, ref, i)));
            }
        }
        return deepest + 1;
    }

    /** Elements of an array, members of an object, 1 for a scalar. */
    public static int length(byte[] data, long ref) {
        return JsonDocs.isContainer(ref) ? JsonDocs.count(data, ref) : 1;
    }

    /** Pushes the keys of an object as an array. */
    public static void pushKeys(JsonBuilder out, byte[] data, long object) {
        int mark = out.mark();
        for (int i = 0; i < JsonDocs.count(data, object); i++) {
            out.pushString(data, JsonDocs.keyStart(data, object, i), JsonDocs.keyLength(data, object, i));
        }
        out.endArray(mark);
    }

    /**
     * Pushes what the paths find: an array if there are several paths or one that may match many, else the single match.
     *
     * @return false if nothing is found; nothing is pushed then
     */
    public static boolean pushExtract(JsonBuilder out, byte[] data, long ref, JsonPath[] paths, JsonMatches matches) {
        boolean many = paths.length > 1 || paths[0].mayMatchMany();
        int mark = out.mark();
        for (JsonPath path : paths) {
            matches.find(data, ref, path);
            for (int i = 0; i < matches.count(); i++) {
                out.pushCopy(data, matches.ref(i));
            }
        }
        if (out.mark() == mark) {
            return false;
        }
        if (many) {
            out.endArray(mark);
        }
        return true;
    }

    /** JSON_CONTAINS: whether {@code target} is contained in {@code document}. */
    public static boolean contains(JsonValue document, JsonValue target) {
        return switch (document.type()) {
            case JsonDocs.OBJECT -> target.isObject() && containsMembers(document, target);
            case JsonDocs.ARRAY ->
                target.type() == JsonDocs.ARRAY
                        ? containsElements(document, target)
                        : anyElementContains(document, target);
            default -> document.compare(target) == 0;
        };
    }

    private static boolean containsMembers(JsonValue document, JsonValue target) {
        for (int i = 0; i < target.count(); i++) {
            JsonValue member = document.memberLike(target, i);
            if (member == null || !contains(member, target.element(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean containsElements(JsonValue document, JsonValue target) {
        for (int i = 0; i < target.count(); i++) {
            if (!contains(document, target.element(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean anyElementContains(JsonValue document, JsonValue target) {
        for (int i = 0; i < document.count(); i++) {
            if (contains(document.element(i), target)) {
                return true;
            }
        }
        return false;
    }

    /** MEMBER OF: whether {@code value} equals the array's element or, where it is no array, the value itself. */
    public static boolean isMember(JsonValue value, JsonValue array) {
        if (array.type() != JsonDocs.ARRAY) {
            return array.compare(value) == 0;
        }
        for (int i = 0; i < array.count(); i++) {
            if (array.element(i).compare(value) == 0) {
                return true;
            }
        }
        return false;
    }
}
