package io.coplane.engine;

import com.google.protobuf.CodedInputStream;
import io.coplane.proto.coprocessor.Request;
import java.io.IOException;
import java.util.HexFormat;

/** What {@code Request.tp} asks for (worker.md 6.4). */
enum RequestType {
    DAG(103, "dag"),
    ANALYZE(104, "analyze"),
    CHECKSUM(105, "checksum"),
    UNKNOWN(-1, "");

    private static final int DIGEST_FIELD = 1 << 3 | 2;
    private static final int MOST_DIGEST_BYTES = 64;

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

    /** Digest of the query, field 1 of the resource group tag, in hexadecimal; empty where there is none, or none of a digest's length. */
    static String digest(Request request) {
        CodedInputStream tag = request.getContext().getResourceGroupTag().newCodedInput();
        try {
            for (int field = tag.readTag(); field != 0; field = tag.readTag()) {
                if (field == DIGEST_FIELD) {
                    byte[] digest = tag.readByteArray();
                    return digest.length > MOST_DIGEST_BYTES
                            ? ""
                            : HexFormat.of().formatHex(digest);
                }
                if (!tag.skipField(field)) {
                    return "";
                }
            }
        } catch (IOException e) {
            return ""; // a tag of another form: it is the client's
        }
        return "";
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
