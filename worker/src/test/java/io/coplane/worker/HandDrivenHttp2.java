package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** A client of gRPC that keeps to HTTP/2's windows, and else to nothing: it goes on sending where libraries would not. One thread. */
final class HandDrivenHttp2 implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 10_000;
    private static final int MOST_PAYLOAD_BYTES = 16 << 10;
    private static final int PREFIX_BYTES = 5;

    // types and flags of frames
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int GOAWAY = 7;
    private static final int WINDOW_UPDATE = 8;
    private static final int ACK = 1;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final int INITIAL_WINDOW_SIZE = 4;

    private final Socket socket;
    private final DataInputStream in;
    private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
    private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder();
    private final Map<Integer, Stream> streams = new HashMap<>();
    private long window = 65_535; // of the connection
    private long firstWindow = -1; // of a stream; -1: not told yet

    private static final class Stream {
        private final ByteArrayOutputStream answer = new ByteArrayOutputStream();
        private final Map<String, String> headers = new HashMap<>();
        private long window;
        private boolean isEnded;
    }

    HandDrivenHttp2(InetSocketAddress address) throws IOException {
        socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(TIMEOUT_MILLIS);
        in = new DataInputStream(socket.getInputStream());
        socket.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        frame(SETTINGS, 0, 0, Unpooled.EMPTY_BUFFER);
        while (firstWindow < 0) {
            read();
        }
    }

    /** Begins a call. */
    void open(int stream, String method) throws IOException {
        Http2Headers headers = new DefaultHttp2Headers()
                .method("POST")
                .scheme("http")
                .authority("localhost")
                .path("/" + method)
                .add("content-type", "application/grpc")
                .add("te", "trailers");
        ByteBuf block = Unpooled.buffer();
        try {
            encoder.encodeHeaders(stream, headers, block);
        } catch (Http2Exception e) {
            throw new IOException(e);
        }
        Stream opened = new Stream();
        opened.window = firstWindow;
        streams.put(stream, opened);
        frame(HEADERS, END_HEADERS, stream, block);
    }

    /** Sends a message as far as {@code bytes}, and perhaps that this was all; waits for the windows. */
    void send(int stream, byte[] message, int bytes, boolean isLast) throws IOException {
        ByteBuf rest = Unpooled.buffer(PREFIX_BYTES + bytes)
                .writeByte(0)
                .writeInt(message.length)
                .writeBytes(message, 0, bytes);
        Stream of = streams.get(stream);
        while (rest.isReadable()) {
            int count = Math.min(MOST_PAYLOAD_BYTES, rest.readableBytes());
            while (window < count || of.window < count) {
                read();
            }
            window -= count;
            of.window -= count;
            frame(DATA, isLast && count == rest.readableBytes() ? END_STREAM : 0, stream, rest.readSlice(count));
        }
    }

    /** Ends a call's request, by a frame of its own. */
    void end(int stream) throws IOException {
        frame(DATA, END_STREAM, stream, Unpooled.EMPTY_BUFFER);
    }

    /** The one message of a call's answer, once the call has ended with status 0. */
    byte[] answer(int stream) throws IOException {
        awaitEnd(stream);
        assertThat(streams.get(stream).headers).containsEntry("grpc-status", "0");
        byte[] all = streams.get(stream).answer.toByteArray();
        ByteBuf message = Unpooled.wrappedBuffer(all, PREFIX_BYTES, all.length - PREFIX_BYTES);
        return ByteBufUtil.getBytes(message);
    }

    /** The message of a call that failed, once it has. */
    String failure(int stream) throws IOException {
        awaitEnd(stream);
        return streams.get(stream).headers.get("grpc-message");
    }

    private void awaitEnd(int stream) throws IOException {
        while (!streams.get(stream).isEnded) {
            read();
        }
    }

    private void read() throws IOException {
        int bytes = in.readUnsignedByte() << 16 | in.readUnsignedShort();
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int stream = in.readInt();
        ByteBuf payload = Unpooled.wrappedBuffer(in.readNBytes(bytes));
        switch (type) {
            case DATA, HEADERS -> {
                Stream of = streams.get(stream);
                if (type == DATA) {
                    of.answer.writeBytes(ByteBufUtil.getBytes(payload));
                } else {
                    headers(stream, payload)
                            .forEach(e -> of.headers.put(
                                    e.getKey().toString(), e.getValue().toString()));
                }
                of.isEnded = (flags & END_STREAM) != 0;
            }
            case WINDOW_UPDATE -> {
                if (stream == 0) {
                    window += payload.readInt();
                } else {
                    streams.get(stream).window += payload.readInt();
                }
            }
            case SETTINGS -> {
                if ((flags & ACK) == 0) {
                    settings(payload);
                }
            }
            case PING -> {
                if ((flags & ACK) == 0) {
                    frame(PING, ACK, 0, payload);
                }
            }
            case RST_STREAM, GOAWAY ->
                throw new IOException("ended: type=" + type + " stream=" + stream + " " + ByteBufUtil.hexDump(payload));
            default -> throw new IOException("unexpected: type=" + type);
        }
    }

    private void settings(ByteBuf entries) throws IOException {
        firstWindow = 65_535;
        while (entries.isReadable()) {
            int id = entries.readUnsignedShort();
            long value = entries.readUnsignedInt();
            if (id == INITIAL_WINDOW_SIZE) {
                firstWindow = value;
            }
        }
        frame(SETTINGS, ACK, 0, Unpooled.EMPTY_BUFFER);
    }

    private Http2Headers headers(int stream, ByteBuf block) throws IOException {
        try {
            return decoder.decodeHeaders(stream, block);
        } catch (Http2Exception e) {
            throw new IOException(e);
        }
    }

    private void frame(int type, int flags, int stream, ByteBuf payload) throws IOException {
        ByteBuf frame = Unpooled.buffer()
                .writeMedium(payload.readableBytes())
                .writeByte(type)
                .writeByte(flags)
                .writeInt(stream)
                .writeBytes(payload);
        socket.getOutputStream().write(ByteBufUtil.getBytes(frame));
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
