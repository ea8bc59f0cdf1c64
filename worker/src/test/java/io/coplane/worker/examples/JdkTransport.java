package io.coplane.worker.examples;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.coplane.engine.CopAnswer;
import io.coplane.engine.CopRequest;
import io.coplane.engine.DataPlane;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.memory.NativeArena;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

// tag::transport
/** A transport of your own: here, the JDK's HTTP server with a virtual thread a request. */
final class JdkTransport implements AutoCloseable {
    private static final int PIECE_BYTES = 64 << 10;
    private static final long MOST_BODY_BYTES = 1L << 30;

    private final DataPlane plane;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    JdkTransport(DataPlane plane) throws IOException {
        this.plane = plane;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/coprocessor", this::handle);
        server.start();
    }

    InetSocketAddress address() {
        return server.getAddress();
    }

    private void handle(HttpExchange exchange) throws IOException {
        // What a request holds before it reaches the data plane is charged to the data plane's limiter, too.
        try (MemoryGuard guard = plane.memory().acquire(0);
                NativeArena arena = new NativeArena(guard)) {
            MemorySegment body = read(exchange, arena);
            CopAnswer answer =
                    plane.coprocessor(new CopRequest(body, Optional.empty())).join(); // borrows the body until here
            byte[] bytes = answer.response() != null
                    ? answer.response()
                    : answer.text().getBytes(StandardCharsets.UTF_8);
            if (!answer.isSuccess() && answer.response() != null) {
                exchange.getResponseHeaders().set("Content-Type", "application/protobuf");
            }
            send(exchange, answer.httpStatus(), bytes);
        } catch (MemoryLimitException e) {
            send(exchange, 503, "memory limit".getBytes(StandardCharsets.UTF_8));
        } finally {
            exchange.close();
        }
    }

    private static MemorySegment read(HttpExchange exchange, NativeArena arena) throws IOException {
        long length = Long.parseLong(exchange.getRequestHeaders().getFirst("Content-Length"));
        if (length < 0 || length > MOST_BODY_BYTES) {
            throw new IOException("no body that is taken here: bytes=" + length);
        }
        MemorySegment body = arena.allocate(length);
        InputStream in = exchange.getRequestBody();
        for (long at = 0; at < length; ) {
            byte[] piece = in.readNBytes((int) Math.min(PIECE_BYTES, length - at));
            if (piece.length == 0) {
                throw new EOFException("the client is gone");
            }
            MemorySegment.copy(piece, 0, body, ValueLayout.JAVA_BYTE, at, piece.length);
            at += piece.length;
        }
        return body;
    }

    private static void send(HttpExchange exchange, int status, byte[] bytes) throws IOException {
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    /** Close it before the data plane. */
    @Override
    public void close() {
        server.stop(0);
        threads.close();
    }
}
// end::transport
