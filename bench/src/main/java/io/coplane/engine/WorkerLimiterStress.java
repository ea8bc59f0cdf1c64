package io.coplane.engine;

import io.coplane.nativecache.Clock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * What several threads may see of both permits of a request: none is lost, none is given twice, whatever ends a wait. Run as docs/benchmarks.md says.
 *
 * <p>The last figure of each outcome is the permits held in the end, those of keyspaces and global ones together: two for each request that has them.
 */
public final class WorkerLimiterStress {
    private static final Clock CLOCK = Clock.system();
    private static final long NEVER = Long.MAX_VALUE / 2;
    private static final int KEYSPACE = 7;
    private static final int OTHER_KEYSPACE = 8;

    private WorkerLimiterStress() {}

    private static CompletableFuture<WorkerLimiter.Keyspace> patient(WorkerLimiter limiter, int keyspace) {
        return limiter.acquire(keyspace, CLOCK.nanoTime() + NEVER, () -> false);
    }

    /** Its time is over as soon as somebody looks. */
    private static CompletableFuture<WorkerLimiter.Keyspace> late(WorkerLimiter limiter, int keyspace) {
        return limiter.acquire(keyspace, CLOCK.nanoTime(), () -> false);
    }

    /** 1 served, 0 refused, -1 waiting still. */
    private static int outcome(CompletableFuture<?> wait) {
        return !wait.isDone() ? -1 : wait.isCompletedExceptionally() ? 0 : 1;
    }

    /** Two requests of one keyspace and one permit of it, though two in all. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 2", "0, 1, 2"},
            expect = Expect.ACCEPTABLE,
            desc = "one of them has it")
    @State
    public static class OneKeyspacePermit {
        private final WorkerLimiter limiter = new WorkerLimiter(2, 1, CLOCK);

        @Actor
        public void one(III_Result result) {
            result.r1 = limiter.tryAcquire(KEYSPACE) == null ? 0 : 1;
        }

        @Actor
        public void other(III_Result result) {
            result.r2 = limiter.tryAcquire(KEYSPACE) == null ? 0 : 1;
        }

        @Arbiter
        public void account(III_Result result) {
            result.r3 = (int) limiter.heldPermits();
        }
    }

    /** Two requests of two keyspaces and one global permit: who does not get it gives his keyspace's back. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 2", "0, 1, 2"},
            expect = Expect.ACCEPTABLE,
            desc = "one of them has it")
    @State
    public static class OneGlobalPermit {
        private final WorkerLimiter limiter = new WorkerLimiter(1, 1, CLOCK);

        @Actor
        public void one(III_Result result) {
            result.r1 = limiter.tryAcquire(KEYSPACE) == null ? 0 : 1;
        }

        @Actor
        public void other(III_Result result) {
            result.r2 = limiter.tryAcquire(OTHER_KEYSPACE) == null ? 0 : 1;
        }

        @Arbiter
        public void account(III_Result result) {
            result.r3 = (int) limiter.heldPermits();
        }
    }

    /** One takes and gives back what another one waits for: its keyspace's permit first, the global one then. */
    @JCStressTest
    @Outcome(id = "1, 2", expect = Expect.ACCEPTABLE, desc = "the waiter has both")
    @State
    public static class UseMeetsWait {
        private final WorkerLimiter limiter = new WorkerLimiter(1, 1, CLOCK);
        private CompletableFuture<WorkerLimiter.Keyspace> waiting;

        @Actor
        public void use() {
            WorkerLimiter.Keyspace permits = limiter.tryAcquire(KEYSPACE);
            if (permits != null) {
                limiter.release(permits);
            }
        }

        @Actor
        public void waitForBoth() {
            waiting = patient(limiter, KEYSPACE);
        }

        @Arbiter
        public void account(II_Result result) {
            result.r1 = outcome(waiting);
            result.r2 = (int) limiter.heldPermits();
        }
    }

