/**
 * What the tests of all modules share: test data, seeds, damaged input, fakes and leak checks. Published as the test-jar
 * of this module; no production code may use it.
 *
 * <p>Enter through {@link TestData} (golden files, recorded requests, vectors), {@link Seeds} (repeatable random tests) and
 * {@link Corrupt} (truncated and bit-flipped input).
 * <p>May import: JUnit, AssertJ, zstd-jni, and the main code of this module. Threads: any unless a type says otherwise.
 */
package io.coplane.testing;
