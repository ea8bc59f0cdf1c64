/** Benchmarks of the executors. */
package io.coplane.cop;
