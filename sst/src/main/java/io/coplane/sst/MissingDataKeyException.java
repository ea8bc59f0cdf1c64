package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/** A file names a data key of its keyspace that is not at hand; newer encryption metadata may have it (worker.md 17.3). */
public final class MissingDataKeyException extends CoplaneException {
    private static final long serialVersionUID = 1L;

    MissingDataKeyException(ErrorCode code, String message) {
        super(code, message);
    }
}
