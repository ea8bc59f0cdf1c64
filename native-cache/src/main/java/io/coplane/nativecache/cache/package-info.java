/**
 * The block cache: whole files and decoded blocks in native memory, shared by all requests of a process.
 *
 * <p>Enter through {@link BlockCache}; public besides it are only the types its methods name.
 * <p>May import: native-cache. Threads: any. Memory: the cache owns and is charged, a pin ({@link CachedBlock}) borrows until it is released.
 * Why it is built so: docs/block-cache.md.
 */
package io.coplane.nativecache.cache;
