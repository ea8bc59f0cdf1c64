package io.coplane.worker.http;

import io.coplane.nativecache.Require;
import java.time.Duration;

/**
 * What a client may ask of the server.
 *
 * @param maxBodyBytes 1 .. 2,147,479,552; more is refused with 413
 * @param maxHeaderBytes all header lines of one request; 256 .. 16 MiB; more is refused with 431
 * @param maxConnections at least 1; more are closed at once, and more streams of HTTP/2, of all connections, refused
 * @param headTimeout for a complete head, from the connection's opening or its last answer
 * @param bodyIdleTimeout between two pieces of a body
 * @param writeIdleTimeout between two pieces of a response that the client takes
 */
public record HttpLimits(
        long maxBodyBytes,
        int maxHeaderBytes,
        int maxConnections,
        Duration headTimeout,
        Duration bodyIdleTimeout,
        Duration writeIdleTimeout) {
    public HttpLimits {
        Require.range("maxBodyBytes", maxBodyBytes, 1, Integer.MAX_VALUE - 4095L);
        Require.range("maxHeaderBytes", maxHeaderBytes, 256, 16 << 20);
        Require.range("maxConnections", maxConnections, 1, Integer.MAX_VALUE);
        Require.range("headTimeout.nanos", headTimeout.toNanos(), 1, Long.MAX_VALUE);
        Require.range("bodyIdleTimeout.nanos", bodyIdleTimeout.toNanos(), 1, Long.MAX_VALUE);
        Require.range("writeIdleTimeout.nanos", writeIdleTimeout.toNanos(), 1, Long.MAX_VALUE);
    }
}
