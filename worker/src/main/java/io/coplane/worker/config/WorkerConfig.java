package io.coplane.worker.config;

import io.coplane.compaction.CompactionConfig;
import io.coplane.engine.BlackList;
import io.coplane.engine.CompactionSettings;
import io.coplane.engine.DataPlaneConfig;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.TxnChunkBuilder;
import java.net.InetSocketAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * The whole configuration, checked (worker.md 4.2). Keys that nothing of ours uses are not here; see {@link ConfigKeys}.
 *
 * @param addr HTTP listen address
 * @param addrText the same as it is written, which is what stores are told
 * @param copAddr gRPC listen address; empty = no gRPC
 * @param isRegistered this worker registers itself as a compactor at all stores
 * @param updateInterval period of that registration; at least 100 ms
 * @param logFile log file; empty = standard output
 * @param logLevel level's name; empty = info
 * @param dataDir root of local state, absolute; empty = none
 * @param copBlockCacheBytes block cache, -1 = 20 % of the memory limit, 0 = none
 * @param copMaxRespBytes size at which a response is closed early; at least 1
 * @param copRemoteDfsCacheTtl files older than this are not read at the request's sender (ia.md 19)
 * @param copTopnMaxPushdownRows worker.md 8; 0 = off
 * @param threadPoolSizeFactor worker threads per core; used within 1 .. 8
 * @param memoryUpperThreshold cap of the memory limiter
 * @param checksumType of written files
 * @param txnChunkTargetBlockBytes size by which blocks of txn chunks are cut; 1 .. 1 GiB
 * @param pushMetricsAddr pushgateway, {@code host:port}; empty = off
 * @param pushMetricsInterval period of pushes; zero = off
 */
