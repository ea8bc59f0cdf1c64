/**
 * How values lie in keys, rows, datums, index values and chunks (coprocessor.md 3.5, 3.6, 3.12, 4).
 *
 * <p>Everything works on {@code byte[]} with an offset and an end. Views borrow the bytes they wrap and allocate nothing per row; malformed bytes
 * give a {@code CoplaneException} with CORRUPT_KEY, CORRUPT_DATUM or CORRUPT_ROW. One thread per object; static methods any.
 */
package io.coplane.types.codec;
