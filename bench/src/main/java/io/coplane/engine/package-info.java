/** Benchmarks of permits and limits, in the package of their subject. Run as docs/benchmarks.md says. */
package io.coplane.engine;
