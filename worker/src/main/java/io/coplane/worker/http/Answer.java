package io.coplane.worker.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;

/**
 * One response, before it is a message of a connection. Fixed texts have no content type (worker.md 5).
 *
 * @param contentType empty = none
 * @param contentEncoding empty = none
 * @param body not to be modified
 */
record Answer(HttpResponseStatus status, AsciiString contentType, AsciiString contentEncoding, byte[] body) {
    private static final AsciiString NONE = AsciiString.EMPTY_STRING;

    static Answer text(HttpResponseStatus status, String text) {
        return bytes(status, NONE, text.getBytes(StandardCharsets.UTF_8));
    }

    static Answer bytes(HttpResponseStatus status, AsciiString contentType, byte[] body) {
        return new Answer(status, contentType, NONE, body);
    }

    /** A view of the body; nothing is copied. */
    ByteBuf content() {
        return Unpooled.wrappedBuffer(body);
    }
}
