/** Benchmarks of table files, in the package of their subject. Run as docs/benchmarks.md says. */
package io.coplane.sst;
