package io.coplane.cop.expr.kernel;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalColumns;
import java.util.List;

/** What a kernel knows besides its columns: the evaluation context, the types of its node, metadata built at compile time. One thread. */
public final class KernelContext {
    private static final long FREE_BYTES = 1 << 20;
    private static final long MOST_BYTES = 1 << 30;

    private final EvalContext eval;
    private final FieldType returnType;
    private final List<FieldType> argTypes;
    private final Object metadata;
    private final MemoryGuard guard;
    private final Decimal[] decimals = new Decimal[3];
    private DecimalColumns.Scratch decimalScratch;
    private Object scratch;
    private long chargedBytes;
    private long reservedBytes;

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

    /** Working memory of decimal kernels. */
    public DecimalColumns.Scratch decimalScratch() {
        if (decimalScratch == null) {
            decimalScratch = new DecimalColumns.Scratch();
        }
        return decimalScratch;
    }

    /** One of three decimals to work with. */
    public Decimal decimal(int index) {
        if (decimals[index] == null) {
            decimals[index] = new Decimal();
        }
        return decimals[index];
    }

    /** Starts a batch: nothing reserved yet. */
    public void startBatch() {
        reservedBytes = 0;
    }

    /**
     * {@link BytesColumn#reserve} for results that may be longer than their arguments: growth beyond 1 MiB a batch is
     * charged first, so that a request over its limit fails with the typed error before it allocates.
     *
     * @throws CoplaneException MEMORY_LIMIT if the guard refuses, or one batch would go beyond 1 GiB
     */
    public int reserve(BytesColumn out, long length) {
        long needed = reservedBytes + length;
        if (needed > MOST_BYTES) {
            throw new CoplaneException(
                    ErrorCode.MEMORY_LIMIT,
                    "results of one function in one batch: bytes=" + needed + " mostBytes=" + MOST_BYTES);
        }
        if (guard != null && needed > FREE_BYTES && needed > chargedBytes) {
            long more = Math.max(needed, 2 * chargedBytes) - chargedBytes;
            guard.charge(more);
            chargedBytes += more;
        }
        reservedBytes = needed;
        return out.reserve((int) length);
    }

    /** {@link BytesColumn#unreserve}. */
    public void unreserve(BytesColumn out, int length) {
        reservedBytes -= length;
        out.unreserve(length);
    }

    /** Gives back what {@link #reserve} charged. */
    public void release() {
        if (guard != null && chargedBytes > 0) {
            guard.release(chargedBytes);
            chargedBytes = 0;
        }
    }
}
