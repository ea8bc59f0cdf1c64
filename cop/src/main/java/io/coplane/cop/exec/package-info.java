/**
 * Executors of a DAG (coprocessor.md 3): scans, selection, projection, limits, TopN, aggregations, index look-up; and the batch they hand on.
 *
 * <p>Each executor owns the batch it returns and what the batch points into, until its next pull. One request, one thread.
 */
package io.coplane.cop.exec;
