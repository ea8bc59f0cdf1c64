/** Macro-benchmarks: recorded requests and whole runs, against figures of the reference. */
package io.coplane.bench;
