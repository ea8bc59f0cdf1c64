package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/** Errors of broken files: what, then file and offset. */
final class FileErrors {
    private FileErrors() {}

    static CoplaneException truncated(String file, long offset, String what) {
        return of(ErrorCode.FILE_TRUNCATED, file, offset, what, null);
    }

    static CoplaneException format(String file, long offset, String what) {
        return of(ErrorCode.FILE_FORMAT, file, offset, what, null);
    }

    static CoplaneException format(String file, long offset, String what, Throwable cause) {
        return of(ErrorCode.FILE_FORMAT, file, offset, what, cause);
    }

    static CoplaneException checksum(String file, long offset, String what) {
        return of(ErrorCode.FILE_CHECKSUM, file, offset, what, null);
    }

    static CoplaneException of(ErrorCode code, String file, long offset, String what, Throwable cause) {
        return new CoplaneException(code, what + ": file=" + file + " offset=" + offset, cause);
    }
}
