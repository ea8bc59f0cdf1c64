/**
 * Recorded requests: read, laid out as our own files, sent through a data plane or to a worker, and compared with the reference's answers.
 *
 * <p>Enter through {@link ReplayCommand}. May import: everything below {@code worker}. One thread drives a replay.
 * <p>The rules of what is equal stand in {@code testdata/corpus/README.md}; {@link AnswerComparer} is their one implementation.
 */
package io.coplane.worker.replay;
