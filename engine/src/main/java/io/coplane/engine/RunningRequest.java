package io.coplane.engine;

import java.util.concurrent.TimeUnit;

/**
 * A request in work, as it was when it was looked at.
 *
 * @param requestId chosen by the client; empty if it chose none
 * @param tag of log lines; empty until the request was parsed
 * @param ageNanos since it arrived
 * @param heldBytes what it is charged for
 */
public record RunningRequest(String requestId, Kind kind, String tag, long ageNanos, long heldBytes) {
    /** What it asks for. */
    public enum Kind {
        /** Rows, statistics or a checksum. */
        COPROCESSOR,
        /** New files for old ones. */
        COMPACTION,
        /** A file of mutations. */
        TXN_CHUNK
    }

    /** Age in whole milliseconds. */
    public long ageMillis() {
        return TimeUnit.NANOSECONDS.toMillis(ageNanos);
    }
}
