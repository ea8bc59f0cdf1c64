package io.coplane.cop.expr;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.InUnionMetadata;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.testing.ManualClock;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One vector of expression-vectors.tsv: evaluated with its arguments as columns, and with those after the first as constants. */
final class VectorCase {
    private static final int ROWS = 33;

    private final int line;
    private final String group;
    private final String sig;
    private final List<VectorLiteral> args;
    private final String context;
    private final String expect;
    private final String notes;

    private VectorCase(
            int line, String group, String sig, List<VectorLiteral> args, String context, String expect, String notes) {
        this.line = line;
        this.group = group;
        this.sig = sig;
        this.args = args;
        this.context = context;
        this.expect = expect;
        this.notes = notes;
    }

    static VectorCase parse(int line, String[] fields) {
        return new VectorCase(
                line,
                fields[0],
                fields[1],
                VectorLiteral.list(fields[2]),
                fields.length > 3 ? fields[3] : "",
                fields.length > 4 ? fields[4] : "",
                fields.length > 5 ? fields[5] : "");
    }

    String sig() {
        return sig;
    }

    /** Null if it passes, else what differs. */
    String run() {
        try {
            return runAllForms();
        } catch (AssertionError | UnsupportedOperationException e) {
            return "line " + line + ": " + e.getMessage();
        }
    }

    private String runAllForms() {
        String failure = run(false, 1);
        if (failure == null && !expect.startsWith("ERR")) {
            failure = run(false, ROWS);
        }
        if (failure == null && isConstantToo()) {
            failure = run(true, 1);
        }
        return failure == null ? null : "line " + line + ": " + failure;
    }

    private boolean isConstantToo() {
        return (group.equals("in") || group.equals("regexp") || group.equals("like")) && args.size() > 1
                || notes.contains("argument is a constant");
    }

    private String run(boolean constants, int rows) {
        EvalContext eval = evalContext();
        Column result;
        EvalType type;
        try {
            List<FieldType> schema = new ArrayList<>();
            List<Column> columns = new ArrayList<>();
            Expr.Builder node = Expr.newBuilder().setTp(ExprType.ScalarFunc).setSig(number());
            for (int i = 0; i < args.size(); i++) {
                FieldType argType = argType(i);
                if (isAlwaysConstant(i) || constants && i > 0 || notes.contains("argument is a constant")) {
                    node.addChildren(VectorValues.constant(args.get(i), argType, eval));
                    continue;
                }
                node.addChildren(Expr.newBuilder()
                        .setTp(ExprType.ColumnRef)
                        .setVal(ByteString.copyFrom(
                                ByteBuffer.allocate(8).putLong(0, columns.size() ^ Long.MIN_VALUE))));
                schema.add(argType);
                columns.add(VectorValues.column(args.get(i), argType, eval, rows));
            }
            node.setFieldType(VectorValues.wire(returnType()));
            if (context.contains("in_union=true")) {
                node.setVal(
                        InUnionMetadata.newBuilder().setInUnion(true).build().toByteString());
            }
            Expression expression = Expression.compile(node.build(), schema, eval);
            type = expression.evalType();
            result = expression.evaluate(eval, columns::get, rows);
        } catch (EvalException e) {
            return expectError(e.mysqlCode(), e);
        } catch (CoplaneException e) {
            return expectError(0, e);
        } catch (UnsupportedOperationException e) {
            return "not built: " + e.getMessage();
        } catch (RuntimeException e) {
            return "threw " + e + " at " + (e.getStackTrace().length > 0 ? e.getStackTrace()[0] : "");
        }
        if (expect.startsWith("ERR")) {
            return "no error, got " + VectorValues.show(result, 0, type, returnType());
        }
        for (int row = 0; row < rows; row++) {
            String difference = VectorValues.difference(expect, result, row, type, returnType(), eval);
            if (difference != null) {
                return difference + " row=" + row + (constants ? " constants" : "");
            }
        }
        return rows == 1 ? warningDifference(eval) : null;
    }

    private boolean isAlwaysConstant(int index) {
        return index == 2 && (sig.startsWith("AddDate") || sig.startsWith("SubDate")) && args.size() == 3
                || index == 0 && sig.equals("TimestampDiff");
    }

    private String expectError(int code, CoplaneException e) {
        if (!expect.startsWith("ERR")) {
            return "failed: " + e.getMessage() + ", expected " + expect;
        }
        String wanted = expect.substring(3).strip();
        if (e.code() == io.coplane.nativecache.ErrorCode.UNSUPPORTED) {
            return "unsupported: " + e.getMessage();
        }
        if (!wanted.isEmpty() && Integer.parseInt(wanted) != code) {
            return "error code " + code + ", expected " + wanted;
        }
        return null;
    }

