package io.coplane.cop.expr.kernel;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.tipb.Expr;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import java.util.ArrayList;
import java.util.List;

/** A function node while it is compiled (expressions.md 1.6, 1.7). */
public final class Preparation {
    private final EvalContext eval;
    private final Expr node;
    private final FieldType returnType;
    private final List<Expr> children;
    private final List<FieldType> childTypes;
    private final List<EvalType> wanted = new ArrayList<>();
    private Object metadata;
    private Kernel kernel;

    /** @param childTypes field types of the children: of a column reference that of the schema */
    public Preparation(
            EvalContext eval, Expr node, FieldType returnType, List<FieldType> childTypes, Signature signature) {
        this.eval = eval;
        this.node = node;
        this.returnType = returnType;
        this.children = new ArrayList<>(node.getChildrenList());
        this.childTypes = new ArrayList<>(childTypes);
        for (int i = 0; i < children.size(); i++) {
            wanted.add(signature.argType(i));
        }
        this.kernel = signature.kernel();
    }

    /** The request's context. */
    public EvalContext eval() {
        return eval;
    }

    /** The node. */
    public Expr node() {
        return node;
    }

    /** Field type of the node. */
    public FieldType returnType() {
        return returnType;
    }

    /** Children that become arguments. */
    public int childCount() {
        return children.size();
    }

    /** A child. */
    public Expr child(int index) {
        return children.get(index);
    }

    /** Field type of a child. */
    public FieldType childType(int index) {
        return childTypes.get(index);
    }

    /** Type that the kernel wants of an argument; null if any. */
    public EvalType wanted(int index) {
        return wanted.get(index);
    }

    /** Declares the type that the kernel wants of an argument. */
    public void want(int index, EvalType type) {
        wanted.set(index, type);
    }

    /** Takes a child away: the kernel won't get it. */
    public void drop(int index) {
        children.remove(index);
        childTypes.remove(index);
        wanted.remove(index);
    }

    /** What {@link KernelContext#metadata()} will be. */
    public Object metadata() {
        return metadata;
    }

    /** Leaves metadata for the kernel. */
    public void metadata(Object value) {
        metadata = value;
    }

    /** The chosen kernel. */
    public Kernel kernel() {
        return kernel;
    }

    /** Chooses the kernel. */
    public void kernel(Kernel value) {
        kernel = value;
    }

    /** Fails unless the eval type of a child is the given one (Enum passes for Int and Bytes). */
    public void expectType(int index, EvalType type) {
        EvalType got = childTypes.get(index).evalType();
        if (!accepts(type, got)) {
            throw invalid(mismatch(type, got));
        }
        wanted.set(index, type);
    }

    /** True if a value of type {@code got} can be used where {@code want} is declared. */
    public static boolean accepts(EvalType want, EvalType got) {
        return want == got || got == EvalType.ENUM && (want == EvalType.INT || want == EvalType.BYTES);
    }

    /** Text of a type mismatch. */
    public static String mismatch(EvalType want, EvalType got) {
        return "Expect `" + want.label() + "`, received `" + got.label() + "`";
    }

    /** A validator's error. */
    public CoplaneException invalid(String detail) {
        String sig = node.getSig().name();
        return new CoplaneException(ErrorCode.BAD_PLAN, "Invalid " + sig + " (sig = " + sig + ") signature: " + detail);
    }

    /** An error with a text of its own. */
    public static CoplaneException fails(String text) {
        return new CoplaneException(ErrorCode.BAD_PLAN, text);
    }
}
