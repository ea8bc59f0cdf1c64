package io.coplane.cop.expr.kernel;

import io.coplane.types.column.Column;

/** A function over columns. Hot: its body runs per row. */
@FunctionalInterface
public interface Kernel {
    /**
     * Fills {@code out}.
     *
     * @param ctx of the node that calls
     * @param args one per argument, of the declared eval types, each with {@code rows} rows
     * @param rows at least 1
     * @param out reset to {@code rows} rows; of a strict function it holds the nulls of the arguments
     */
    void eval(KernelContext ctx, Column[] args, int rows, Column out);
}
