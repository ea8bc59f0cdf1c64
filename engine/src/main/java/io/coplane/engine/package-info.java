/**
 * The data plane that a worker server embeds.
 *
 * <p>Enter through {@link DataPlane}; public besides it are only the types its methods name. May import: cop, compaction, snapshot, sst and what they may.
 * Knows no transport, no environment, no globals: built from configuration records, an object store and a clock.
 * <p>Threads: {@code DataPlane} any. Memory: every request has one guard, released when its answer is encoded.
 */
package io.coplane.engine;
