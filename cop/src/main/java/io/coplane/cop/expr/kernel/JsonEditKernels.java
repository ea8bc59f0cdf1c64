package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.json.JsonBuilder;
import io.coplane.types.json.JsonDocs;
import io.coplane.types.json.JsonEdit;
import io.coplane.types.json.JsonPath;
import io.coplane.types.json.JsonValue;
import java.util.ArrayList;
import java.util.List;

/** JSON functions that make documents (expressions.md 6.9.6, 8.10). */
final class JsonEditKernels {
    private static final String PARAMETER_COUNT =
            "Incorrect parameter count in the call to native function 'JSON_OBJECT'";

    private JsonEditKernels() {}

    static void declare(SignatureTable table) {
        modify(table, ScalarFuncSig.JsonSetSig, JsonEdit.Mode.SET);
        modify(table, ScalarFuncSig.JsonInsertSig, JsonEdit.Mode.INSERT);
        modify(table, ScalarFuncSig.JsonReplaceSig, JsonEdit.Mode.REPLACE);
        json(table, ScalarFuncSig.JsonArrayAppendSig)
                .takesAnything()
                .prepares(node -> checkPairs(node, EvalType.JSON, EvalType.BYTES, EvalType.JSON))
                .runs(JsonEditKernels::arrayAppend);
        json(table, ScalarFuncSig.JsonRemoveSig)
                .takesHeadAndMany(2, EvalType.BYTES, EvalType.JSON)
                .runs(JsonEditKernels::remove);
        json(table, ScalarFuncSig.JsonMergeSig).takesMany(2, EvalType.JSON).runs(JsonEditKernels::merge);
        json(table, ScalarFuncSig.JsonMergePatchSig).takesMany(2, EvalType.JSON).runs(JsonEditKernels::mergePatch);
        json(table, ScalarFuncSig.JsonObjectSig)
                .takesAnything()
                .prepares(node -> checkPairs(node, null, EvalType.BYTES, EvalType.JSON))
                .runs(JsonEditKernels::object);
        json(table, ScalarFuncSig.JsonArraySig).takesMany(0, EvalType.JSON).runs(JsonEditKernels::array);
    }

    private static Signature json(SignatureTable table, ScalarFuncSig sig) {
        return table.add(sig).returns(EvalType.JSON).seesNulls();
    }

    private static void modify(SignatureTable table, ScalarFuncSig sig, JsonEdit.Mode mode) {
        json(table, sig)
                .takesAnything()
                .prepares(node -> {
                    checkPairs(node, EvalType.JSON, EvalType.BYTES, EvalType.JSON);
                    node.metadata(mode);
                })
                .runs(JsonEditKernels::modify);
    }

    /** @param head type of the first argument, null if the pairs start at once */
    private static void checkPairs(Preparation node, EvalType head, EvalType first, EvalType second) {
        int from = head == null ? 0 : 1;
        if (node.childCount() < from || (node.childCount() - from) % 2 != 0) {
            throw node.invalid(PARAMETER_COUNT);
        }
        if (head != null) {
            node.expectType(0, head);
        }
        for (int i = from; i < node.childCount(); i += 2) {
            node.expectType(i, first);
            node.expectType(i + 1, second);
        }
    }

    /** SQL NULL counts as JSON null. */
    private static JsonValue valueOrNull(Column column, int row) {
        return column.isNull(row) ? JsonValue.NULL : JsonKernels.value(column, row);
    }

    private static void put(KernelContext ctx, JsonValue value, BytesColumn out, int row) {
        JsonBuilder builder = JsonKernels.state(ctx).builder;
        builder.clear();
        builder.pushCopy(value.data(), value.ref());
        builder.finish(out, row);
    }

    /** Parses all paths of a row before anything is changed. @return null if one is NULL */
    private static JsonPath[] paths(KernelContext ctx, Column[] args, int row, int step) {
        JsonPath[] paths = new JsonPath[(args.length - 1 + step - 1) / step];
        for (int a = 1, p = 0; a < args.length; a += step, p++) {
            if (args[a].isNull(row)) {
                return null;
            }
            paths[p] = JsonKernels.state(ctx).path(args, a, row);
        }
        return paths;
    }

