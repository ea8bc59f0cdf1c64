package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/** Values that lie in blob files (snapshot.md 6.9). */
final class Blobs {
    private Blobs() {}

    static CoplaneException unsupported() {
        return new CoplaneException(ErrorCode.UNSUPPORTED, "values in blob files are not supported");
    }
}
