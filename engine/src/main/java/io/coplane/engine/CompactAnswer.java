package io.coplane.engine;

import java.nio.charset.StandardCharsets;

/**
 * Outcome of a compaction request: the whole contract with the store is the status (compaction.md 1.3).
 *
 * @param httpStatus 200, 400, 500, 501 or 503, by the engine's one table
 * @param body of 200 a serialised ChangeSet, else a text. Not to be modified
 * @param delivered to be run by whoever sent the answer, once it is sent as far as he can know: its files count as orphans until then. Doesn't block
 */
public record CompactAnswer(int httpStatus, byte[] body, Runnable delivered) {
    /** An answer of which nobody wants to know whether it is sent. */
    public CompactAnswer(int httpStatus, byte[] body) {
        this(httpStatus, body, () -> {});
    }

    static CompactAnswer text(int httpStatus, String text) {
        return new CompactAnswer(httpStatus, text.getBytes(StandardCharsets.UTF_8));
    }

    /** The body of a failure as text. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }
}
