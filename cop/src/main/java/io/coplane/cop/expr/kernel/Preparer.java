package io.coplane.cop.expr.kernel;

/** The part of a function that runs when the request is compiled: checks, metadata from constants, choice of the kernel. */
@FunctionalInterface
public interface Preparer {
    /** Errors thrown here fail the request before any row is evaluated. */
    void prepare(Preparation node);
}
