package io.coplane.testing;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;

/**
 * Stands between an HTTP client and its server and does to each answer what a plan says. Threads: one a connection; ends with {@link #close}.
 */
public final class FaultProxy implements AutoCloseable {
    /** What is done to one exchange. */
    public enum Fault {
        NONE,
        /** Takes the request and says nothing. */
        STALL_HEAD,
        /** Head and half of the body, then nothing. */
        STALL_BODY,
        /** 503 with the error code SlowDown. */
        SLOW_DOWN,
        /** 500 without a body. */
        SERVER_ERROR,
        /** Head and half of the body, then a reset. */
        RESET_BODY,
        /** Head and half of the body, then an orderly end. */
        SHORT_BODY,
        /** The head promises more than there is. */
        LONG_LENGTH,
        /** Half the body, and a head that says so: only the range, if there is one, gives it away. */
        HALF_LENGTH,
        /** A range that nobody asked for. */
        OTHER_RANGE,
        /** Reset before anything is read. */
        RESET_FIRST,
        /** Reads half of the request's body, passes nothing on, and resets. */
        RESET_REQUEST,
        /** 403 AccessDenied. */
        DENIED,
        /** 404 NoSuchKey. */
        MISSING,
        /** Tells whoever asks for an object's tags that it is marked as removed; the rest goes on. */
        TAGGED,
        /** As the other one: that it has a tag which means nothing. */
        UNTAGGED,
        /** 200 without a body, whatever was asked; the server never hears of it. */
        ANSWER_OK
    }

    /** A request that came by. Header names are in lower case. */
    public record Seen(String method, String path, Map<String, String> headers, int bodyBytes) {}

    private record Message(String first, Map<String, String> headers, byte[] body) {}

    private static final int MOST_HEAD_BYTES = 64 << 10;

    private final int serverPort;
    private final ServerSocket listener;
    private final ConcurrentLinkedQueue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private final List<Seen> seen = new CopyOnWriteArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile Function<Seen, Fault> plan = request -> Fault.NONE;

    /** @param serverPort on this machine; 0 if the plan lets nothing through */
    public FaultProxy(int serverPort) throws IOException {
        this.serverPort = serverPort;
        listener = new ServerSocket(0, 256, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().name("fault-proxy").start(this::accept);
    }

    /** Decides on every request from now on; called by any thread. */
    public void plan(Function<Seen, Fault> next) {
        plan = next;
    }

    /** Where it listens. */
    public int port() {
        return listener.getLocalPort();
    }

    /** What came by so far, in order of arrival. */
    public List<Seen> seen() {
        return List.copyOf(seen);
    }

    /** Forgets what came by. */
    public void forget() {
        seen.clear();
    }

    @Override
    public void close() throws IOException {
        closed.countDown();
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                sockets.add(client);
                Thread.ofVirtual().start(() -> serve(client));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket client) {
        try (client) {
            client.setTcpNoDelay(true);
            InputStream in = client.getInputStream();
            while (exchange(client, in)) {
                // the next request of this connection
            }
        } catch (IOException e) {
            // the client went, or we are closing
        } finally {
            sockets.remove(client);
        }
    }

    private boolean exchange(Socket client, InputStream in) throws IOException {
        String head = head(in);
        if (head == null) {
            return false;
        }
        Map<String, String> headers = headers(head);
        String[] first = head.substring(0, head.indexOf('\r')).split(" ", -1);
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        Seen request = new Seen(first[0], first[1], headers, length);
        seen.add(request);
        Fault fault = plan.apply(request);
        if (fault == Fault.RESET_FIRST) {
            return reset(client);
        }
        if (fault == Fault.RESET_REQUEST) {
            in.readNBytes(length / 2);
            return reset(client);
        }
        byte[] body = in.readNBytes(length);
        if (fault == Fault.STALL_HEAD) {
            return awaitEnd(in);
        }
        Message answer = answer(fault, request, head, body);
        return send(client, in, fault, answer, request.method().equals("HEAD"));
    }

    private Message answer(Fault fault, Seen request, String head, byte[] body) throws IOException {
        return switch (fault) {
            case SLOW_DOWN -> error(503, "SlowDown", request);
            case SERVER_ERROR -> new Message("HTTP/1.1 500 Internal Server Error", new TreeMap<>(), new byte[0]);
            case DENIED -> error(403, "AccessDenied", request);
            case MISSING -> error(404, "NoSuchKey", request);
            case ANSWER_OK -> new Message("HTTP/1.1 200 OK", new TreeMap<>(), new byte[0]);
            case TAGGED, UNTAGGED ->
                request.path().endsWith("?tagging") ? tags(fault == Fault.TAGGED) : forward(head, body, false);
            default -> forward(head, body, request.method().equals("HEAD"));
        };
    }

    private static Message tags(boolean deleted) {
        String xml = "<?xml version=\"1.0\"?><Tagging><TagSet><Tag><Key>deleted</Key><Value>" + deleted
                + "</Value></Tag></TagSet></Tagging>";
        return new Message("HTTP/1.1 200 OK", new TreeMap<>(), xml.getBytes(StandardCharsets.UTF_8));
    }

    private static Message error(int status, String code, Seen request) {
        String xml = "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>as planned</Message></Error>";
        byte[] body = request.method().equals("HEAD") ? new byte[0] : xml.getBytes(StandardCharsets.UTF_8);
        Map<String, String> headers = new TreeMap<>();
        headers.put("content-type", "application/xml");
        return new Message("HTTP/1.1 " + status + " " + code, headers, body);
    }

    private Message forward(String head, byte[] body, boolean isHead) throws IOException {
        try (Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort)) {
            String once = head.replaceFirst("(?i)\r\nconnection: [^\r]*", "")
                    .replaceFirst("\r\n\r\n$", "\r\nConnection: close\r\n\r\n");
            server.getOutputStream().write(once.getBytes(StandardCharsets.ISO_8859_1));
            server.getOutputStream().write(body);
            server.getOutputStream().flush();
            InputStream in = server.getInputStream();
            String answerHead = head(in);
            if (answerHead == null) {
                throw new EOFException("the server says nothing");
            }
            Map<String, String> headers = headers(answerHead);
            byte[] answer = isHead ? new byte[0] : answerBody(in, headers);
            if (!isHead) {
                headers.remove("content-length");
            }
            headers.remove("transfer-encoding");
            headers.remove("connection");
            return new Message(answerHead.substring(0, answerHead.indexOf('\r')), headers, answer);
        }
    }

