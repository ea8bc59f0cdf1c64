package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalType;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The one declaration of a function: its number, argument and result types, null rule, kernel, and what happens at compile time
 * (expressions.md 1.7, 8). Built by {@link SignatureTable#add}.
 */
public final class Signature {
    /** Most arguments of a function that takes any number. */
    public static final int ANY = Integer.MAX_VALUE;

    private final ScalarFuncSig sig;
    private EvalType returns;
    private List<EvalType> fixed = List.of();
    private EvalType repeated;
    private int minArgs;
    private int maxArgs;
    private boolean checksTypes = true;
    private boolean strict = true;
    private Kernel kernel;
    private Preparer preparer;

    Signature(ScalarFuncSig sig) {
        this.sig = sig;
    }

    /** Exactly these arguments, in this order. */
    Signature takes(EvalType... types) {
        fixed = List.of(types);
        minArgs = types.length;
        maxArgs = types.length;
        return this;
    }

    /** The last {@code types.length - min} arguments may be absent. */
    Signature takesFrom(int min, EvalType... types) {
        fixed = List.of(types);
        minArgs = min;
        maxArgs = types.length;
        return this;
    }

    /** At least {@code min} arguments of one type. */
    Signature takesMany(int min, EvalType type) {
        repeated = type;
        minArgs = min;
        maxArgs = ANY;
        return this;
    }

    /** {@code head} types, then any number of {@code type}; at least {@code min} in all. */
    Signature takesHeadAndMany(int min, EvalType type, EvalType... head) {
        fixed = Arrays.asList(head);
        return takesMany(min, type);
    }

    /** Any arguments; the preparation checks them. */
    Signature takesAnything() {
        checksTypes = false;
        maxArgs = ANY;
        return this;
    }

    Signature returns(EvalType type) {
        returns = type;
        return this;
    }

    /** The kernel receives NULLs and decides itself (rule N). */
    Signature seesNulls() {
        strict = false;
        return this;
    }

    Signature runs(Kernel kernel) {
        this.kernel = Objects.requireNonNull(kernel);
        return this;
    }

    /** Runs at compile time, after the types are checked. */
    Signature prepares(Preparer preparer) {
        this.preparer = preparer;
        return this;
    }

    /** The number and name. */
    public ScalarFuncSig sig() {
        return sig;
    }

    /** Result type; null if it is that of the node. */
    public EvalType returns() {
        return returns;
    }

    /** True if a row with a NULL argument is NULL and the kernel does not look at it. */
    public boolean isStrict() {
        return strict;
    }

    /** Fewest arguments. */
    public int minArgs() {
        return minArgs;
    }

    /** Most arguments, {@link #ANY} without bound. */
    public int maxArgs() {
        return maxArgs;
    }

    /** False if the preparation checks the arguments. */
    public boolean checksTypes() {
        return checksTypes;
    }

    /** Type of an argument, null where any is fine. */
    public EvalType argType(int index) {
        return index < fixed.size() ? fixed.get(index) : repeated;
    }

    /** The kernel, null if the preparation chooses it. */
    public Kernel kernel() {
        return kernel;
    }

    /** What runs at compile time, null if nothing. */
    public Preparer preparer() {
        return preparer;
    }
}
