package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;

/** Protobuf messages nested as deep as the protocol allows (coprocessor.md 2.1). */
final class Messages {
    private static final int NESTING = 1000;

    private Messages() {}

    /** @throws CoplaneException BAD_PROTOBUF */
    static <T extends Message> T parse(Parser<T> parser, ByteString bytes) {
        try {
            CodedInputStream input = bytes.newCodedInput();
            input.setRecursionLimit(NESTING);
            return parser.parseFrom(input);
        } catch (IOException e) {
            throw new CoplaneException(ErrorCode.BAD_PROTOBUF, "no such message: " + e.getMessage(), e);
        }
    }
}
