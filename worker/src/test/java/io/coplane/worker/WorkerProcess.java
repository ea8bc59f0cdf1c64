package io.coplane.worker;

import io.coplane.worker.http.RawClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A worker in a process of its own, with flags and heap of its own; reports every Netty buffer that is lost. Killed by {@link #close}. */
public final class WorkerProcess implements AutoCloseable {
    private static final Path ROOT = Path.of(System.getProperty("coplane.root"));
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** As {@code bin/coplane} sets them: what is freed goes back to the system. */
    private static final Map<String, String> MALLOC =
            Map.of("MALLOC_ARENA_MAX", "2", "MALLOC_MMAP_THRESHOLD_", "131072", "MALLOC_TRIM_THRESHOLD_", "131072");

    private final Process process;
    private final Path log;
    private final int httpPort;
    private final int grpcPort;

    private WorkerProcess(Process process, Path log) throws IOException {
        this.process = process;
        this.log = log;
        httpPort = port(awaitLine("listening: addr="));
        List<String> grpc = lines("listening for gRPC: addr=");
        grpcPort = grpc.isEmpty() ? 0 : port(grpc.getFirst());
    }

    /**
     * Starts a worker and waits until it listens.
     *
     * @param folder gets configuration and log
     * @param toml the configuration
     * @param flags of the JVM, beside those of {@code config/jvm.flags}
     */
    public static WorkerProcess start(Path folder, String toml, String... flags) throws IOException {
        Path config = Files.writeString(folder.resolve("worker.toml"), toml);
        Path log = folder.resolve("worker.log");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
        command.addAll(Files.readAllLines(ROOT.resolve("config/jvm.flags")));
        command.addAll(List.of(flags));
        command.addAll(List.of("-Dio.netty.leakDetection.level=paranoid", "-XX:+ExitOnOutOfMemoryError"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.coplane.worker.CoplaneMain"));
        command.addAll(List.of("serve", "-C", config.toString()));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(MALLOC);
        Process process = builder.start();
        try {
            return new WorkerProcess(process, log);
        } catch (IOException | RuntimeException | AssertionError e) {
            process.destroyForcibly();
            throw e;
        }
    }

    /** Where it listens for HTTP. */
    public InetSocketAddress http() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), httpPort);
    }

    /** Where it listens for gRPC; port 0: it does not. */
    public InetSocketAddress grpc() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), grpcPort);
    }

    /** The process itself. */
    public Process process() {
        return process;
    }

    /** What {@code /metrics} says now: values by sample name with its labels. */
    public Map<String, Double> metrics() throws IOException {
        Map<String, Double> values = new TreeMap<>();
        try (RawClient client = new RawClient(http())) {
            String text = client.send("GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n")
                    .read()
                    .text();
            for (String line : text.lines().toList()) {
                int space = line.lastIndexOf(' ');
                if (!line.startsWith("#") && space > 0) {
                    values.put(
                            line.substring(0, space),
                            Double.parseDouble(line.substring(space + 1).replace("Inf", "Infinity")));
                }
            }
        }
        return values;
    }

    /** A field of {@code /proc/PID/status} in bytes: {@code VmHWM} is the most memory that was ever resident. */
    public long statusBytes(String field) throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
                .filter(line -> line.startsWith(field + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10)
                .findFirst()
                .orElseThrow();
    }

    /** Lines of the log that hold {@code text}. */
    public List<String> lines(String text) throws IOException {
        return new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains(text))
                .toList();
    }

    /** The first line of the log that holds {@code text}, once it is there. */
    public String awaitLine(String text) throws IOException {
        while (true) {
            boolean alive = process.isAlive(); // asked first: its last lines must not be missed
            List<String> found = lines(text);
            if (!found.isEmpty()) {
                return found.getFirst();
            }
            if (!alive) {
                throw new AssertionError("worker ended: " + Files.readString(log));
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    private static int port(String line) {
        return Integer.parseInt(line.replaceAll(".*addr=[^:]*:(\\d+) .*", "$1"));
    }
}
