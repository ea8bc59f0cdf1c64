package io.coplane.engine;

import java.util.concurrent.CompletableFuture;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** What several threads may see of the permits. Run as docs/benchmarks.md says. */
public final class AsyncSemaphoreStress {
    private AsyncSemaphoreStress() {}

    /** A release and a wait for the only permit: the waiter gets it, whoever comes first. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "the waiter has the permit")
    @State
    public static class ReleaseMeetsWait {
        private final AsyncSemaphore semaphore = new AsyncSemaphore(1);
        private CompletableFuture<Void> waiter;

        public ReleaseMeetsWait() {
            if (!semaphore.tryAcquire()) {
                throw new IllegalStateException("a fresh permit");
            }
        }

        @Actor
        public void release() {
            semaphore.release();
        }

        @Actor
        public void waitForIt() {
            waiter = semaphore.acquire();
        }

        @Arbiter
        public void account(II_Result result) {
            result.r1 = waiter.isDone() ? 1 : 0;
            result.r2 = semaphore.freePermits();
        }
    }

    /** A release and a cancellation: the permit goes to the waiter or stays free, and is never lost. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "the permit came first")
    @Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "the waiter gave up first")
    @State
    public static class ReleaseMeetsCancel {
        private final AsyncSemaphore semaphore = new AsyncSemaphore(1);
        private final CompletableFuture<Void> waiter;
        private boolean gaveUp;

        public ReleaseMeetsCancel() {
            if (!semaphore.tryAcquire()) {
                throw new IllegalStateException("a fresh permit");
            }
            waiter = semaphore.acquire();
        }

        @Actor
        public void release() {
            semaphore.release();
        }

        @Actor
        public void cancel() {
            gaveUp = semaphore.cancel(waiter);
        }

        @Arbiter
        public void account(II_Result result) {
            result.r1 = gaveUp ? 0 : 1;
            result.r2 = semaphore.freePermits();
        }
    }

    /** One thread takes and gives back, the other waits: in the end the waiter has the permit. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "nothing is lost, nothing is handed out twice")
    @State
    public static class UseMeetsWait {
        private final AsyncSemaphore semaphore = new AsyncSemaphore(1);
        private CompletableFuture<Void> waiter;

        @Actor
        public void use() {
            if (semaphore.tryAcquire()) {
                semaphore.release();
            }
        }

        @Actor
        public void waitForOne() {
            waiter = semaphore.acquire();
        }

        @Arbiter
        public void account(II_Result result) {
            result.r1 = waiter.isDone() ? 1 : 0;
            result.r2 = semaphore.freePermits();
        }
    }
}
