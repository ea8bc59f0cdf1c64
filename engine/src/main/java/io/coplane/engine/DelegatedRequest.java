package io.coplane.engine;

import io.coplane.proto.coprocessor.DelegateResponse;
import io.coplane.proto.coprocessor.Request;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
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
         * @param within from now; the data are of no use later. Perhaps zero
         * @return the data, owned by the caller; a failure's message becomes {@link DelegatedAnswer#text()}
         */
        CompletableFuture<Data> fetch(Request request, Duration within);
    }

    /**
     * What a storage node sent. Charged to the data plane's limiter while it is held.
     *
     * @param message the node's error, if it has one; without memtable and ChangeSet
     * @param memTableData rows of the memtable (snapshot.md 2); valid until {@code release} runs
     * @param snapshot serialised ChangeSet (snapshot.md 3); valid until {@code release} runs
     * @param release frees the memory and gives the charge back; run by the data plane when it has all it needs of them, and again when the request
     *     ends, which must do nothing more then
     */
    public record Data(
            DelegateResponse message, MemorySegment memTableData, MemorySegment snapshot, Runnable release) {}
}
