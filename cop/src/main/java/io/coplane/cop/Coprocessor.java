package io.coplane.cop;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.Snapshot;

/** Executes coprocessor requests on snapshots. Thread-safe. */
public final class Coprocessor {
    private Coprocessor() {}

    /**
     * Executes a request.
     *
     * @param snapshot borrowed; what execution holds is charged to its guard
     * @param maxResponseBytes size at which a response is closed early
     * @return the response; evaluation and plan errors are inside
     * @throws CoplaneException DEADLINE, MEMORY_LIMIT, or what reading files raises
     */
    public static Response execute(
            Request request, Snapshot snapshot, long maxResponseBytes, Clock clock, DeadlineCheck deadline) {
        throw new CoplaneException(ErrorCode.UNSUPPORTED, "unsupported tp " + request.getTp());
    }
}
