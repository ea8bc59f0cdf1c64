/** Stress tests of the block cache. */
package io.coplane.nativecache.cache;
