package io.coplane.engine;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Require;
import io.coplane.sst.ShardKey;
import io.coplane.sst.TxnChunkBuilder;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * How a data plane writes txn chunks (worker.md 14).
 *
 * @param blockBytes size by which blocks are cut; 1 .. 1 GiB
 * @param keys what chunks of a keyspace are encrypted with
 * @param ids gives the id of a chunk, a timestamp of the placement driver; must not block
 */
public record TxnChunkSettings(int blockBytes, Keys keys, Supplier<CompletableFuture<Long>> ids) {
    private static final int MOST_BLOCK_BYTES = 1 << 30;

    /** Finds the key of a keyspace. Thread-safe. */
    @FunctionalInterface
    public interface Keys {
        /**
         * Must not block.
         *
         * @param keyspaceId unsigned
         * @return the key to write with; empty if the keyspace is not encrypted
         */
        CompletableFuture<Optional<ShardKey>> of(int keyspaceId);
    }

    /** Checks the bounds. */
    public TxnChunkSettings {
        Require.range("blockBytes", blockBytes, 1, MOST_BLOCK_BYTES);
        Objects.requireNonNull(keys);
        Objects.requireNonNull(ids);
    }

    /** Without a placement driver: whether a keyspace is encrypted is not known, so nothing is written. */
    public static TxnChunkSettings none() {
        return new TxnChunkSettings(
                TxnChunkBuilder.DEFAULT_BLOCK_BYTES,
                keyspaceId -> CompletableFuture.failedFuture(unavailable()),
                () -> CompletableFuture.failedFuture(unavailable()));
    }

    private static CoplaneException unavailable() {
        return new CoplaneException(ErrorCode.PD_UNAVAILABLE, "no placement driver is configured");
    }
}
