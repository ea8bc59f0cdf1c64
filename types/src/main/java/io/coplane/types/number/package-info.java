/**
 * Numbers as text, text as numbers, and numbers in the bounds of column types (expressions.md 5.1 to 5.3, 5.5, 5.6). Static functions over byte
 * ranges; any thread, but the {@link io.coplane.types.EvalContext} that they get belongs to one. May import: text, collation.
 */
package io.coplane.types.number;
