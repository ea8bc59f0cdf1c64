package io.coplane.nativecache.store;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.util.concurrent.CompletionException;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.crt.CrtRuntimeException;
import software.amazon.awssdk.crt.http.HttpException;

/**
 * What a failed attempt means (ia.md 16.5): a typed error that names the object, and whether it is worth another attempt.
 *
 * <pre>
 * what came                                                   retried  code
 * 404, NoSuchKey                                              no       FILE_NOT_FOUND
 * 404, NoSuchBucket                                           no       STORE_REFUSED
 * 416                                                         no       FILE_TRUNCATED
 * 5xx, also without a known body (503 SlowDown)               yes      STORE_UNAVAILABLE
 * InvalidObjectState: the only other modelled class of a read yes      STORE_UNAVAILABLE
 * other statuses: 400, 403, 301                               no       STORE_REFUSED
 * no connection, reset, time-out, body short or of wrong length yes    STORE_UNAVAILABLE
 * credentials, text holds "Timeout"                           yes      STORE_UNAVAILABLE
 * credentials, otherwise                                      no       STORE_REFUSED
 * errors of ours (memory limit, deadline, file too short)     no       their own
 * </pre>
 */
record S3Failure(CoplaneException error, boolean isRetryable) {
    private static final int NOT_FOUND = 404;
    private static final int RANGE_NOT_SATISFIABLE = 416;
    private static final int SERVER_ERROR = 500;

    /** Getting credentials failed. */
    static final class CredentialsException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        CredentialsException(Throwable cause) {
            super(cause.getMessage(), cause);
        }
    }

    /** An answer that is none: worth another attempt. */
    static final class TransportException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TransportException(String message) {
            super(message);
        }

        TransportException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** @param object what the failed call was about, as {@code key=value} pairs */
    static S3Failure of(Throwable failure, String object) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case CoplaneException e -> {
                    return new S3Failure(e, false);
                }
                case CredentialsException e -> {
                    String text = String.valueOf(e.getMessage());
                    boolean isTimeout = text.contains("Timeout");
                    return failed(
                            isTimeout ? ErrorCode.STORE_UNAVAILABLE : ErrorCode.STORE_REFUSED,
                            "S3 error no credentials: " + object + " cause=" + text,
                            e,
                            isTimeout);
                }
                case AwsServiceException e -> {
                    return service(e, object);
                }
                case TransportException e -> {
                    return transport(e.getMessage(), e, object);
                }
                case HttpException e -> {
                    return transport(e.getMessage(), e, object);
                }
                case CrtRuntimeException e -> {
                    return transport(e.getMessage(), e, object);
                }
                case IOException e -> {
                    return transport(e.toString(), e, object);
                }
                case CompletionException e -> {} // look inside
                case SdkClientException e
                when e.getCause() == null -> {
                    return failed(ErrorCode.STORE_REFUSED, "S3 error " + e.getMessage() + ": " + object, e, false);
                }
                default -> {}
            }
        }
        return failed(ErrorCode.STORE_UNAVAILABLE, "S3 call failed: " + object + " cause=" + failure, failure, false);
    }

    private static S3Failure service(AwsServiceException e, String object) {
        String code = e.awsErrorDetails() == null || e.awsErrorDetails().errorCode() == null
                ? ""
                : e.awsErrorDetails().errorCode();
        int status = e.statusCode();
        String detail = object + " status=" + status + " code=" + code + " requestId=" + e.requestId();
        if (code.equals("NoSuchBucket")) {
            return failed(ErrorCode.STORE_REFUSED, "S3 error no such bucket: " + detail, e, false);
        }
        if (status == NOT_FOUND || code.equals("NoSuchKey")) {
            return failed(ErrorCode.FILE_NOT_FOUND, "The specified key does not exist: " + detail, e, false);
        }
        if (status == RANGE_NOT_SATISFIABLE) {
            return failed(ErrorCode.FILE_TRUNCATED, "file ends before the range: " + detail, e, false);
        }
        if (status >= SERVER_ERROR || code.equals("InvalidObjectState")) {
            return failed(ErrorCode.STORE_UNAVAILABLE, "S3 error: " + detail, e, true);
        }
        return failed(ErrorCode.STORE_REFUSED, "S3 error: " + detail, e, false);
    }

    private static S3Failure transport(String what, Throwable cause, String object) {
        return failed(ErrorCode.STORE_UNAVAILABLE, "S3 error " + what + ": " + object, cause, true);
    }

    private static S3Failure failed(ErrorCode code, String message, Throwable cause, boolean isRetryable) {
        return new S3Failure(new CoplaneException(code, message, cause), isRetryable);
    }
}
