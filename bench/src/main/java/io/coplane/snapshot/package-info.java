/** Benchmarks of building and reading snapshots. */
package io.coplane.snapshot;
