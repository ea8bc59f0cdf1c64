package io.coplane.nativecache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** snapshot.md 4.3, worker.md 11. */
final class MemoryLimiterTest {
    private final MemoryLimiter limiter = new MemoryLimiter(1024);

    @Test
    void followsTheReferenceVector() {
        MemoryGuard first = limiter.acquire(512);
        assertThat(limiter.usedBytes()).isEqualTo(512);
        MemoryGuard second = limiter.acquire(512);
        assertThat(limiter.usedBytes()).isEqualTo(1024);

        var refused = catchThrowableOfType(MemoryLimitException.class, () -> limiter.acquire(1));
        assertThat(refused.exceededBytes()).isEqualTo(1);
        assertThat(refused.code()).isEqualTo(ErrorCode.MEMORY_LIMIT);

        first.close();
        assertThat(limiter.usedBytes()).isEqualTo(512);
        second.close();
        assertThat(limiter.usedBytes()).isZero();
        limiter.acquire(0).close();
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void refusesMoreThanTheCapWithoutReserving() {
        var refused = catchThrowableOfType(MemoryLimitException.class, () -> limiter.acquire(1030));

        assertThat(refused.exceededBytes()).isEqualTo(6);
        assertThat(limiter.usedBytes()).isZero();
        var huge = catchThrowableOfType(MemoryLimitException.class, () -> limiter.acquire(Long.MAX_VALUE));
        assertThat(huge.exceededBytes()).isEqualTo(Long.MAX_VALUE - 1024);
    }

    @Test
    void refusesNegativeBytes() {
        assertThatThrownBy(() -> limiter.acquire(-1)).isInstanceOf(CoplaneException.class);
        assertThatThrownBy(() -> new MemoryLimiter(-1)).isInstanceOf(CoplaneException.class);
    }

    @Test
    void chargesWithinTheAdmissionCostNothing() {
        try (MemoryGuard guard = limiter.acquire(100)) {
            guard.charge(100);
            assertThat(limiter.usedBytes()).isEqualTo(100);
            guard.charge(50);
            assertThat(limiter.usedBytes()).isEqualTo(150);
            guard.release(60);
            assertThat(limiter.usedBytes()).isEqualTo(100);
            assertThat(guard.chargedBytes()).isEqualTo(90);
            guard.release(90);
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void aGuardWithinAnotherRefusesWhatWasNotAdmitted() {
        try (MemoryGuard outer = limiter.acquire(100)) {
            var asked = new ArrayList<Long>();
            MemoryGuard guard = outer.within(asked::add);

            guard.charge(90);
            assertThat(outer.chargedBytes()).isEqualTo(90);
            assertThatThrownBy(() -> guard.charge(15)).isInstanceOf(MemoryLimitException.class);
            assertThatThrownBy(() -> guard.charge(101)).isInstanceOf(MemoryLimitException.class);

            assertThat(asked).containsExactly(5L); // what can never fit is not asked for
            assertThat(guard.chargedBytes()).isEqualTo(90);
            assertThat(outer.chargedBytes()).isEqualTo(90);
            assertThat(limiter.usedBytes()).isEqualTo(100);
            guard.release(90);
            assertThat(outer.chargedBytes()).isZero();
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void aGuardWithinAnotherChargesOnceEnoughIsGivenUp() {
        try (MemoryGuard outer = limiter.acquire(100)) {
            var guard = new MemoryGuard[1];
            guard[0] = outer.within(missing -> guard[0].release(missing));
            guard[0].charge(90);

            guard[0].charge(15);

            assertThat(outer.chargedBytes()).isEqualTo(100);
            guard[0].release(100);
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void aGuardWithinOneThatAdmittedNothingIsBoundByTheLimiter() {
        try (MemoryGuard outer = limiter.acquire(0)) {
            MemoryGuard guard = outer.within(missing -> {});

            guard.charge(1024);
            assertThatThrownBy(() -> guard.charge(1)).isInstanceOf(MemoryLimitException.class);

            assertThat(guard.chargedBytes()).isEqualTo(1024);
            guard.release(1024);
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void aRefusedChargeChargesNothing() {
        try (MemoryGuard guard = limiter.acquire(1000)) {
            guard.charge(1000);
            assertThatThrownBy(() -> guard.charge(25)).isInstanceOf(MemoryLimitException.class);
            assertThat(guard.chargedBytes()).isEqualTo(1000);
            guard.charge(24);
            guard.release(1024);
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void releasingMoreThanChargedIsABug() {
        try (MemoryGuard guard = limiter.acquire(10)) {
            guard.charge(5);
            assertThatThrownBy(() -> guard.release(6)).hasMessageContaining("released more than charged");
            assertThat(guard.chargedBytes()).isEqualTo(5);
            guard.release(5);
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void closingTwiceGivesBackOnce() {
        MemoryGuard guard = limiter.acquire(10);
        guard.close();
        guard.close();
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void manyThreadsEndAtZeroAndNeverPassTheCap() throws InterruptedException {
        var shared = new MemoryLimiter(10_000);
        int threads = 8;
        var start = new CountDownLatch(1);
        List<Thread> running = new ArrayList<>();
        List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
        for (int t = 0; t < threads; t++) {
            var random = new SplittableRandom(t);
            running.add(Thread.ofPlatform()
                    .uncaughtExceptionHandler((thread, e) -> failures.add(e))
                    .start(() -> {
                        awaitStart(start);
                        for (int i = 0; i < 20_000; i++) {
                            churn(shared, random);
                        }
                    }));
        }
        start.countDown();
        for (Thread thread : running) {
            thread.join();
        }

        assertThat(failures).isEmpty();
        assertThat(shared.usedBytes()).isZero();
    }

    private static void awaitStart(CountDownLatch start) {
        try {
            start.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** One admission with charges around it; refusals are expected. */
    private static void churn(MemoryLimiter limiter, SplittableRandom random) {
        try (MemoryGuard guard = limiter.acquire(random.nextInt(4_000))) {
            long bytes = random.nextInt(6_000);
            guard.charge(bytes);
            guard.release(bytes);
        } catch (MemoryLimitException e) {
            assertThat(e.exceededBytes()).isPositive();
        }
    }
}
