/**
 * JSON values in TiDB's binary form: read in place, compared, searched, built, parsed from text and written as text (coprocessor.md 4.10,
 * expressions.md 6.9).
 *
 * <p>A document is bytes of a heap array: a type byte and a value. A {@code ref} is a value inside one: type code in the upper, offset of the value
 * in the lower 32 bits. Validate a document once with {@link JsonDocs#root}; the rest trusts its offsets. Threads: builders and matches belong to one.
 */
package io.coplane.types.json;
