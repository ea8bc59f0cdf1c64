package io.coplane.nativecache.store;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.nativecache.store.S3Failure.TransportException;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;

/**
 * Client of storage nodes that hand out files from their own disks: {@code GET /dfs/ID} (ia.md 19). Addresses come with requests, so this is the JDK's client,
 * which pools connections by address. One attempt, at most 10 s for the head and 10 s for the body. Owns client and threads until {@link #close()}.
 * Thread-safe.
 */
public final class FilePeers implements AutoCloseable {
    private static final Duration HEAD = Duration.ofSeconds(10);
    private static final Duration BODY = Duration.ofSeconds(10);
    private static final int THREADS = 2;

    private final HttpClient.Builder builder;
    private final ExecutorService threads;
    private final ScheduledThreadPoolExecutor alarm;
    private final String scheme;
    private final Clock clock;
    private HttpClient client; // or null; guarded by the builder

    /** @param tls for peers with TLS; empty: plain HTTP */
    public FilePeers(Optional<SSLContext> tls, Clock clock) {
        AtomicInteger number = new AtomicInteger();
        threads = Executors.newFixedThreadPool(THREADS, task -> {
            Thread thread = new Thread(task, "coplane-peers-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
        alarm = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "coplane-peers-timer");
            thread.setDaemon(true);
            return thread;
        });
        builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(HEAD)
                .executor(threads);
        tls.ifPresent(builder::sslContext);
        scheme = tls.isPresent() ? "https" : "http";
        this.clock = clock;
    }

    /** Made by the first read: the JDK's client loads the machine's trusted certificates, which a start would have to wait for. */
    private HttpClient client() {
        synchronized (builder) {
            if (client == null) {
                client = builder.build();
            }
            return client;
        }
    }

    /**
     * Reads a file, or bytes {@code start .. end - 1} of it.
     *
     * @return fails with STORE_UNAVAILABLE for whatever went wrong but MEMORY_LIMIT
     */
    CompletableFuture<MemorySegment> read(
            String address, FileKind kind, long fileId, long start, long end, NativeArena arena, long deadlineNanos) {
        String file = ObjectKeys.fileName(kind, fileId);
        Duration head = HEAD;
        Duration body = BODY;
        if (deadlineNanos != S3Call.NEVER) {
            Duration left = Duration.ofNanos(Math.max(1, deadlineNanos - clock.nanoTime()));
            head = left.compareTo(head) < 0 ? left : head;
            body = left.compareTo(body) < 0 ? left : body;
        }
        HttpRequest request;
        try {
            request = HttpRequest.newBuilder(uri(address, kind, fileId, start, end))
                    .timeout(head)
                    .GET()
                    .build();
        } catch (URISyntaxException | IllegalArgumentException e) {
            return CompletableFuture.failedFuture(failed("address is none", address, file, e));
        }
        long wanted = end == ObjectStore.TO_END ? -1 : end - start;
        long bodyNanos = body.toNanos();
        return client().sendAsync(request, response -> {
                    PeerBody pieces = new PeerBody(response, wanted, arena);
                    ScheduledFuture<?> limit = alarm.schedule(
                            () -> pieces.fail(new TransportException("time-out of the body")), bodyNanos, NANOSECONDS);
                    pieces.done()
                            .whenComplete((bytes, failure) -> limit.cancel(false))
                            .exceptionally(thrown -> null);
                    return pieces;
                })
                .handle((response, failure) -> {
                    if (failure == null) {
                        return response.body();
                    }
                    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                        if (cause instanceof MemoryLimitException limit) {
                            throw limit;
                        }
                    }
                    throw failed(failure.getMessage(), address, file, failure);
                });
    }

    private URI uri(String address, FileKind kind, long fileId, long start, long end) throws URISyntaxException {
        String query = "file_type=" + kind.suffix() + "&start_off=" + start
                + (end == ObjectStore.TO_END ? "" : "&end_off=" + end);
        URI uri = new URI(scheme + "://" + address + "/dfs/" + Long.toUnsignedString(fileId) + "?" + query);
        if (uri.getHost() == null || uri.getUserInfo() != null) {
            throw new URISyntaxException(address, "no host and port");
        }
        return uri;
    }

    private static CoplaneException failed(String what, String address, String file, Throwable cause) {
        return new CoplaneException(
                ErrorCode.STORE_UNAVAILABLE, what + ": file=" + file + " address=" + address, cause);
    }

    @Override
    public void close() {
        synchronized (builder) {
            if (client != null) {
                client.shutdownNow();
            }
        }
        threads.shutdownNow();
        alarm.shutdownNow();
    }
}
