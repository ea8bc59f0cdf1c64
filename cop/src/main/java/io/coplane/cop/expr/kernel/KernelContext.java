package io.coplane.cop.expr.kernel;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import java.util.List;

/** What a kernel knows besides its columns: the evaluation context, the types of its node, metadata built at compile time. One thread. */
public final class KernelContext {
    private final EvalContext eval;
    private final FieldType returnType;
    private final List<FieldType> argTypes;
    private final Object metadata;
    private final MemoryGuard guard;
    private Object scratch;
    private long chargedBytes;

    /**
     * @param metadata what the signature's preparation left; null if nothing
     * @param guard charged for result bytes that one node makes beyond what a batch usually holds; null charges nothing
     */
    public KernelContext(
            EvalContext eval, FieldType returnType, List<FieldType> argTypes, Object metadata, MemoryGuard guard) {
        this.eval = eval;
        this.returnType = returnType;
        this.argTypes = List.copyOf(argTypes);
        this.metadata = metadata;
        this.guard = guard;
    }

    /** Flags, modes, zone, warnings. */
    public EvalContext eval() {
        return eval;
    }

    /** Field type of the node. */
    public FieldType returnType() {
        return returnType;
    }

    /** Field type of an argument. */
    public FieldType argType(int index) {
        return argTypes.get(index);
    }

    /** Arguments that the kernel gets. */
    public int argCount() {
        return argTypes.size();
    }

    /** True if the field type of the argument is unsigned. */
    public boolean isUnsigned(int index) {
        return argTypes.get(index).isUnsigned();
    }

    /** What the signature's preparation left; null if nothing. */
    public Object metadata() {
        return metadata;
    }

    /** What the kernel kept in the batch before; null at first. */
    public Object scratch() {
        return scratch;
    }

    /** Keeps working memory of this node from batch to batch. */
    public void scratch(Object value) {
        scratch = value;
    }

    /**
     * {@link BytesColumn#reserve} for results that may be far longer than their arguments: growth is charged first, so that a request over its
     * limit fails with the typed error.
     */
    public int reserve(BytesColumn out, long used, int length) {
        long needed = used + length;
        if (guard != null && needed > chargedBytes && needed > LARGE_BYTES) {
            long more = Math.max(needed, 2 * chargedBytes) - chargedBytes;
            guard.charge(more);
            chargedBytes += more;
        }
        return out.reserve(length);
    }

    /** Gives back what {@link #reserve} charged. */
    public void release() {
        if (guard != null && chargedBytes > 0) {
            guard.release(chargedBytes);
            chargedBytes = 0;
        }
    }

    private static final long LARGE_BYTES = 1 << 20;
}
