package io.coplane.cop.expr.kernel;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import io.coplane.types.json.JsonBuilder;
import io.coplane.types.json.JsonCompare;
import io.coplane.types.json.JsonDocs;
import io.coplane.types.json.JsonMatches;
import io.coplane.types.json.JsonParser;
import io.coplane.types.json.JsonPath;
import io.coplane.types.json.JsonQuery;
import io.coplane.types.json.JsonUnquote;
import io.coplane.types.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** JSON functions that read documents, and the comparisons of JSON (expressions.md 6.9, 8.10). */
final class JsonKernels {
    /** Working memory of one node. */
    static final class State {
        final JsonBuilder builder = new JsonBuilder();
        final JsonMatches matches = new JsonMatches();
        private ByteSink sink;
        private JsonPath[] paths = {};
        private byte[][] pathTexts = {};

        /** The path in an argument; parsed again only if its text changes. */
        JsonPath path(Column[] args, int index, int row) {
            if (paths.length < args.length) {
                paths = Arrays.copyOf(paths, args.length);
                pathTexts = Arrays.copyOf(pathTexts, args.length);
            }
            BytesColumn column = (BytesColumn) args[index];
            byte[] data = column.data();
            int start = column.starts()[row];
            int length = column.lengths()[row];
            byte[] known = pathTexts[index];
            if (known == null || !Arrays.equals(data, start, start + length, known, 0, known.length)) {
                Texts.requireUtf8(column, row);
                pathTexts[index] = null;
                paths[index] = JsonPath.parse(data, start, length);
                pathTexts[index] = Arrays.copyOfRange(data, start, start + length);
            }
            return paths[index];
        }

        ByteSink sink() {
            if (sink == null) {
                sink = new ByteSink(MemoryGuard.unlimited());
            }
            sink.truncate(0);
            return sink;
        }
    }

    private JsonKernels() {}

    static void declare(SignatureTable table) {
        CompareKernels.declare(
                table,
                EvalType.JSON,
                JsonKernels::order,
                ScalarFuncSig.LTJson,
                ScalarFuncSig.LEJson,
                ScalarFuncSig.GTJson,
                ScalarFuncSig.GEJson,
                ScalarFuncSig.EQJson,
                ScalarFuncSig.NEJson,
                ScalarFuncSig.NullEQJson);
        table.add(ScalarFuncSig.InJson)
                .takesMany(1, EvalType.JSON)
                .returns(EvalType.INT)
                .seesNulls()
                .runs(JsonKernels::in);
        table.add(ScalarFuncSig.UnaryNotJSON)
                .takes(EvalType.JSON)
                .returns(EvalType.INT)
                .runs(JsonKernels::not);
        table.add(ScalarFuncSig.JsonTypeSig)
                .takes(EvalType.JSON)
                .returns(EvalType.BYTES)
                .runs(JsonKernels::type);
        table.add(ScalarFuncSig.JsonDepthSig)
                .takes(EvalType.JSON)
                .returns(EvalType.INT)
                .runs(JsonKernels::depth);
        table.add(ScalarFuncSig.JsonExtractSig)
                .takesHeadAndMany(2, EvalType.BYTES, EvalType.JSON)
                .returns(EvalType.JSON)
                .runs(JsonKernels::extract);
        table.add(ScalarFuncSig.JsonUnquoteSig)
                .takes(EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs(JsonKernels::unquote);
        table.add(ScalarFuncSig.JsonQuoteSig)
                .takes(EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs(JsonKernels::quote);
        for (ScalarFuncSig sig : new ScalarFuncSig[] {
            ScalarFuncSig.JsonValidJsonSig, ScalarFuncSig.JsonValidStringSig, ScalarFuncSig.JsonValidOthersSig
        }) {
            table.add(sig)
                    .takesAnything()
                    .returns(EvalType.INT)
                    .prepares(JsonKernels::prepareValid)
                    .runs(JsonKernels::valid);
        }
        table.add(ScalarFuncSig.JsonContainsSig)
                .takesFrom(2, EvalType.JSON, EvalType.JSON, EvalType.BYTES)
                .returns(EvalType.INT)
                .runs(JsonKernels::contains);
        table.add(ScalarFuncSig.JsonMemberOfSig)
                .takes(EvalType.JSON, EvalType.JSON)
                .returns(EvalType.INT)
                .runs(JsonKernels::memberOf);
        table.add(ScalarFuncSig.JsonKeysSig)
                .takes(EvalType.JSON)
                .returns(EvalType.JSON)
                .runs(JsonKernels::keys);
        table.add(ScalarFuncSig.JsonKeys2ArgsSig)
                .takes(EvalType.JSON, EvalType.BYTES)
                .returns(EvalType.JSON)
                .runs(JsonKernels::keys);
        table.add(ScalarFuncSig.JsonLengthSig)
                .takesFrom(1, EvalType.JSON, EvalType.BYTES)
                .returns(EvalType.INT)
                .runs(JsonKernels::length);
    }

    static State state(KernelContext ctx) {
        if (ctx.scratch() == null) {
            ctx.scratch(new State());
        }
        return (State) ctx.scratch();
    }

    /** The value of a row that is not NULL. */
    static JsonValue value(Column column, int row) {
        BytesColumn bytes = (BytesColumn) column;
        return new JsonValue(bytes.data(), CastToJson.ref(bytes, row));
    }

    private static void order(KernelContext ctx, Column[] args, int rows, long[] out) {
        BytesColumn left = (BytesColumn) args[0];
        BytesColumn right = (BytesColumn) args[1];
        for (int i = 0; i < rows; i++) {
            out[i] = left.isNull(i) || right.isNull(i) ? 0 : compare(left, right, i);
        }
    }

    private static int compare(BytesColumn left, BytesColumn right, int row) {
        return Integer.signum(
                JsonCompare.compare(left.data(), CastToJson.ref(left, row), right.data(), CastToJson.ref(right, row)));
    }

    private static void in(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] found = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            found[i] = 0;
            for (int a = 1; a < args.length && !args[0].isNull(i); a++) {
                if (!args[a].isNull(i) && compare((BytesColumn) args[0], (BytesColumn) args[a], i) == 0) {
                    found[i] = 1;
                    break;
                }
            }
        }
        InKernels.finish(args, false, rows, found, out);
    }

