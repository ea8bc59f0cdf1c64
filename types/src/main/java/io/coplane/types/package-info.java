/**
 * MySQL and TiDB values: what a field type is, how values look in keys, rows, datums and chunks, and how they behave.
 *
 * <p>May import: proto, native-cache. Sub-packages: {@code column} (batches of decoded values), {@code codec} (keys, datums, rows, chunks),
 * {@code decimal}, {@code time}, {@code json}, {@code collation}. Threads: values and codecs are used by one thread at a time.
 */
package io.coplane.types;
