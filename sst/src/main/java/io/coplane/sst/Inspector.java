package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/** What the inspectors of all kinds of files share: a step that fails becomes a problem at an offset, and the walk goes on. One thread. */
abstract sealed class Inspector permits BlobInspector, TableInspector, TxnChunkInspector {
    /** Told of everything; borrowed. */
    final FileVisitor visitor;

    /** Problems told so far. */
    int problems;

    Inspector(FileVisitor visitor) {
        this.visitor = visitor;
    }

    /** Runs a step; what it throws, but for a refusal of memory, is a problem at an offset. @return whether the step came through */
    final boolean step(long offset, Runnable step) {
        try {
            step.run();
            return true;
        } catch (CoplaneException e) {
            if (e.code() == ErrorCode.MEMORY_LIMIT) {
                throw e;
            }
            problems++;
            visitor.problem(e.code(), offset, e.getMessage());
            return false;
        }
    }

    final void problem(long offset, String what) {
        problems++;
        visitor.problem(ErrorCode.FILE_FORMAT, offset, what);
    }
}
