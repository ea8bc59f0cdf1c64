package io.coplane.worker.http;

import io.coplane.engine.TxnChunkAnswer;
import io.coplane.engine.TxnChunkRequest;
import java.util.concurrent.CompletableFuture;

/** What answers {@code /txn_chunk}: the data plane, or a fake of a test. Thread-safe. */
@FunctionalInterface
public interface TxnChunkService {
    /**
     * @param request its body is borrowed until the future completes
     * @return the answer; should not fail
     */
    CompletableFuture<TxnChunkAnswer> txnChunk(TxnChunkRequest request);
}
