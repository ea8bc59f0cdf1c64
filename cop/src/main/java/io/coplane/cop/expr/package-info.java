/**
 * Scalar expressions (expressions.md): a {@code tipb.Expr} tree compiled once per request and evaluated on batches of columns.
 *
 * <p>Enter through {@link Expression#compile}; what is supported stands in {@link Signatures}. Sub-package {@code kernel} holds the functions
 * themselves, one static method each, declared once with types, null rule and number.
 * <p>Threads: an expression belongs to one request and one thread. Memory: an expression owns the columns of its results.
 */
package io.coplane.cop.expr;
