/**
 * The functions of expressions.md 8: each a static method over whole columns, declared once in a {@link SignatureTable}.
 *
 * <p>A kernel runs one dense loop over rows 0 to {@code rows - 1}. For a strict function the result column already holds the nulls of all
 * arguments when the kernel starts, and rows that are null there must neither fail nor warn; the others get the nulls themselves.
 */
package io.coplane.cop.expr.kernel;
