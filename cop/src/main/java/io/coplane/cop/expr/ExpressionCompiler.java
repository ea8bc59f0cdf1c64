package io.coplane.cop.expr;

import io.coplane.cop.expr.kernel.KernelContext;
import io.coplane.cop.expr.kernel.Literals;
import io.coplane.cop.expr.kernel.Preparation;
import io.coplane.cop.expr.kernel.Signature;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import java.util.ArrayList;
import java.util.List;

/** Turns a tree into expressions: checks, constants, metadata (expressions.md 1.7). */
final class ExpressionCompiler {
    private final List<FieldType> schema;
    private final EvalContext eval;
    private final MemoryGuard guard;

    ExpressionCompiler(List<FieldType> schema, EvalContext eval, MemoryGuard guard) {
        this.schema = schema;
        this.eval = eval;
        this.guard = guard;
    }

    Expression compile(Expr node) {
        return switch (node.getTp()) {
            case ScalarFunc -> call(node);
            case ColumnRef -> {
                int index = columnIndex(node);
                yield new ColumnExpression(index, schema.get(index));
            }
            default -> Constants.decode(node, FieldTypes.of(node.getFieldType()), eval);
        };
    }

    private int columnIndex(Expr node) {
        if (node.getVal().size() < Long.BYTES) {
            throw new CoplaneException(ErrorCode.BAD_PLAN, "Unable to decode column reference offset from the request");
        }
        long index = Literals.comparableLong(node.getVal());
        if (index < 0 || index >= schema.size()) {
            throw new CoplaneException(
                    ErrorCode.BAD_PLAN,
                    "Invalid column offset (schema has " + schema.size() + " columns, access index "
                            + Long.toUnsignedString(index) + ")");
        }
        return (int) index;
    }

    private Expression call(Expr node) {
        Signature signature = Signatures.table().find(node.getSig());
        if (signature == null) {
            throw new CoplaneException(
                    ErrorCode.UNSUPPORTED,
                    "ScalarFunction " + node.getSig().name() + " is not supported in batch mode");
        }
        FieldType returnType = FieldTypes.of(node.getFieldType());
        List<FieldType> childTypes = new ArrayList<>();
        for (Expr child : node.getChildrenList()) {
            FieldType own = FieldTypes.of(child.getFieldType());
            childTypes.add(
                    child.getTp() == ExprType.ColumnRef
                            ? FieldTypes.withCharset(schema.get(columnIndex(child)), own.charset())
                            : own);
        }
        Preparation prepared = new Preparation(eval, node, returnType, childTypes, signature);
        check(prepared, signature);
        if (signature.preparer() != null) {
            signature.preparer().prepare(prepared);
        }
        int count = prepared.childCount();
        Expression[] children = new Expression[count];
        EvalType[] wanted = new EvalType[count];
        List<FieldType> types = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            children[i] = compile(prepared.child(i));
            wanted[i] = prepared.wanted(i);
            types.add(children[i].fieldType());
        }
        EvalType type = signature.returns() == null ? returnType.evalType() : signature.returns();
        var context = new KernelContext(eval, returnType, types, prepared.metadata(), guard);
        return new CallExpression(returnType, type, prepared.kernel(), signature.isStrict(), context, children, wanted);
    }

    private static void check(Preparation node, Signature signature) {
        if (signature.returns() != null) {
            EvalType got = node.returnType().evalType();
            if (!Preparation.accepts(signature.returns(), got)) {
                throw node.invalid(Preparation.mismatch(signature.returns(), got));
            }
        }
        if (!signature.checksTypes()) {
            return;
        }
        int count = node.childCount();
        if (signature.minArgs() == signature.maxArgs() && count != signature.minArgs()) {
            throw node.invalid("Expect " + signature.minArgs() + " arguments, received " + count);
        }
        if (count < signature.minArgs()) {
            throw node.invalid("Expect at least " + signature.minArgs() + " arguments, received " + count);
        }
        if (count > signature.maxArgs()) {
            throw node.invalid("Expect at most " + signature.maxArgs() + " arguments, received " + count);
        }
        for (int i = 0; i < count; i++) {
            EvalType want = signature.argType(i);
            if (want != null) {
                node.expectType(i, want);
            }
        }
    }
}
