/** Owners of native memory and the byte layouts that read it. Every allocation is charged to a guard and counted. */
package io.coplane.nativecache.memory;
