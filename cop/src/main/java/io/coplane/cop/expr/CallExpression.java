package io.coplane.cop.expr;

import io.coplane.cop.expr.kernel.Kernel;
import io.coplane.cop.expr.kernel.KernelContext;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import java.util.List;

/** A function with its arguments. */
final class CallExpression extends Expression {
    private final Kernel kernel;
    private final boolean strict;
    private final KernelContext context;
    private final Expression[] children;
    private final Column[] args;
    private final BytesColumn[] names; // member names of Enum arguments that are wanted as Bytes; null elsewhere
    private final Column out;

    /** @param wanted types that the kernel wants; null where any */
    CallExpression(
            FieldType fieldType,
            EvalType evalType,
            Kernel kernel,
            boolean strict,
            KernelContext context,
            Expression[] children,
            EvalType[] wanted) {
        super(fieldType, evalType);
        this.kernel = kernel;
        this.strict = strict;
        this.context = context;
        this.children = children;
        args = new Column[children.length];
        names = new BytesColumn[children.length];
        for (int i = 0; i < children.length; i++) {
            if (wanted[i] == EvalType.BYTES && children[i].evalType() == EvalType.ENUM) {
                names[i] = new BytesColumn();
            }
        }
        out = Columns.create(evalType);
    }

    @Override
    public Column evaluate(EvalContext eval, ColumnSource source, int rows) {
        for (int i = 0; i < args.length; i++) {
            Column arg = children[i].evaluate(eval, source, rows);
            args[i] = names[i] == null ? arg : memberNames((LongColumn) arg, children[i].fieldType(), names[i], rows);
        }
        if (out instanceof BytesColumn bytes) {
            bytes.resetOwned(rows);
        } else {
            out.reset(rows);
        }
        if (rows == 0) {
            return out;
        }
        if (strict) {
            for (Column arg : args) {
                out.orNulls(arg);
            }
            if (out.mayHaveNulls() && out instanceof BytesColumn bytes) {
                emptyNulls(bytes, rows);
            }
        }
        context.startBatch();
        kernel.eval(context, args, rows, out);
        return out;
    }

    /** So that null rows stay readable. */
    private static void emptyNulls(BytesColumn out, int rows) {
        for (int row = 0; row < rows; row++) {
            if (out.isNull(row)) {
                out.setEmpty(row);
            }
        }
    }

    private static BytesColumn memberNames(LongColumn ordinals, FieldType type, BytesColumn out, int rows) {
        List<byte[]> elems = type.elems();
        out.resetOwned(rows);
        long[] values = ordinals.values();
        for (int row = 0; row < rows; row++) {
            if (ordinals.isNull(row)) {
                out.setNull(row);
                out.setEmpty(row);
            } else {
                byte[] name = Columns.memberName(elems, values[row]);
                out.set(row, name, 0, name.length);
            }
        }
        return out;
    }

    @Override
    public void markColumns(boolean[] used) {
        for (Expression child : children) {
            child.markColumns(used);
        }
    }

    @Override
    public long heapBytes() {
        long bytes = out.heapBytes();
        for (int i = 0; i < children.length; i++) {
            bytes += children[i].heapBytes() + (names[i] == null ? 0 : names[i].heapBytes());
        }
        return bytes;
    }

    @Override
    public void release() {
        context.release();
        for (Expression child : children) {
            child.release();
        }
    }
}
