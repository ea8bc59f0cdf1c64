/**
 * What files of a keyspace are encrypted with, asked of PD and storage nodes (worker.md 14.3, 17). Enter through {@link WriteKeys}. Threads: any.
 */
package io.coplane.worker.encryption;
