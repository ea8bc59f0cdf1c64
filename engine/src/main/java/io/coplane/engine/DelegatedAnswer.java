package io.coplane.engine;

/**
 * Outcome of a request over gRPC, by the engine's one table.
 *
 * @param grpcStatus number of the status code: 0, 7 (PERMISSION_DENIED), 13 (INTERNAL), 14 (UNAVAILABLE)
 * @param response serialised {@code coprocessor.Response}; null unless the status is 0. Not to be modified
 * @param text of a failure; empty on success
 * @param tag request tag of log lines
 * @param work for log lines
 */
public record DelegatedAnswer(int grpcStatus, byte[] response, String text, String tag, RequestWork work) {
    /** An answer without work. */
    DelegatedAnswer(int grpcStatus, byte[] response, String text, String tag) {
        this(grpcStatus, response, text, tag, RequestWork.NONE);
    }

    DelegatedAnswer after(RequestWork done) {
        return new DelegatedAnswer(grpcStatus, response, text, tag, done);
    }

    /** True where {@link #response} answers the request, region errors included. */
    public boolean isSuccess() {
        return grpcStatus == 0;
    }
}
