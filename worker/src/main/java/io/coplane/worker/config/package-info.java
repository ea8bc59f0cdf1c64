/**
 * The worker's configuration: one TOML file, command-line options and environment, read once into immutable records (worker.md 4).
 *
 * <p>Enter through {@link ConfigLoader}. May import: the ground and the engine's records. Threads: records any; the loader one.
 */
package io.coplane.worker.config;
