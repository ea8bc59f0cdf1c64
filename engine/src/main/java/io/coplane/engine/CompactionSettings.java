package io.coplane.engine;

import io.coplane.compaction.CompactionConfig;
import io.coplane.compaction.CompactionJournals;
import io.coplane.compaction.FileIdAllocator;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Require;
import java.util.Objects;
import java.util.Optional;

/**
 * How a data plane compacts.
 *
 * @param config      of the files written
 * @param threads     compactions that run at one time; 1 .. 4096. Each waits for the store on its thread
 * @param windowBytes most bytes taken from the memory limiter for one compaction; 0: twice its input, whatever that is
 * @param ids         asked when a request's own ids are used up
 * @param vectorIndexPermits compactions of vector indexes in work or waiting for a thread at one time; at least 2. More are refused (worker.md 12)
 * @param journals    where compactions note how far they are; borrowed. Empty: they begin anew after a crash
 */
public record CompactionSettings(
        CompactionConfig config,
        int threads,
        long windowBytes,
        FileIdAllocator ids,
        int vectorIndexPermits,
        Optional<CompactionJournals> journals) {
    /** Default of permits a core for vector indexes; the reference's is not known (worker.md 24). */
    private static final double VECTOR_INDEX_FACTOR = 1;

    /** Checks the bounds. */
    public CompactionSettings {
        Objects.requireNonNull(config);
        Require.range("threads", threads, 1, 4096);
        Require.range("windowBytes", windowBytes, 0, Long.MAX_VALUE);
        Objects.requireNonNull(ids);
        Require.range("vectorIndexPermits", vectorIndexPermits, 2, Integer.MAX_VALUE);
        Objects.requireNonNull(journals);
    }

    /** The reference's defaults; without a source of ids beyond those of the requests. */
    public static CompactionSettings defaults(int threads) {
        FileIdAllocator none = count -> {
            throw new CoplaneException(
                    ErrorCode.STORE_UNAVAILABLE, "no placement driver gives file ids: wanted=" + count);
        };
        return new CompactionSettings(
                CompactionConfig.DEFAULT,
                threads,
                0,
                none,
                DataPlaneConfig.permits(threads, VECTOR_INDEX_FACTOR),
                Optional.empty());
    }

    /** The same with another source of ids. */
    public CompactionSettings withIds(FileIdAllocator source) {
        return new CompactionSettings(config, threads, windowBytes, source, vectorIndexPermits, journals);
    }

    /** The same with journals. */
    public CompactionSettings withJournals(CompactionJournals folder) {
        return new CompactionSettings(config, threads, windowBytes, ids, vectorIndexPermits, Optional.of(folder));
    }
}
