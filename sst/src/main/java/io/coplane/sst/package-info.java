/**
 * Files of the engine: SST, L0, blob, and the memtable that looks like them; readers and writers.
 *
 * <p>Enter through {@link SstReader}, {@link L0Reader}, {@link BlobReader}, {@link MemTableBuilder}, {@link SstBuilder}, {@link L0Builder}, {@link BlobBuilder};
 * all tables are walked by
 * the one {@link TableCursor}. May import: types, native-cache.
 * <p>Memory: readers borrow the bytes of their file and own nothing; a cursor takes its scratch from the arena it is given. Threads: readers any, cursors and
 * builders one.
 */
package io.coplane.sst;
