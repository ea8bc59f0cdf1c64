package io.coplane.cop;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.proto.coprocessor.Request;

/** Compares analyze answers. */
final class AnalyzeComparer {
    private AnalyzeComparer() {}

    static String difference(Request request, ByteString ours, ByteString theirs)
            throws InvalidProtocolBufferException {
        return ours.equals(theirs) ? null : "analyze differs";
    }
}
