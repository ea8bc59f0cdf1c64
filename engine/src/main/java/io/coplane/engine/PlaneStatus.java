package io.coplane.engine;

import java.util.List;

/**
 * What a data plane is at.
 *
 * @param workerThreads threads that execute requests
 * @param maxPageBytes most bytes of rows that a page of a stream is asked for
 * @param totalPermits requests in work at one time, of those that take permits
 * @param permitsInUse of them
 * @param accounts memory that is accounted together
 * @param running requests in work, oldest first, at most a thousand
 * @param runningCount all of them
 */
public record PlaneStatus(
        int workerThreads,
        long maxPageBytes,
        int totalPermits,
        int permitsInUse,
        List<Account> accounts,
        List<RunningRequest> running,
        int runningCount) {
    /**
     * One account of memory.
     *
     * @param name {@code requests}, {@code cache}, {@code parsed_heap}
     */
    public record Account(String name, long usedBytes, long capBytes) {}

    public PlaneStatus {
        accounts = List.copyOf(accounts);
        running = List.copyOf(running);
    }
}
