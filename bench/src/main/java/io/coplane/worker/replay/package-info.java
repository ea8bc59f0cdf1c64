/** Benchmarks of a whole worker; beside the replay, whose clients they are. */
package io.coplane.worker.replay;
