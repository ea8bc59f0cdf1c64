/**
 * The commands {@code coplane dump} and {@code coplane verify}: what is in a file of the row store, and whether it is sound.
 *
 * <p>May import: what worker may. Threads: one. Memory: files are mapped, one block at a time is decoded.
 */
package io.coplane.worker.inspect;
