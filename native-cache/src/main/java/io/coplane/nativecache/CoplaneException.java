package io.coplane.nativecache;

import java.util.Objects;

/** Base of all errors that Coplane raises on purpose. Message form: what, then {@code key=value} pairs. */
public class CoplaneException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    /** An error without a cause. */
    public CoplaneException(ErrorCode code, String message) {
        this(code, message, null);
    }

    /** An error with a cause; {@code cause} may be null. */
    public CoplaneException(ErrorCode code, String message, Throwable cause) {
        super(message, cause);
        this.code = Objects.requireNonNull(code);
    }

    /** The stable code; one table in {@code engine} maps it to statuses. */
    public ErrorCode code() {
        return code;
    }
}
