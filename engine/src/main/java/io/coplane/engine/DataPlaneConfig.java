package io.coplane.engine;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Require;
import io.coplane.snapshot.KeyspaceEncryption.MasterKeys;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * How a data plane is cut (worker.md 4).
 *
 * @param workerThreads threads that execute requests; 1 .. 4096
 * @param memoryCapBytes bytes that all requests and the block cache may hold together; at least 0
 * @param blockCacheBytes most bytes of files and decoded blocks kept between requests, a part of {@code memoryCapBytes} that requests get back
 *     when they need it; 0 = keep none
 * @param globalPermits requests in work at one time; 2 or more
 * @param keyspacePermits requests of one keyspace in work at one time; 2 .. {@code globalPermits}
 * @param maxResponseBytes size at which a response is closed early; at least 1
 * @param topnMaxPushdownRows a larger TopN is paged (worker.md 8); 0 = never
 * @param blackList requests that are refused
 * @param masterKey 32 bytes, or empty where no shard is encrypted; not to be modified
 * @param chunkTtlMillis how long a txn chunk is kept after its last use (worker.md 4.7); at least 0
 * @param chunkSweepMillis how often that is looked at; 1 ms .. 365 days
 * @param keyspaceMasterKeys decrypts the master keys that keyspaces have of their own (worker.md 17.3)
 */
public record DataPlaneConfig(
        int workerThreads,
        long memoryCapBytes,
        long blockCacheBytes,
        int globalPermits,
        int keyspacePermits,
        long maxResponseBytes,
        long topnMaxPushdownRows,
        BlackList blackList,
        byte[] masterKey,
        long chunkTtlMillis,
        long chunkSweepMillis,
        MasterKeys keyspaceMasterKeys) {
    /** Default of {@link #maxResponseBytes}. */
    public static final long DEFAULT_MAX_RESPONSE_BYTES = 32L << 20;

    /** Default of {@link #chunkTtlMillis}. */
    public static final long DEFAULT_CHUNK_TTL_MILLIS = TimeUnit.MINUTES.toMillis(10);

    /** Default of {@link #chunkSweepMillis}. */
    public static final long DEFAULT_CHUNK_SWEEP_MILLIS = TimeUnit.MINUTES.toMillis(1);

    private static final int MASTER_KEY_BYTES = 32;
    private static final long MOST_MILLIS = TimeUnit.DAYS.toMillis(365);
    /** The reference's cache is 20 % of the memory of which the cap is 80 %. */
    private static final int CACHE_PART = 4;

    private static final double GLOBAL_FACTOR = 96;
    private static final double KEYSPACE_FACTOR = 32;

    public DataPlaneConfig {
        Require.range("workerThreads", workerThreads, 1, 4096);
        Require.range("memoryCapBytes", memoryCapBytes, 0, Long.MAX_VALUE / 4);
        Require.range("blockCacheBytes", blockCacheBytes, 0, Long.MAX_VALUE / 4);
        Require.range("globalPermits", globalPermits, 2, Integer.MAX_VALUE);
        Require.range("keyspacePermits", keyspacePermits, 2, globalPermits);
        Require.range("maxResponseBytes", maxResponseBytes, 1, Integer.MAX_VALUE);
        Require.range("topnMaxPushdownRows", topnMaxPushdownRows, 0, Long.MAX_VALUE);
        Objects.requireNonNull(blackList);
        Objects.requireNonNull(keyspaceMasterKeys);
        if (masterKey.length != 0) {
            Require.range("masterKey.length", masterKey.length, MASTER_KEY_BYTES, MASTER_KEY_BYTES);
        }
        masterKey = masterKey.clone();
        Require.range("chunkTtlMillis", chunkTtlMillis, 0, MOST_MILLIS);
        Require.range("chunkSweepMillis", chunkSweepMillis, 1, MOST_MILLIS);
    }

    /** The reference's defaults for a machine of {@code cores} cores, without encryption. */
    public static DataPlaneConfig defaults(int cores, long memoryCapBytes) {
        return new DataPlaneConfig(
                cores,
                memoryCapBytes,
                memoryCapBytes / CACHE_PART,
                permits(cores, GLOBAL_FACTOR),
                permits(cores, KEYSPACE_FACTOR),
                DEFAULT_MAX_RESPONSE_BYTES,
                0,
                BlackList.NONE,
                new byte[0],
                DEFAULT_CHUNK_TTL_MILLIS,
                DEFAULT_CHUNK_SWEEP_MILLIS,
                DataPlaneConfig::refuse);
    }

    private static byte[] refuse(String vendor, String keyId, String region, String endpoint, byte[] ciphertext) {
        throw new CoplaneException(ErrorCode.BAD_ENCRYPTION_KEY, "no key service is configured: vendor=" + vendor);
    }

    /** The same with another cap. */
    public DataPlaneConfig withMemoryCapBytes(long capBytes) {
        return new DataPlaneConfig(
                workerThreads,
                capBytes,
                Math.min(blockCacheBytes, capBytes),
                globalPermits,
                keyspacePermits,
                maxResponseBytes,
                topnMaxPushdownRows,
                blackList,
                masterKey,
                chunkTtlMillis,
                chunkSweepMillis,
                keyspaceMasterKeys);
    }

    /** The same with a master key: 32 bytes, copied. */
    public DataPlaneConfig withMasterKey(byte[] key) {
        return new DataPlaneConfig(
                workerThreads,
                memoryCapBytes,
                blockCacheBytes,
                globalPermits,
                keyspacePermits,
                maxResponseBytes,
                topnMaxPushdownRows,
                blackList,
                key,
                chunkTtlMillis,
                chunkSweepMillis,
                keyspaceMasterKeys);
    }

    /** Permits of a concurrency factor (worker.md 10): max(2, floor(cpuQuota x factor)). */
    public static int permits(double cpuQuota, double factor) {
        return (int) Math.max(2, Math.min(Integer.MAX_VALUE, Math.floor(cpuQuota * factor)));
    }
}
