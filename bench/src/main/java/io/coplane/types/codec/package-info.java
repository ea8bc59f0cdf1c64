/** Benchmarks of codecs, in the package of their subject. Run as docs/benchmarks.md says. */
package io.coplane.types.codec;
