/**
 * Coprocessor requests on snapshots: DAG, analyze, checksum.
 *
 * <p>Enter through {@link Coprocessor}. May import: snapshot and what it may. Threads: any; one request runs on one thread.
 * <p>Memory: everything a request holds is charged to its snapshot's guard. Why it is built so: docs/architecture.md.
 */
package io.coplane.cop;
