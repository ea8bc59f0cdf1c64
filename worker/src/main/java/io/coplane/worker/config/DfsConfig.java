package io.coplane.worker.config;

import io.coplane.nativecache.AsciiNumbers;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.store.S3Config;
import io.coplane.nativecache.store.S3Timing;
import io.coplane.nativecache.store.Secret;
import java.util.Locale;
import java.util.Optional;

/**
 * Table {@code dfs} (worker.md 4.6), and our own backend {@code local}.
 *
 * @param backend {@code local}, {@code azure} (both in any case), or S3 for every other word
 * @param prefix first part of every object key; empty means {@code default}
 * @param localDir root of backend {@code local}
 * @param zstdCompressionLevel level of written blocks
 * @param readOnly every write fails
 * @param bucket what is said of S3; looked at only if it is the backend
 */
public record DfsConfig(
        String backend, String prefix, String localDir, int zstdCompressionLevel, boolean readOnly, Bucket bucket) {
    private static final String LOCAL = "local";
    private static final String AZURE = "azure";
    private static final String DEFAULT_LEVEL = "5";

    /**
     * Keys {@code s3-...} and the table {@code conn-options}.
     *
     * @param requestsInFlight our own key {@code s3-requests-in-flight}
     */
    public record Bucket(
            String name,
            String endpoint,
            String region,
            String keyId,
            Secret secretKey,
            int requestsInFlight,
            S3Timing timing) {
        static Bucket from(TomlTable table) {
            return new Bucket(
                    table.text("s3-bucket", ""),
                    table.text("s3-endpoint", ""),
                    table.text("s3-region", ""),
                    table.text("s3-key-id", ""),
                    new Secret(table.secret("s3-secret-key")),
                    (int) table.integer("s3-requests-in-flight", S3Config.DEFAULT_REQUESTS_IN_FLIGHT, 1, 4096),
                    timing(table.table("conn-options")));
        }

        private static S3Timing timing(TomlTable table) {
            S3Timing defaults = S3Timing.DEFAULTS;
            return new S3Timing(
                    (int) table.integer("max-retry-count", defaults.maxRetries(), 0, 30),
                    table.duration("retry-sleep-interval", defaults.retrySleep()),
                    table.duration("conn-timeout", defaults.connect()),
                    table.duration("dispatch-timeout", defaults.dispatch()),
                    table.duration("write-timeout-per-mb", defaults.writePerMib()),
                    table.duration("read-body-timeout", defaults.readBody()),
                    table.duration("keep-alive-duration", defaults.keepAlive()),
                    table.duration("pool-idle-timeout", defaults.poolIdle()));
        }
    }

    static DfsConfig from(TomlTable table) {
        String level = table.text("zstd-compression-level", "");
        return new DfsConfig(
                table.text("backend", "s3"),
                table.text("prefix", ""),
                table.text("local-dir", ""),
                level(level.isEmpty() ? DEFAULT_LEVEL : level),
                table.flag("read-only", false),
                Bucket.from(table));
    }

    /** The backend is a directory on this machine. */
    public boolean isLocal() {
        return backend.toLowerCase(Locale.ROOT).equals(LOCAL);
    }

    /**
     * The bucket of backend S3.
     *
     * @throws CoplaneException BAD_CONFIG if something needed is missing
     */
    public S3Config s3() {
        return new S3Config(
                bucket.name(),
                prefix,
                bucket.endpoint(),
                bucket.region(),
                bucket.keyId(),
                bucket.secretKey(),
                Optional.empty(),
                readOnly,
                bucket.requestsInFlight(),
                bucket.timing());
    }

    /** @throws CoplaneException BAD_CONFIG for a backend that is not built, or one that lacks what it needs */
    public void requireBuilt() {
        if (backend.equalsIgnoreCase(AZURE)) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG,
                    "dfs.backend \"" + backend + "\" means Azure, which is not built: set dfs.backend = \"s3\" and"
                            + " dfs.s3-bucket, or \"local\" and dfs.local-dir");
        }
        if (!isLocal()) {
            s3();
        } else if (localDir.isEmpty()) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "dfs.backend = \"local\" needs dfs.local-dir");
        }
    }

    private static int level(String text) {
        try {
            return AsciiNumbers.parseInt(text);
        } catch (NumberFormatException e) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG, "dfs.zstd-compression-level is no signed integer: value=" + text, e);
        }
    }
}
