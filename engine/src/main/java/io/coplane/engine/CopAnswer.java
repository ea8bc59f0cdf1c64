package io.coplane.engine;

/**
 * Outcome of a coprocessor request.
 *
 * @param httpStatus 200, 403, 500 or 503, by the engine's one table
 * @param response serialised {@code coprocessor.Response}; null where the failure has none. Not to be modified
 * @param text of a failure, for clients that take no protobuf; empty on success
 * @param tag request tag of log lines; empty where the request could not be parsed
 * @param work for log lines
 */
public record CopAnswer(int httpStatus, byte[] response, String text, String tag, RequestWork work) {
    /** An answer without work. */
    public CopAnswer(int httpStatus, byte[] response, String text, String tag) {
        this(httpStatus, response, text, tag, RequestWork.NONE);
    }

    CopAnswer after(RequestWork done) {
        return new CopAnswer(httpStatus, response, text, tag, done);
    }

    /** True where {@link #response} answers the request; execution errors inside it included. */
    public boolean isSuccess() {
        return httpStatus == 200;
    }
}