    /** A release and the end of the time of one that waits for its keyspace's permit. */
    @JCStressTest
    @Outcome(id = "1, 2", expect = Expect.ACCEPTABLE, desc = "the permits came first")
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "its time was over first")
    @State
    public static class ReleaseMeetsDeadlineAtKeyspace {
        private final WorkerLimiter limiter = new WorkerLimiter(2, 1, CLOCK);
        private final WorkerLimiter.Keyspace held = limiter.tryAcquire(KEYSPACE);
        private final CompletableFuture<WorkerLimiter.Keyspace> waiting = late(limiter, KEYSPACE);

        @Actor
        public void release() {
            limiter.release(held);
        }

        @Actor
        public void sweep() {
            limiter.endLateWaits();
        }

        @Arbiter
        public void account(II_Result result) {
            result.r1 = outcome(waiting);
            result.r2 = (int) limiter.heldPermits();
        }
    }

    /** The same of one that has its keyspace's permit and waits for the global one. */
    @JCStressTest
    @Outcome(id = "1, 2", expect = Expect.ACCEPTABLE, desc = "the permit came first")
    @Outcome(
            id = "0, 0",
            expect = Expect.ACCEPTABLE,
            desc = "its time was over first, and its keyspace's permit is back")
    @State
    public static class ReleaseMeetsDeadlineAtAll {
        private final WorkerLimiter limiter = new WorkerLimiter(1, 1, CLOCK);
        private final WorkerLimiter.Keyspace held = limiter.tryAcquire(KEYSPACE);
        private final CompletableFuture<WorkerLimiter.Keyspace> waiting = late(limiter, OTHER_KEYSPACE);

        @Actor
        public void release() {
            limiter.release(held);
        }

        @Actor
        public void sweep() {
            limiter.endLateWaits();
        }

        @Arbiter
        public void account(II_Result result) {
            result.r1 = outcome(waiting);
            result.r2 = (int) limiter.heldPermits();
        }
    }

    /** A release, and a client that goes while its request waits. */
    @JCStressTest
    @Outcome(id = "1, 2", expect = Expect.ACCEPTABLE, desc = "the permits came first")
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "it gave up first")
    @State
    public static class ReleaseMeetsCancel {
        private final WorkerLimiter limiter = new WorkerLimiter(1, 1, CLOCK);
        private final WorkerLimiter.Keyspace held = limiter.tryAcquire(KEYSPACE);
        private final AtomicBoolean gone = new AtomicBoolean();
        private final CompletableFuture<WorkerLimiter.Keyspace> waiting =
                limiter.acquire(KEYSPACE, CLOCK.nanoTime() + NEVER, gone::get);

        @Actor
        public void release() {
            limiter.release(held);
        }

        @Actor
        public void go() {
            gone.set(true);
            limiter.endLateWaits();
        }

        @Arbiter
        public void account(II_Result result) {
            result.r1 = outcome(waiting);
            result.r2 = (int) limiter.heldPermits();
        }
    }

    /** The first of two that wait runs out of time while a permit comes: it goes to the first or, if that has gone, to the second. */
    @JCStressTest
    @Outcome(id = "1, -1, 2", expect = Expect.ACCEPTABLE, desc = "the first has it")
    @Outcome(id = "0, 1, 2", expect = Expect.ACCEPTABLE, desc = "the first was late, the second has it")
    @State
    public static class ReleaseMeetsDeadlineOfTheFirst {
        private final WorkerLimiter limiter = new WorkerLimiter(1, 1, CLOCK);
        private final WorkerLimiter.Keyspace held = limiter.tryAcquire(KEYSPACE);
        private final CompletableFuture<WorkerLimiter.Keyspace> first = late(limiter, KEYSPACE);
        private final CompletableFuture<WorkerLimiter.Keyspace> second = patient(limiter, KEYSPACE);

        @Actor
        public void release() {
            limiter.release(held);
        }

        @Actor
        public void sweep() {
            limiter.endLateWaits();
        }

        @Arbiter
        public void account(III_Result result) {
            result.r1 = outcome(first);
            result.r2 = outcome(second);
            result.r3 = (int) limiter.heldPermits();
        }
    }
}
