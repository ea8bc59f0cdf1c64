package io.coplane.cop;

/**
 * What one executor of a plan did.
 *
 * @param rows rows returned
 * @param iterations pulls
 * @param nanos time in pulls, those of the executors below included
 * @param peakBytes most heap bytes held at one time, those of the executors below not included
 */
public record ExecutorWork(long rows, long iterations, long nanos, long peakBytes) {}
