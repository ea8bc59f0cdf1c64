/**
 * Hot loops of the executors: rows to cells, cells to columns, columns to bytes, group tables, comparison of sort keys. Called once a batch.
 *
 * <p>No locks, logs, streams or boxes in here. Classes are used by one request and one thread.
 */
package io.coplane.cop.kernel;
