/**
 * The ground: errors, clock, memory limiter, object store.
 *
 * <p>Enter through {@link MemoryLimiter}, {@link ObjectStore}. May import: nothing of the house.
 * <p>Memory: {@link MemoryGuard} is the account that every native byte and every large heap structure of a request is charged to.
 */
package io.coplane.nativecache;
