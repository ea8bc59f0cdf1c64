package io.coplane.worker.pd;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.pdpb.ErrorType;

/** PD answered with an error, or could not be reached ({@link ErrorCode#PD_UNAVAILABLE}). */
public final class PdException extends CoplaneException {
    private static final long serialVersionUID = 1L;

    private final ErrorType type;

    PdException(ErrorCode code, ErrorType type, String message, Throwable cause) {
        super(code, message, cause);
        this.type = type;
    }

    /** What PD said; UNKNOWN where PD said nothing. */
    public ErrorType type() {
        return type;
    }

    static PdException refused(String method, ErrorType type, String message) {
        return new PdException(
                ErrorCode.PD_REFUSED,
                type,
                "PD answered with an error: method=" + method + " type=" + type + " message=" + message,
                null);
    }

    static PdException unavailable(String method, Throwable cause) {
        return new PdException(
                ErrorCode.PD_UNAVAILABLE,
                ErrorType.UNKNOWN,
                "PD can't be reached: method=" + method + " cause=" + cause.getMessage(),
                cause);
    }
}
