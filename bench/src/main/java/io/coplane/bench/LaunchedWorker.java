package io.coplane.bench;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A worker that the launcher {@code bin/coplane} started, over a directory; ends with {@link #close}. */
public final class LaunchedWorker implements AutoCloseable {
    private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    /** When the answers of the corpus were recorded. */
    private static final long RECORDED_WALL_MICROS = 1_795_953_600_000_000L;

    private final Process process;
    private final int port;
    private final long startNanos;

    private LaunchedWorker(Process process, int port, long startNanos) {
        this.process = process;
        this.port = port;
        this.startNanos = startNanos;
    }

    /** Starts a worker; does not wait for it. It serves gRPC as well. */
    public static LaunchedWorker start(Path folder) throws IOException {
        int port;
        int grpcPort;
        try (ServerSocket http = new ServerSocket(0);
                ServerSocket grpc = new ServerSocket(0)) {
            port = http.getLocalPort();
            grpcPort = grpc.getLocalPort();
        }
        Path config = Files.writeString(
                folder.resolve("worker.toml"),
                String.format(Locale.ROOT, """
                addr = "127.0.0.1:%d"
                cop-addr = "127.0.0.1:%d"
                dfs.backend = "local"
                dfs.local-dir = "%s"
                coplane.fixed-clock-micros = %d
                """, port, grpcPort, folder, RECORDED_WALL_MICROS));
        Path launcher = Path.of(System.getProperty("coplane.root"), "bin", "coplane");
        ProcessBuilder builder = new ProcessBuilder(launcher.toString(), "serve", "-C", config.toString(), "-L", "warn")
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("worker.log").toFile());
        long startNanos = System.nanoTime();
        return new LaunchedWorker(builder.start(), port, startNanos);
    }

    /** When its process was started, on {@link System#nanoTime}. */
    public long startNanos() {
        return startNanos;
    }

    /** A connection, as soon as it takes one. */
    public Socket connect() throws IOException {
        while (true) {
            try {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                socket.setTcpNoDelay(true);
                return socket;
            } catch (IOException e) {
                if (!process.isAlive()) {
                    throw new IOException("the worker ended: status=" + process.exitValue(), e);
                }
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
    }

    /** Processor time of the process so far, in clock ticks of 10 ms. */
    public long cpuTicks() throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }

    /** Sends a body to a path and reads the answer of status 200. */
    public static byte[] exchange(Socket socket, String path, byte[] body) throws IOException {
        OutputStream out = socket.getOutputStream();
        byte[] head = ("POST " + path + " HTTP/1.1\r\nAccept: application/protobuf\r\nContent-Length: " + body.length
                        + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        byte[] request = new byte[head.length + body.length];
        System.arraycopy(head, 0, request, 0, head.length);
        System.arraycopy(body, 0, request, head.length, body.length);
        out.write(request);
        out.flush();
        InputStream in = socket.getInputStream();
        StringBuilder answer = new StringBuilder();
        while (answer.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("the connection ended: " + answer);
            }
            answer.append((char) next);
        }
        if (!answer.toString().startsWith("HTTP/1.1 200 ")) {
            throw new IOException("answer: " + answer);
        }
        String text = answer.toString().toLowerCase(Locale.ROOT);
        int length = text.indexOf("content-length: ") + "content-length: ".length();
        return in.readNBytes(Integer.parseInt(text.substring(length, text.indexOf('\r', length))));
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