    private String warningDifference(EvalContext eval) {
        List<String> codes = new ArrayList<>();
        eval.warnings().forEach(w -> codes.add(Integer.toString(w.warningCode())));
        String got = String.join(", ", codes);
        int at = notes.indexOf("warnings=[");
        if (at >= 0) {
            String wanted = notes.substring(at + 10, notes.indexOf(']', at));
            if (!wanted.equals(got)) {
                return "warnings [" + got + "], expected [" + wanted + "]";
            }
        }
        at = notes.indexOf("warning_cnt=");
        if (at >= 0) {
            String wanted = notes.substring(at + 12).split("[ \t]", 2)[0];
            if (!wanted.equals(Long.toString(eval.warningCount()))) {
                return "warning_cnt=" + eval.warningCount() + " [" + got + "], expected " + wanted;
            }
        }
        return null;
    }

    private ScalarFuncSig number() {
        return ScalarFuncSig.valueOf(castName());
    }

    /** A cast from ENUM has the number of another cast; the types decide. */
    private String castName() {
        if (sig.startsWith("CastEnumAs")) {
            return sig.equals("CastEnumAsVectorFloat32") ? sig : "CastInt" + sig.substring(8);
        }
        return sig.equals("UnaryNotJson") ? "UnaryNotJSON" : sig;
    }

    private FieldType argType(int index) {
        VectorLiteral literal = args.get(index);
        Map<String, String> attributes = new LinkedHashMap<>(literal.attributes());
        boolean isCast = group.equals("cast");
        if (isCast) {
            int at = context.indexOf("argtype={");
            if (at >= 0) {
                attributes.putAll(VectorLiteral.attributes(context.substring(at + 8, context.indexOf('}', at) + 1)));
            }
            for (String word : words("arg=")) {
                VectorValues.applyWord(word, attributes);
            }
        }
        EvalType wanted = null;
        if (sig.startsWith("Cast")) {
            String name = sig.substring(4, sig.indexOf("As", 4));
            wanted = VectorValues.castType(name);
        } else {
            var signature = Signatures.table().find(number());
            wanted = signature == null ? null : signature.argType(index);
            if (wanted == null && literal.kind().equals("NULL")) {
                wanted = guess(index);
            }
        }
        return VectorValues.fieldType(literal, attributes, wanted);
    }

    /** A NULL of a function of any types: the type of the first argument that is not NULL. */
    private EvalType guess(int index) {
        if (sig.startsWith("CaseWhen")) {
            if (index % 2 == 0 && index + 1 < args.size()) {
                return EvalType.INT;
            }
            return Signatures.table().find(number()).returns();
        }
        if (sig.equals("JsonObjectSig")) {
            return index % 2 == 0 ? EvalType.BYTES : EvalType.JSON;
        }
        if (sig.startsWith("Json")) {
            return index % 2 == 0 ? EvalType.JSON : EvalType.BYTES;
        }
        for (VectorLiteral other : args) {
            if (!other.kind().equals("NULL")) {
                return VectorValues.evalType(other);
            }
        }
        return EvalType.INT;
    }

    private FieldType returnType() {
        Map<String, String> attributes = new LinkedHashMap<>();
        for (int at = context.indexOf("ret={"); at >= 0; at = context.indexOf("ret={", at + 1)) {
            attributes.putAll(VectorLiteral.attributes(context.substring(at + 4, context.indexOf('}', at) + 1)));
        }
        for (String word : words("ret=")) {
            VectorValues.applyWord(word, attributes);
        }
        EvalType type;
        if (sig.startsWith("Cast")) {
            type = VectorValues.castType(sig.substring(sig.indexOf("As", 4) + 2));
        } else {
            var signature = Signatures.table().find(number());
            type = signature == null ? null : signature.returns();
        }
        return VectorValues.returnType(attributes, type);
    }

    private List<String> words(String key) {
        List<String> found = new ArrayList<>();
        for (String part : context.split(" ", -1)) {
            if (part.startsWith(key) && !part.startsWith(key + "{")) {
                found.add(part.substring(key.length()));
            }
        }
        return found;
    }

    private EvalContext evalContext() {
        long flags = 0;
        long mode = 0;
        ZoneId zone = ZoneOffset.UTC;
        int increment = EvalContext.DEFAULT_DIV_PRECISION_INCREMENT;
        LocalDate today = LocalDate.of(2020, 2, 2);
        for (String part : context.replace(';', ' ').split(" ", -1)) {
            int at = part.indexOf('=');
            String value = at < 0 ? "" : part.substring(at + 1);
            switch (at < 0 ? part : part.substring(0, at)) {
                case "flags" -> flags = VectorValues.flags(value);
                case "sql_mode" -> mode = VectorValues.modes(value);
                case "tz" -> zone = ZoneId.of(value);
                case "tz_offset" -> zone = ZoneOffset.ofTotalSeconds(Integer.parseInt(value));
                case "div_precision_increment" -> increment = Integer.parseInt(value);
                case "today" -> today = LocalDate.parse(value);
                default -> {}
            }
        }
        ManualClock clock = new ManualClock(today.atTime(LocalTime.NOON).toInstant(ZoneOffset.UTC));
        return new EvalContext(flags, mode, zone, EvalContext.DEFAULT_MAX_WARNINGS, increment, clock);
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
