package io.coplane.worker.config;

import io.coplane.engine.DataPlaneConfig;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.time.Duration;

/**
 * Table {@code txn-chunk-manager} (worker.md 4.7): how long chunks of large transactions stay in memory.
 *
 * @param gcInterval how often unused chunks are looked for; 1 ms .. 365 days
 * @param gcTtl how long a chunk is kept after its last use; at most 365 days, 0 = not at all
 */
public record TxnChunkConfig(Duration gcInterval, Duration gcTtl) {
    private static final Duration LEAST_INTERVAL = Duration.ofMillis(1);
    private static final Duration MOST = Duration.ofDays(365);

    public TxnChunkConfig {
        check("gc-interval", gcInterval, LEAST_INTERVAL);
        check("gc-ttl", gcTtl, Duration.ZERO);
    }

    private static void check(String key, Duration value, Duration least) {
        if (value.compareTo(least) < 0 || value.compareTo(MOST) > 0) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG,
                    "txn-chunk-manager." + key + " is out of bounds: millis=" + value.toMillis() + " least="
                            + least.toMillis() + " most=" + MOST.toMillis());
        }
    }

    static TxnChunkConfig from(TomlTable table) {
        return new TxnChunkConfig(
                table.duration("gc-interval", Duration.ofMillis(DataPlaneConfig.DEFAULT_CHUNK_SWEEP_MILLIS)),
                table.duration("gc-ttl", Duration.ofMillis(DataPlaneConfig.DEFAULT_CHUNK_TTL_MILLIS)));
    }
}
