/**
 * Aggregate functions (coprocessor.md 5): states of all groups in arrays indexed by group number, updated a batch at a time.
 *
 * <p>Enter through {@link io.coplane.cop.agg.Aggregates#compile}. One request, one thread.
 */
package io.coplane.cop.agg;
