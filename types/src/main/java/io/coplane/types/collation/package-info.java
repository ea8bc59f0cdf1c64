/**
 * Collations and what they weigh (coprocessor.md 8, expressions.md 10): compare, hash, equality and sort keys of byte ranges.
 *
 * <p>Enter through {@link io.coplane.types.collation.Collation}. Tables are built on first use and shared; any thread. May import: text. {@link io.coplane.types.collation.LikeMatcher} matches LIKE, {@link
 * io.coplane.types.collation.TextCharset} converts charsets.
 */
package io.coplane.types.collation;
