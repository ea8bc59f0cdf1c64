package io.coplane.engine;

import io.coplane.proto.coprocessor.Request;

/** What {@code Request.tp} asks for (worker.md 6.4). */
enum RequestType {
    DAG(103, "dag"),
    ANALYZE(104, "analyze"),
    CHECKSUM(105, "checksum"),
    UNKNOWN(-1, "");

    private final long tp;
    private final String tag;

    RequestType(long tp, String tag) {
        this.tp = tp;
        this.tag = tag;
    }

    static RequestType of(Request request) {
        for (RequestType type : values()) {
            if (type.tp == request.getTp()) {
                return type;
            }
        }
        return UNKNOWN;
    }

    /** First part of the request tag. */
    String tag() {
        return tag;
    }

    /** The tag of log lines (worker.md 6.6): {@code <type> ks<keyspace>:<region id>:<region version>:<start_ts>}. */
    static String tag(Request request) {
        return of(request).tag + " ks"
                + Integer.toUnsignedString(request.getContext().getKeyspaceId()) + ":"
                + Long.toUnsignedString(request.getContext().getRegionId()) + ":"
                + Long.toUnsignedString(request.getContext().getRegionEpoch().getVersion()) + ":"
                + Long.toUnsignedString(request.getStartTs());
    }
}