    private static byte[] answerBody(InputStream in, Map<String, String> headers) throws IOException {
        if (!headers.getOrDefault("transfer-encoding", "").equals("chunked")) {
            return in.readAllBytes();
        }
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        while (true) {
            int size = Integer.parseInt(line(in).strip(), 16);
            body.write(in.readNBytes(size));
            line(in);
            if (size == 0) {
                return body.toByteArray();
            }
        }
    }

    private boolean send(Socket client, InputStream in, Fault fault, Message answer, boolean isHead)
            throws IOException {
        byte[] body = answer.body();
        int promised = body.length;
        int sent = body.length;
        Map<String, String> headers = answer.headers();
        switch (fault) {
            case STALL_BODY, RESET_BODY, SHORT_BODY -> sent = body.length / 2;
            case LONG_LENGTH -> promised = body.length + 7;
            case HALF_LENGTH -> {
                promised = body.length / 2;
                sent = promised;
            }
            case OTHER_RANGE -> headers.computeIfPresent("content-range", (name, value) -> "bytes 1-1/1000000");
            default -> {}
        }
        StringBuilder head = new StringBuilder(answer.first()).append("\r\n");
        if (!isHead) {
            headers.put("content-length", Integer.toString(promised));
        }
        headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        client.getOutputStream().write(head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
        client.getOutputStream().write(body, 0, sent);
        client.getOutputStream().flush();
        return switch (fault) {
            case STALL_BODY -> awaitEnd(in);
            case RESET_BODY -> reset(client);
            case SHORT_BODY, LONG_LENGTH -> false;
            default -> true;
        };
    }

    private static boolean reset(Socket client) throws IOException {
        client.setSoLinger(true, 0);
        client.close();
        return false;
    }

    /** Until the client gives up. */
    private static boolean awaitEnd(InputStream in) throws IOException {
        in.readAllBytes();
        return false;
    }

    /** Head with its empty line; null if the stream ended. */
    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.length() < MOST_HEAD_BYTES) {
            int next = in.read();
            if (next < 0) {
                return null;
            }
            head.append((char) next);
            int length = head.length();
            if (next == '\n' && length >= 4 && head.substring(length - 4).equals("\r\n\r\n")) {
                return head.toString();
            }
        }
        throw new IOException("head is too long");
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) {
            line.append((char) next);
        }
        return line.toString();
    }

    private static Map<String, String> headers(String head) {
        Map<String, String> headers = new TreeMap<>();
        for (String line : head.split("\r\n", -1)) {
            int colon = line.indexOf(": ");
            if (colon > 0) {
                headers.put(line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 2));
            }
        }
        return headers;
    }
}