    private static void not(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = !out.isNull(i) && JsonCompare.isZero(arg.data(), CastToJson.ref(arg, i)) ? 1 : 0;
        }
    }

    private static void type(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                byte[] name =
                        JsonQuery.typeName(arg.data(), CastToJson.ref(arg, i)).getBytes(StandardCharsets.ISO_8859_1);
                out.set(i, name, 0, name.length);
            }
        }
    }

    private static void depth(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = out.isNull(i) ? 0 : JsonQuery.depth(arg.data(), CastToJson.ref(arg, i));
        }
    }

    private static void extract(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        State state = state(ctx);
        JsonPath[] paths = new JsonPath[args.length - 1];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            for (int a = 1; a < args.length; a++) {
                paths[a - 1] = state.path(args, a, i);
            }
            state.builder.clear();
            if (JsonQuery.pushExtract(state.builder, arg.data(), CastToJson.ref(arg, i), paths, state.matches)) {
                state.builder.finish(out, i);
            } else {
                Texts.putNull(out, i);
            }
        }
    }

    private static void unquote(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        State state = state(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            Texts.requireUtf8(arg, i);
            byte[] data = arg.data();
            int start = arg.starts()[i];
            int length = arg.lengths()[i];
            if (length < 2 || data[start] != '"' || data[start + length - 1] != '"') {
                Texts.put(ctx, out, i, data, start, length);
                continue;
            }
            requireJson(state, data, start, length);
            ByteSink sink = state.sink();
            JsonUnquote.appendUnescaped(sink, data, start + 1, length - 2);
            Texts.put(ctx, out, i, sink.bytes(), 0, sink.length());
        }
    }

    private static void requireJson(State state, byte[] data, int start, int length) {
        state.builder.clear();
        try {
            new JsonParser(state.builder).parse(data, start, length);
        } catch (EvalException e) {
            String detail = e.getMessage();
            int at = detail.indexOf("Error(");
            throw EvalException.uncoded("invalid json value: " + (at < 0 ? detail : detail.substring(at)));
        }
    }

    private static void quote(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int start = arg.starts()[i];
            int length = arg.lengths()[i];
            int most = (int) Math.min(Integer.MAX_VALUE, 2L * length + 2);
            int to = ctx.reserve(out, most);
            byte[] target = out.data();
            int write = to;
            target[write++] = '"';
            for (int k = start; k < start + length; k++) {
                byte b = arg.data()[k];
                byte escaped = escape(b);
                if (escaped != 0) {
                    target[write++] = '\\';
                    target[write++] = escaped;
                } else {
                    target[write++] = b;
                }
            }
            target[write++] = '"';
            ctx.unreserve(out, to + most - write);
            out.setView(i, to, write - to);
        }
    }

    /** What follows the backslash, or 0. */
    private static byte escape(byte b) {
        return switch (b) {
            case '"', '\\' -> b;
            case 0x07 -> 'a';
            case '\b' -> 'b';
            case '\f' -> 'f';
            case '\n' -> 'n';
            case '\r' -> 'r';
            case '\t' -> 't';
            case 0x0b -> 'v';
            default -> 0;
        };
    }

    private static void prepareValid(Preparation node) {
        if (node.childCount() != 1) {
            throw node.invalid("Expect 1 arguments, received " + node.childCount());
        }
        node.metadata(node.childType(0).evalType());
    }

    private static void valid(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] values = ((LongColumn) out).values();
        EvalType type = (EvalType) ctx.metadata();
        if (type != EvalType.BYTES) {
            Arrays.fill(values, 0, rows, type == EvalType.JSON ? 1 : 0);
            return;
        }
        BytesColumn arg = (BytesColumn) args[0];
        State state = state(ctx);
        JsonParser parser = new JsonParser(state.builder);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                Texts.requireUtf8(arg, i);
                values[i] = parser.isValid(arg.data(), arg.starts()[i], arg.lengths()[i]) ? 1 : 0;
            }
        }
    }

    private static void contains(KernelContext ctx, Column[] args, int rows, Column out) {
        State state = state(ctx);
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            JsonValue document = value(args[0], i);
            if (args.length > 2) {
                JsonPath path = state.path(args, 2, i);
                document = path.hasAsterisk() ? null : extracted(state, document, path);
            }
            if (document == null) {
                out.setNull(i);
            } else {
                values[i] = JsonQuery.contains(document, value(args[1], i)) ? 1 : 0;
            }
        }
    }

    /** What one path extracts as a document, or null. */
    private static JsonValue extracted(State state, JsonValue document, JsonPath path) {
        if (!path.mayMatchMany()) {
            state.matches.find(document.data(), document.ref(), path);
            return state.matches.count() == 0 ? null : new JsonValue(document.data(), state.matches.ref(0));
        }
        state.builder.clear();
        if (!JsonQuery.pushExtract(
                state.builder, document.data(), document.ref(), new JsonPath[] {path}, state.matches)) {
            return null;
        }
        BytesColumn one = new BytesColumn();
        one.resetOwned(1);
        state.builder.finish(one, 0);
        return value(one, 0);
    }

    private static void memberOf(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                values[i] = JsonQuery.isMember(value(args[0], i), value(args[1], i)) ? 1 : 0;
            }
        }
    }

    private static void keys(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        State state = state(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            JsonValue document = value(args[0], i);
            if (args.length > 1) {
                JsonPath path = state.path(args, 1, i);
                if (path.hasAsterisk()) {
                    throw EvalException.uncoded(
                            "Invalid path expression: expected no asterisk, but " + path.debugText());
                }
                document = extracted(state, document, path);
            }
            if (document == null || JsonDocs.type(document.ref()) != JsonDocs.OBJECT) {
                Texts.putNull(out, i);
                continue;
            }
            state.builder.clear();
            JsonQuery.pushKeys(state.builder, document.data(), document.ref());
            state.builder.finish(out, i);
        }
    }

    private static void length(KernelContext ctx, Column[] args, int rows, Column out) {
        State state = state(ctx);
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            JsonValue document = value(args[0], i);
            if (args.length > 1) {
                JsonPath path = state.path(args, 1, i);
                document = path.hasAsterisk() ? null : extracted(state, document, path);
            }
            if (document == null) {
                out.setNull(i);
            } else {
                values[i] = JsonQuery.length(document.data(), document.ref());
            }
        }
    }
}