    private static void modify(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        JsonEdit.Mode mode = (JsonEdit.Mode) ctx.metadata();
        JsonEdit edit = new JsonEdit();
        for (int i = 0; i < rows; i++) {
            JsonPath[] paths = paths(ctx, args, i, 2);
            if (paths == null) {
                Texts.putNull(out, i);
                continue;
            }
            JsonValue document = valueOrNull(args[0], i);
            for (int p = 0; p < paths.length; p++) {
                JsonValue value = valueOrNull(args[2 * p + 2], i);
                document = edit.modify(mode, document, paths[p], paths[p].debugText(), value);
            }
            put(ctx, document, out, i);
        }
    }

    private static void arrayAppend(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        JsonEdit edit = new JsonEdit();
        for (int i = 0; i < rows; i++) {
            JsonPath[] paths = args[0].isNull(i) ? null : paths(ctx, args, i, 2);
            if (paths == null) {
                Texts.putNull(out, i);
                continue;
            }
            JsonValue document = JsonKernels.value(args[0], i);
            for (int p = 0; p < paths.length; p++) {
                document = append(ctx, edit, document, paths[p], valueOrNull(args[2 * p + 2], i));
            }
            put(ctx, document, out, i);
        }
    }

    private static JsonValue append(
            KernelContext ctx, JsonEdit edit, JsonValue document, JsonPath path, JsonValue value) {
        var matches = JsonKernels.state(ctx).matches;
        matches.find(document.data(), document.ref(), path);
        if (matches.count() == 0) {
            return document;
        }
        JsonValue found = new JsonValue(document.data(), matches.ref(0));
        boolean objects = isObject(found) && isObject(value);
        JsonValue appended = edit.merge(List.of(objects ? edit.arrayOf(found) : found, value));
        return edit.modify(JsonEdit.Mode.SET, document, path, path.debugText(), appended);
    }

    private static boolean isObject(JsonValue value) {
        return JsonDocs.type(value.ref()) == JsonDocs.OBJECT;
    }

    private static void remove(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        JsonEdit edit = new JsonEdit();
        for (int i = 0; i < rows; i++) {
            JsonPath[] paths = args[0].isNull(i) ? null : paths(ctx, args, i, 1);
            if (paths == null) {
                Texts.putNull(out, i);
            } else {
                put(ctx, edit.remove(JsonKernels.value(args[0], i), paths), out, i);
            }
        }
    }

    private static void merge(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        JsonEdit edit = new JsonEdit();
        List<JsonValue> values = new ArrayList<>();
        for (int i = 0; i < rows; i++) {
            if (args[0].isNull(i)) {
                Texts.putNull(out, i);
                continue;
            }
            values.clear();
            for (Column arg : args) {
                values.add(valueOrNull(arg, i));
            }
            put(ctx, edit.merge(values), out, i);
        }
    }

    private static void mergePatch(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        JsonEdit edit = new JsonEdit();
        for (int i = 0; i < rows; i++) {
            int from = 0;
            for (int a = 0; a < args.length; a++) {
                if (args[a].isNull(i) || !isObject(JsonKernels.value(args[a], i))) {
                    from = a;
                }
            }
            if (args[from].isNull(i)) {
                Texts.putNull(out, i);
                continue;
            }
            JsonValue document = JsonKernels.value(args[from], i);
            for (int a = from + 1; a < args.length; a++) {
                document = edit.mergePatch(document, JsonKernels.value(args[a], i));
            }
            put(ctx, document, out, i);
        }
    }

    private static void object(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        JsonBuilder builder = JsonKernels.state(ctx).builder;
        for (int i = 0; i < rows; i++) {
            builder.clear();
            int mark = builder.mark();
            for (int a = 0; a < args.length; a += 2) {
                if (args[a].isNull(i)) {
                    throw EvalException.uncoded("Data truncation: JSON documents may not contain NULL member names.");
                }
                BytesColumn key = (BytesColumn) args[a];
                Texts.requireUtf8(key, i);
                JsonValue value = valueOrNull(args[a + 1], i);
                builder.pushCopy(value.data(), value.ref());
                builder.key(key.data(), key.starts()[i], key.lengths()[i]);
            }
            builder.endObject(mark);
            builder.finish(out, i);
        }
    }

    private static void array(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        JsonBuilder builder = JsonKernels.state(ctx).builder;
        for (int i = 0; i < rows; i++) {
            builder.clear();
            int mark = builder.mark();
            for (Column arg : args) {
                JsonValue value = valueOrNull(arg, i);
                builder.pushCopy(value.data(), value.ref());
            }
            builder.endArray(mark);
            builder.finish(out, i);
        }
    }
}
