/**
 * Where files lie beside a local directory: S3, a storage node's own copy, and the URL that names any of them on a command line.
 *
 * <p>Enter through {@link StoreUrl} and {@link S3Store}. Threads: all public types any. Memory: what is read is charged to the reader's arena, what is under way to
 * the store's own account.
 */
package io.coplane.nativecache.store;
