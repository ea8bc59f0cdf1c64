/**
 * Remote compactions: what a store sends to {@code /compact}, the merge and rewrite of its files, and the ChangeSet that answers it
 * (compaction.md).
 *
 * <p>Enter through {@link io.coplane.compaction.CompactionRequest#parse} and {@link io.coplane.compaction.Compactor}; what a request decides
 * before any work is {@link io.coplane.compaction.Admission}.
 * <p>May import: sst and what sst may, Jackson for the request body. Threads: a {@code Compactor} any; one compaction runs on its caller's
 * thread. Memory: everything that a compaction holds is charged to the guard that it is given.
 */
package io.coplane.compaction;
