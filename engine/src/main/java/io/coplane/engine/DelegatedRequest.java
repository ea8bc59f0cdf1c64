package io.coplane.engine;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.DelegateResponse;
import io.coplane.proto.coprocessor.Request;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * A coprocessor request without its data, as it comes over gRPC (worker.md 9.2).
 *
 * @param request what is asked
 * @param store where memtable and ChangeSet are fetched from
 * @param takesPermits true: waits for the permits that requests over HTTP take; the reference takes none
 * @param isAbandoned true once nobody waits for the answer. Called by any thread
 */
public record DelegatedRequest(Request request, Store store, boolean takesPermits, BooleanSupplier isAbandoned) {
    /** The storage node of a request. Thread-safe. */
    @FunctionalInterface
    public interface Store {
        /**
         * Asks the node for the data of a request. Must not block.
         *
         * @return the data, owned by the caller; a failure's message becomes {@link DelegatedAnswer#text()}
         */
        CompletableFuture<Data> fetch(Request request);
    }

    /**
     * What a storage node sent.
     *
     * @param message memtable and ChangeSet, or the node's error
     * @param charge what the message holds of the data plane's limiter; closed by the data plane when the request ends
     */
    public record Data(DelegateResponse message, MemoryGuard charge) {}
}