public record WorkerConfig(
        InetSocketAddress addr,
        String addrText,
        Optional<InetSocketAddress> copAddr,
        boolean isRegistered,
        Duration updateInterval,
        String logFile,
        String logLevel,
        String dataDir,
        long copBlockCacheBytes,
        long copMaxRespBytes,
        Duration copRemoteDfsCacheTtl,
        long copTopnMaxPushdownRows,
        double threadPoolSizeFactor,
        SizeOrPercent memoryUpperThreshold,
        ChecksumType checksumType,
        int txnChunkTargetBlockBytes,
        String pushMetricsAddr,
        Duration pushMetricsInterval,
        PdConfig pd,
        SecurityConfig security,
        DfsConfig dfs,
        LimiterConfig limiter,
        TxnChunkConfig txnChunks,
        BlackList blackList,
        OwnConfig own) {
    private static final String DEFAULT_ADDR = "0.0.0.0:19000";
    private static final double MOST_THREADS_PER_CORE = 8;
    private static final double DEFAULT_MEMORY_PERCENT = 80;
    private static final long DEFAULT_CACHE = -1;
    private static final Duration LEAST_UPDATE_INTERVAL = Duration.ofMillis(100);
    private static final int MOST_ZSTD_LEVEL = 22;
    private static final long MOST_BLOCK_BYTES = 1L << 30;

    static WorkerConfig from(TomlTable root) {
        return new WorkerConfig(
                Addresses.parse("addr", root.text("addr", DEFAULT_ADDR)),
                root.text("addr", DEFAULT_ADDR),
                copAddr(root.text("cop-addr", "0.0.0.0:9500")),
                root.flag("register", false),
                updateInterval(root.duration("update-interval", Duration.ofMinutes(10))),
                root.text("log-file", ""),
                root.text("log-level", ""),
                absolute("data-dir", root.text("data-dir", "")),
                root.bytes("cop-block-cache-size", DEFAULT_CACHE, 0, Long.MAX_VALUE / 4),
                root.bytes("cop-max-resp-size", DataPlaneConfig.DEFAULT_MAX_RESPONSE_BYTES, 1, Integer.MAX_VALUE),
                root.duration("cop-remote-dfs-cache-ttl", Duration.ofMinutes(10)),
                root.integer("cop-topn-max-pushdown-rows", 0, 0, Long.MAX_VALUE),
                root.number("thread-pool-size-factor", 1),
                root.sizeOrPercent("memory-upper-threshold", SizeOrPercent.ofPercent(DEFAULT_MEMORY_PERCENT)),
                checksumType(root.text("checksum-type", "crc32")),
                (int) root.integer(
                        "txn-chunk-target-block-size", TxnChunkBuilder.DEFAULT_BLOCK_BYTES, 1, MOST_BLOCK_BYTES),
                root.text("push-metrics-addr", ""),
                root.duration("push-metrics-interval", Duration.ofSeconds(30)),
                PdConfig.from(root.table("pd")),
                SecurityConfig.from(root.table("security")),
                DfsConfig.from(root.table("dfs")),
                LimiterConfig.from(root.table("worker-limiter")),
                TxnChunkConfig.from(root.table("txn-chunk-manager")),
                blackList(root.table("black-list")),
                OwnConfig.from(root.table("coplane"), absolute("data-dir", root.text("data-dir", ""))));
    }

    /** What the data plane is built from on {@code machine}. */
    public DataPlaneConfig dataPlane(Machine machine) {
        double factor = Math.clamp(threadPoolSizeFactor, 1, MOST_THREADS_PER_CORE);
        return new DataPlaneConfig(
                (int) Math.clamp(machine.cpuQuota() * factor, 1, 4096),
                memoryUpperThreshold.resolve(machine.memoryBytes()),
                copBlockCacheBytes == DEFAULT_CACHE ? machine.memoryBytes() / 10 * 2 : copBlockCacheBytes,
                DataPlaneConfig.permits(machine.cpuQuota(), limiter.globalConcurrencyFactor()),
                DataPlaneConfig.permits(machine.cpuQuota(), limiter.keyspaceConcurrencyFactor()),
                copMaxRespBytes,
                copTopnMaxPushdownRows,
                blackList,
                security.masterKey().resolve(),
                txnChunks.gcTtl().toMillis(),
                txnChunks.gcInterval().toMillis(),
                MasterKeyConfig::ofKeyspace);
    }

    /** How a data plane of {@code plane} compacts. */
    public CompactionSettings compaction(DataPlaneConfig plane, Machine machine) {
        CompactionSettings defaults = CompactionSettings.defaults(plane.workerThreads());
        return new CompactionSettings(
                new CompactionConfig(
                        checksumType,
                        Math.clamp(dfs.zstdCompressionLevel(), 1, MOST_ZSTD_LEVEL),
                        own.isCompactCopyThrough()),
                defaults.threads(),
                own.compactMemoryWindowBytes(),
                defaults.ids(),
                DataPlaneConfig.permits(machine.cpuQuota(), own.vectorIndexFactor()),
                defaults.journals());
    }

    private static Duration updateInterval(Duration value) {
        if (value.compareTo(LEAST_UPDATE_INTERVAL) < 0) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG,
                    "update-interval is too short: value=" + value + " least=" + LEAST_UPDATE_INTERVAL);
        }
        return value;
    }

    /** A path that means the same wherever it is used. */
    private static String absolute(String key, String path) {
        try {
            return path.isEmpty()
                    ? ""
                    : Path.of(path).toAbsolutePath().normalize().toString();
        } catch (InvalidPathException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, key + " is no path: value=" + path, e);
        }
    }

    private static ChecksumType checksumType(String name) {
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "none" -> ChecksumType.NONE;
            case "crc32c" -> ChecksumType.CRC32C;
            case "crc32" -> ChecksumType.CRC32;
            default ->
                throw new CoplaneException(
                        ErrorCode.BAD_CONFIG, "checksum-type is none of none, crc32c, crc32: value=" + name);
        };
    }

    private static Optional<InetSocketAddress> copAddr(String text) {
        return text.isEmpty() ? Optional.empty() : Optional.of(Addresses.parse("cop-addr", text));
    }

    private static BlackList blackList(TomlTable table) {
        return new BlackList(
                table.table("remote-cop").keyspaceIds("keyspace-ids"),
                table.table("analyze").keyspaceIds("keyspace-ids"),
                table.table("checksum").keyspaceIds("keyspace-ids"));
    }
}
