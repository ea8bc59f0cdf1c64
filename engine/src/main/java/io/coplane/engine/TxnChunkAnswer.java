package io.coplane.engine;

/**
 * Outcome of a request for a txn chunk.
 *
 * @param httpStatus 200, 400, 500 or 503, by the engine's one table
 * @param text JSON of 200, else what went wrong
 */
public record TxnChunkAnswer(int httpStatus, String text) {
    /** True where {@link #text} is JSON. */
    public boolean isSuccess() {
        return httpStatus == 200;
    }
}
