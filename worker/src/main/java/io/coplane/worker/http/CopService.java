package io.coplane.worker.http;

import io.coplane.engine.CopAnswer;
import io.coplane.engine.CopRequest;
import java.util.concurrent.CompletableFuture;

/** What answers {@code /coprocessor}: the data plane, or a fake of a test. Thread-safe. */
@FunctionalInterface
public interface CopService {
    /**
     * @param request its body is borrowed until the future completes
     * @return the answer; should not fail
     */
    CompletableFuture<CopAnswer> coprocessor(CopRequest request);
}
