/**
 * Regular expressions with the syntax and the semantics of expressions.md 9.2: linear time, leftmost-first, Unicode classes.
 *
 * <p>Enter through {@link Regex}. Built here and not on a library, because none has this syntax (class set operations, Unicode word boundaries)
 * with these limits, and because every request must end: matching time is bounded by pattern size times text size.
 */
package io.coplane.cop.expr.regexp;
