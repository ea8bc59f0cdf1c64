package io.coplane.engine;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Outcome of a compaction request: the whole contract with the store is the status (compaction.md 1.3).
 *
 * @param httpStatus 200, 400, 500, 501 or 503, by the engine's one table
 * @param body of 200 a serialised ChangeSet, else a text. Not to be modified
 * @param error the failure as our own gRPC service tells it; empty exactly for 200
 * @param delivered to be run by whoever sent the answer, once it is sent as far as he can know: its files count as orphans until then. Doesn't block
 */
public record CompactAnswer(int httpStatus, byte[] body, Optional<ServiceError> error, Runnable delivered) {
    static CompactAnswer success(byte[] changeSet, Runnable delivered) {
        return new CompactAnswer(ErrorTable.OK, changeSet, Optional.empty(), delivered);
    }

    static CompactAnswer text(int httpStatus, String text, ServiceError error) {
        return new CompactAnswer(httpStatus, text.getBytes(StandardCharsets.UTF_8), Optional.of(error), () -> {});
    }

    /** The body of a failure as text. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }
}
