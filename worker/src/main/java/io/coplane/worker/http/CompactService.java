package io.coplane.worker.http;

import io.coplane.engine.CompactAnswer;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

/** What answers {@code /compact}: the data plane, or a fake of a test. Thread-safe. */
@FunctionalInterface
public interface CompactService {
    /**
     * @param body       JSON; borrowed until {@code bodyRead} is run or the future completes
     * @param bodyRead   frees the body; run at most once, by any thread
     * @param startNanos when the request began to arrive
     * @return the answer; should not fail
     */
    CompletableFuture<CompactAnswer> compact(MemorySegment body, Runnable bodyRead, long startNanos);
}
