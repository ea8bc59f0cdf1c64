package io.coplane.nativecache;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIJ_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.J_Result;

/** What several threads may see of one limiter and one guard. Run as docs/benchmarks.md says. */
public final class MemoryGuardStress {
    private MemoryGuardStress() {}

    /** Two admissions that fit one at a time: both may fail together (snapshot.md 4.3), both may never succeed. */
    @JCStressTest
    @Outcome(id = "1, 0, 0", expect = Expect.ACCEPTABLE, desc = "the first got it")
    @Outcome(id = "0, 1, 0", expect = Expect.ACCEPTABLE, desc = "the second got it")
    @Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "one after the other")
    @Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "they saw each other's try")
    @State
    public static class Admissions {
        private final MemoryLimiter limiter = new MemoryLimiter(10);

        @Actor
        public void first(IIJ_Result result) {
            result.r1 = admit();
        }

        @Actor
        public void second(IIJ_Result result) {
            result.r2 = admit();
        }

        @Arbiter
        public void account(IIJ_Result result) {
            result.r3 = limiter.usedBytes();
        }

        private int admit() {
            try (MemoryGuard guard = limiter.acquire(6)) {
                return limiter.usedBytes() <= 16 && guard.admittedBytes() == 6 ? 1 : 2;
            } catch (MemoryLimitException e) {
                return 0;
            }
        }
    }

    /** Charges that are refused and charges that are not, on one guard: nothing of the refused ones stays in the account. */
    @JCStressTest
    @Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "the account is zero again")
    @State
    public static class RefusedCharges {
        private final MemoryLimiter limiter = new MemoryLimiter(20);
        private final MemoryGuard guard = limiter.acquire(8);

        @Actor
        public void tooMuch() {
            chargeAndRelease(18);
        }

        @Actor
        public void little() {
            chargeAndRelease(5);
        }

        private void chargeAndRelease(long bytes) {
            try {
                guard.charge(bytes);
            } catch (MemoryLimitException e) {
                return;
            }
            guard.release(bytes);
        }

        @Arbiter
        public void account(J_Result result) {
            guard.close();
            result.r1 = limiter.usedBytes();
        }
    }

    /** Closing a guard from two threads gives its admission back once. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "given back once")
    @State
    public static class TwoCloses {
        private final MemoryLimiter limiter = new MemoryLimiter(20);
        private final MemoryGuard guard = limiter.acquire(8);

        @Actor
        public void one() {
            guard.close();
        }

        @Actor
        public void other() {
            guard.close();
        }

        @Arbiter
        public void account(II_Result result) {
            result.r1 = (int) limiter.usedBytes();
            result.r2 = (int) guard.chargedBytes();
        }
    }
}
