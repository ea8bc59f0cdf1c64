package io.coplane.worker.http;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A client that sends what it is told, also what no HTTP library would. */
public final class RawClient implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 300_000;

    private final Socket socket;
    private final InputStream in;

    public RawClient(InetSocketAddress address) throws IOException {
        socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(TIMEOUT_MILLIS);
        socket.setTcpNoDelay(true);
        in = socket.getInputStream();
    }

    /** One response; header names in lower case. */
    public record Response(int status, Map<String, String> headers, byte[] body) {
        public String text() {
            return new String(body, StandardCharsets.UTF_8);
        }
    }

    public RawClient send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public RawClient send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
        return this;
    }

    public RawClient post(String path, byte[] body, String... headerLines) throws IOException {
        return post(path, List.of(body), headerLines);
    }

    /** A body in pieces, none of which is copied. */
    public RawClient post(String path, List<byte[]> body, String... headerLines) throws IOException {
        long bytes = body.stream().mapToLong(piece -> piece.length).sum();
        StringBuilder head = new StringBuilder("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + bytes);
        for (String line : headerLines) {
            head.append("\r\n").append(line);
        }
        send(head.append("\r\n\r\n").toString());
        for (byte[] piece : body) {
            send(piece);
        }
        return this;
    }

    public Response read() throws IOException {
        return read(true);
    }

    /** @param hasBody false for the answer to HEAD */
    public Response read(boolean hasBody) throws IOException {
        String[] status = line().split(" ", 3);
        Map<String, String> headers = new LinkedHashMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        int bytes = hasBody ? Integer.parseInt(headers.getOrDefault("content-length", "0")) : 0;
        byte[] body = in.readNBytes(bytes);
        if (body.length < bytes) {
            throw new EOFException("answer ends early");
        }
        return new Response(Integer.parseInt(status[1]), headers, body);
    }

    /** True once the first bytes of an answer are here. */
    public boolean isAnswered() {
        try {
            return in.available() > 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** True if the server ends the connection without another byte. */
    public boolean ends() throws IOException {
        return in.read() < 0;
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("connection ended");
            }
            if (b != '\r') {
                line.write(b);
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
