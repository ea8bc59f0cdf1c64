/** Benchmarks of the memory limiter, in the package of their subject. Run as docs/benchmarks.md says. */
package io.coplane.nativecache;
