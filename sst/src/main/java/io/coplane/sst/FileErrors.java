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

    /** A file that needs a key and there is none. */
    static CoplaneException encrypted(String what, int version, String file, long offset) {
        String message =
                what + ": version=" + Integer.toUnsignedString(version) + ": file=" + file + " offset=" + offset;
        return ShardKey.isDataKeyVersion(version)
                ? new MissingDataKeyException(ErrorCode.FILE_ENCRYPTED, message)
                : new CoplaneException(ErrorCode.FILE_ENCRYPTED, message);
    }

    static CoplaneException of(ErrorCode code, String file, long offset, String what, Throwable cause) {
        return new CoplaneException(code, what + ": file=" + file + " offset=" + offset, cause);
    }
}
