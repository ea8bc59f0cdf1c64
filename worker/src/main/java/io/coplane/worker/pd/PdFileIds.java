package io.coplane.worker.pd;

import io.coplane.compaction.FileIdAllocator;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ids of files: timestamps of PD, asked for again every 3 s for up to 30 min (worker.md 18.3). Blocks its caller. Borrows the client. Thread-safe. */
public final class PdFileIds implements FileIdAllocator {
    private static final Logger LOG = LoggerFactory.getLogger(PdFileIds.class);
    private static final long PAUSE_SECONDS = 3;
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(30);

    private final PdClient pd;
    private final Clock clock;

    public PdFileIds(PdClient pd, Clock clock) {
        this.pd = pd;
        this.clock = clock;
    }

    @Override
    public long[] allocate(int count) {
        long start = clock.nanoTime();
        while (true) {
            try {
                long last = pd.timestamps(count).join();
                long[] ids = new long[count];
                for (int i = 0; i < count; i++) {
                    ids[i] = last - count + 1 + i;
                }
                return ids;
            } catch (CompletionException e) {
                giveUpOrWait(Failures.unwrap(e), clock.nanoTime() - start);
            }
        }
    }

    private static void giveUpOrWait(Throwable failure, long waitedNanos) {
        boolean isClosed = failure instanceof CoplaneException e && e.code() == ErrorCode.SHUTTING_DOWN;
        if (isClosed || waitedNanos > PATIENCE_NANOS) {
            throw new CoplaneException(
                    isClosed ? ErrorCode.SHUTTING_DOWN : ErrorCode.PD_UNAVAILABLE,
                    "no file ids can be had: cause=" + failure.getMessage(),
                    failure);
        }
        LOG.warn("PD gives no file ids, asked again soon: cause={}", failure.getMessage());
        try {
            TimeUnit.SECONDS.sleep(PAUSE_SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CoplaneException(ErrorCode.SHUTTING_DOWN, "interrupted while waiting for file ids", e);
        }
    }
}
