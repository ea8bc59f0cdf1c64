package io.coplane.worker.config;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * Table {@code coplane}: settings that the reference does not have.
 *
 * @param maxBodyBytes a larger request body is refused with 413; 1 KiB .. 2,147,479,552
 * @param maxInflightBodyBytes what the bodies of all HTTP requests may hold together until they are decoded, of the memory limit
 * @param maxHeaderBytes all header lines of a request together; 1 KiB .. 16 MiB
 * @param maxConnections more are closed at once; at least 1
 * @param ioThreads threads that read and write sockets; 0 = one a core
 * @param headTimeout a connection without a complete request head for so long is closed; the reference's 600 s
 * @param bodyIdleTimeout a request whose body stands still for so long is given up
 * @param writeIdleTimeout a response that the client does not take for so long is given up
 * @param shutdownTimeout requests in work may take so long after a signal
 * @param storeThreads threads that read the local directory; 1 .. 1,024
 * @param compactMemoryWindowBytes most memory admitted for one compaction; 0 = twice its input, as in the reference
 * @param isCompactCopyThrough whether compactions copy blocks that stay whole as they are stored
 * @param compactJournalDir where compactions note how far they are; empty = nowhere
 * @param isGrpcPermitted requests over gRPC wait for the permits that those over HTTP take; the reference's take none
 * @param maxGrpcMessageBytes a larger gRPC message is refused; 64 KiB .. 2,147,479,552
 * @param slowLogThreshold requests that take longer are logged with their phases and counts; zero = none
 * @param isLogJson log lines are JSON objects
 * @param isEveryMetricPushed the pushgateway gets every metric, not only the reference's one
 * @param vectorIndexFactor compactions of vector indexes at one time, per core; more than 0
 * @param fixedClockMicros the wall clock's constant value for replaying recorded requests; microseconds since 1970. Empty: the machine's clock
 */
public record OwnConfig(
        long maxBodyBytes,
        SizeOrPercent maxInflightBodyBytes,
        int maxHeaderBytes,
        int maxConnections,
        int ioThreads,
        Duration headTimeout,
        Duration bodyIdleTimeout,
        Duration writeIdleTimeout,
        Duration shutdownTimeout,
        int storeThreads,
        long compactMemoryWindowBytes,
        boolean isCompactCopyThrough,
        String compactJournalDir,
        boolean isGrpcPermitted,
        int maxGrpcMessageBytes,
        Duration slowLogThreshold,
        boolean isLogJson,
        boolean isEveryMetricPushed,
        double vectorIndexFactor,
        OptionalLong fixedClockMicros) {
    private static final long MOST_BODY_BYTES = Integer.MAX_VALUE - 4095L; // one buffer
    private static final long DEFAULT_BODY_BYTES = 1L << 30;
    private static final long DEFAULT_GRPC_MESSAGE_BYTES = 256L << 20;
    private static final double DEFAULT_INFLIGHT_PERCENT = 10;
    private static final long KIB = 1024;

    public OwnConfig {
        if (vectorIndexFactor <= 0) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG, "coplane.vector-index-factor is not positive: value=" + vectorIndexFactor);
        }
    }

    private static boolean isJson(String format) {
        return switch (format) {
            case "text" -> false;
            case "json" -> true;
            default ->
                throw new CoplaneException(
                        ErrorCode.BAD_CONFIG, "coplane.log-format is neither text nor json: value=" + format);
        };
    }

    /** @param dataDir root of local state; empty = none */
    static OwnConfig from(TomlTable table, String dataDir) {
        long fixed = table.integer("fixed-clock-micros", Long.MIN_VALUE, 0, Long.MAX_VALUE / 1024);
        return new OwnConfig(
                table.bytes("max-body-size", DEFAULT_BODY_BYTES, KIB, MOST_BODY_BYTES),
                table.sizeOrPercent("max-inflight-body-bytes", SizeOrPercent.ofPercent(DEFAULT_INFLIGHT_PERCENT)),
                (int) table.bytes("max-header-size", 64 * KIB, KIB, 16 * KIB * KIB),
                (int) table.integer("max-connections", 16_384, 1, Integer.MAX_VALUE),
                (int) table.integer("io-threads", 0, 0, 1024),
                table.duration("head-timeout", Duration.ofSeconds(600)),
                table.duration("body-idle-timeout", Duration.ofSeconds(60)),
                table.duration("write-idle-timeout", Duration.ofSeconds(60)),
                table.duration("shutdown-timeout", Duration.ofSeconds(60)),
                (int) table.integer("store-threads", 16, 1, 1024),
                table.bytes("compact-memory-window", 0, 0, Long.MAX_VALUE / 4),
                table.flag("compact-copy-through", true),
                table.text("compact-journal-dir", dataDir.isEmpty() ? "" : dataDir + "/compact-journal"),
                table.flag("grpc-permits", false),
                (int) table.bytes("max-grpc-message-size", DEFAULT_GRPC_MESSAGE_BYTES, 64 * KIB, MOST_BODY_BYTES),
                table.duration("slow-log-threshold", Duration.ofSeconds(1)),
                isJson(table.text("log-format", "text")),
                table.flag("push-all-metrics", false),
                table.number("vector-index-factor", 1),
                fixed == Long.MIN_VALUE ? OptionalLong.empty() : OptionalLong.of(fixed));
    }
}
