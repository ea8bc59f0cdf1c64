/**
 * Statistics of tables and indexes (coprocessor.md 6): histograms, sketches, samples. One request, one thread.
 *
 * <p>Enter through {@link io.coplane.cop.analyze.Analyze}.
 */
package io.coplane.cop.analyze;
