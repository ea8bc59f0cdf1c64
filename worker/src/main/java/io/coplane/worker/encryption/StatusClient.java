package io.coplane.worker.encryption;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;

/** Asks status addresses of storage nodes. Answers longer than {@link #MOST_BYTES} are failures. Owns its client. Thread-safe. */
final class StatusClient implements AutoCloseable {
    /** Longest answer: a shard's ChangeSet of a hundred thousand files. */
    static final int MOST_BYTES = 16 << 20;

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;

    private final HttpClient http;
    private final String scheme;

    /** @param tls for nodes with TLS; empty: plain HTTP */
    StatusClient(Optional<SSLContext> tls) {
        scheme = tls.isPresent() ? "https" : "http";
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(PATIENCE);
        tls.ifPresent(builder::sslContext);
        http = builder.build();
    }

    /**
     * GET of a path.
     *
     * @param statusAddress {@code host:port}
     * @return the body of 200, nothing for 404; fails with STORE_UNAVAILABLE for all else
     */
    CompletableFuture<Optional<byte[]>> get(String statusAddress, String path) {
        HttpRequest request;
        try {
            request = HttpRequest.newBuilder(URI.create(scheme + "://" + statusAddress + path))
                    .timeout(PATIENCE)
                    .GET()
                    .build();
        } catch (IllegalArgumentException e) {
            return CompletableFuture.failedFuture(failed(statusAddress, path, "no address", e));
        }
        return http.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), MOST_BYTES))
                .handle((response, thrown) -> {
                    if (thrown != null) {
                        Throwable failure = Failures.unwrap(thrown);
                        throw failed(statusAddress, path, failure.toString(), failure);
                    }
                    return body(response, statusAddress, path);
                });
    }

    private static Optional<byte[]> body(HttpResponse<byte[]> response, String statusAddress, String path) {
        return switch (response.statusCode()) {
            case OK -> Optional.of(response.body());
            case NOT_FOUND -> Optional.empty();
            default -> throw failed(statusAddress, path, "status " + response.statusCode(), null);
        };
    }

    private static CoplaneException failed(String address, String path, String why, Throwable cause) {
        return new CoplaneException(
                ErrorCode.STORE_UNAVAILABLE,
                "storage node does not answer: address=" + address + " path=" + path + " cause=" + why,
                cause);
    }

    @Override
    public void close() {
        http.shutdownNow();
    }
}
