/**
 * Decoded columns of one batch: dense, row 0 to {@code rows - 1}, each with a null bitmap. Heap arrays that a request reuses from batch to batch.
 */
package io.coplane.types.column;
