package io.coplane.engine;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.snapshot.Snapshot;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Requests that wait for their snapshot. A file is loaded for several requests at once, within the time of whoever came first or without a limit; so
 * each request waits within its own time, and no longer than its client. What loads then goes on without it and is freed when it is there.
 *
 * <p>Thread-safe; the timer's task is this object's until {@link #close}.
 */
final class SnapshotWaits implements AutoCloseable {
    /** By twice so much a wait may end late. */
    private static final long SWEEP_MILLIS = 50;

    private final ConcurrentLinkedQueue<Wait> waits = new ConcurrentLinkedQueue<>();
    private final ScheduledFuture<?> sweep;

    /** @param timer borrowed; ends waits whose time is over */
    SnapshotWaits(ScheduledExecutorService timer) {
        sweep = timer.scheduleWithFixedDelay(this::endLateWaits, SWEEP_MILLIS, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** One request's wait. */
    final class Wait {
        private final CompletableFuture<Snapshot> snapshot = new CompletableFuture<>();
        private final Deadline deadline;
        private boolean isLate; // on the timer's thread

        private Wait(Deadline deadline) {
            this.deadline = deadline;
        }

        /** The snapshot, owned by the caller; fails with DEADLINE too. */
        CompletableFuture<Snapshot> snapshot() {
            return snapshot;
        }

        /** To be told once the load looks at nothing of the request any more: only then may the request end before it. */
        void mayEnd() {
            waits.add(this);
        }

        /** The load has ended. */
        void loaded(Snapshot built, Throwable failure) {
            if (failure != null) {
                snapshot.completeExceptionally(Failures.unwrap(failure));
            } else if (!snapshot.complete(built)) {
                built.close();
            }
        }

        /** A load that works looks at the deadline itself, and frees all before it fails: it gets until the next sweep for that. */
        private boolean isOver() {
            if (isLate) {
                snapshot.completeExceptionally(
                        new CoplaneException(ErrorCode.DEADLINE, "deadline is exceeded: files do not load in time"));
            }
            isLate = !snapshot.isDone() && deadline.isOver();
            return snapshot.isDone();
        }
    }

    Wait within(Deadline deadline) {
        return new Wait(deadline);
    }

    private void endLateWaits() {
        waits.removeIf(Wait::isOver);
    }

    /** Ends the sweep; waits end with their loads then. Idempotent. */
    @Override
    public void close() {
        sweep.cancel(false);
    }
}
