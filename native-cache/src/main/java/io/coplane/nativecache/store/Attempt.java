package io.coplane.nativecache.store;

import java.util.concurrent.CompletableFuture;

/**
 * One request on the wire.
 *
 * @param <T> what it brings
 */
interface Attempt<T> {
    /** Completes once nothing of this attempt reads or writes the caller's memory any more. */
    CompletableFuture<T> future();

    /** Fails the attempt, unless it has ended, and gives its connection up. */
    void abort(Throwable reason);
}
