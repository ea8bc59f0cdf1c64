package io.coplane.worker.config;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/**
 * Table {@code worker-limiter} (worker.md 4.3): requests in work per core.
 *
 * @param globalConcurrencyFactor at most 256
 * @param keyspaceConcurrencyFactor at most {@code globalConcurrencyFactor}
 */
public record LimiterConfig(double globalConcurrencyFactor, double keyspaceConcurrencyFactor) {
    private static final double MOST = 256;
    private static final double GLOBAL = 96;
    private static final double KEYSPACE = 32;

    public LimiterConfig {
        if (globalConcurrencyFactor > MOST) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "global concurrency factor must be less than 256");
        }
        if (keyspaceConcurrencyFactor > globalConcurrencyFactor) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG, "global concurrency factor must be greater than keyspace concurrency_factor");
        }
    }

    static LimiterConfig from(TomlTable table) {
        return new LimiterConfig(
                table.number("global-concurrency-factor", GLOBAL),
                table.number("keyspace-concurrency-factor", KEYSPACE));
    }
}
