package io.coplane.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class AsyncSemaphoreTest {
    private final AsyncSemaphore semaphore = new AsyncSemaphore(2);

    @Test
    void handsOutFreePermitsAtOnce() {
        assertThat(semaphore.tryAcquire()).isTrue();
        assertThat(semaphore.acquire()).isCompleted();
        assertThat(semaphore.tryAcquire()).isFalse();
        assertThat(semaphore.freePermits()).isZero();
    }

    @Test
    void wakesWaitersInTheOrderTheyCame() {
        semaphore.tryAcquire();
        semaphore.tryAcquire();
        var first = semaphore.acquire();
        var second = semaphore.acquire();

        semaphore.release();
        assertThat(first).isCompleted();
        assertThat(second).isNotDone();
        semaphore.release();
        assertThat(second).isCompleted();
    }

    @Test
    void nobodyOvertakesAWaiter() {
        var all = List.of(semaphore.acquire(), semaphore.acquire());
        var waiter = semaphore.acquire();

        assertThat(semaphore.tryAcquire()).isFalse();
        semaphore.release();
        assertThat(all).allMatch(CompletableFuture::isDone);
        assertThat(waiter).isCompleted();
        assertThat(semaphore.tryAcquire()).isFalse();
    }

    @Test
    void whoGivesUpLosesNoPermit() {
        semaphore.tryAcquire();
        semaphore.tryAcquire();
        var patient = semaphore.acquire();
        var gaveUp = semaphore.acquire();
        var last = semaphore.acquire();

        assertThat(semaphore.cancel(gaveUp)).isTrue();
        semaphore.release();
        semaphore.release();
        assertThat(patient).isCompleted();
        assertThat(last).isCompleted();
        assertThat(semaphore.cancel(last)).as("the permit came first").isFalse();
        semaphore.release();
        semaphore.release();
        assertThat(semaphore.isIdle()).isTrue();
    }

    /** Who asked before another one began to ask is served before him; ten threads, one permit. */
    @Test
    void crowdsAreServedInTheOrderInWhichTheyAsked() throws InterruptedException {
        var one = new AsyncSemaphore(1);
        var stamps = new AtomicLong();
        int threadCount = 10;
        int rounds = 3_000;
        long[][] asked =
                new long[threadCount * rounds][]; // when it began to ask, when it had asked, when it was served
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < threadCount; t++) {
            int base = t * rounds;
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < rounds; i++) {
                    long begin = stamps.incrementAndGet();
                    CompletableFuture<Void> waiter = one.acquire();
                    long end = stamps.incrementAndGet();
                    waiter.join();
                    asked[base + i] = new long[] {begin, end, stamps.incrementAndGet()}; // while it has the permit
                    one.release();
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        Arrays.sort(asked, Comparator.comparingLong(stamp -> stamp[2])); // as they were served
        long latestBegin = 0;
        for (long[] stamp : asked) {
            assertThat(stamp[1])
                    .as("asked before one began to ask that was served earlier")
                    .isGreaterThan(latestBegin);
            latestBegin = Math.max(latestBegin, stamp[0]);
        }
        assertThat(one.isIdle()).isTrue();
    }

    @Test
    void waitersThatGiveBackAtOnceMakeNoDeepStack() {
        var one = new AsyncSemaphore(1);
        assertThat(one.tryAcquire()).isTrue();
        AtomicLong served = new AtomicLong();
        for (int i = 0; i < 100_000; i++) {
            CompletableFuture<Void> done = one.acquire().thenRun(() -> {
                served.incrementAndGet();
                one.release();
            });
            assertThat(done).isNotDone();
        }

        one.release();

        assertThat(served).hasValue(100_000);
        assertThat(one.isIdle()).isTrue();
    }

    @Test
    void manyThreadsNeverHoldMoreThanThePermitsAndLoseNone() throws InterruptedException {
        int permits = 3;
        var shared = new AsyncSemaphore(permits);
        var holders = new AtomicInteger();
        var most = new AtomicInteger();
        var start = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            var random = new SplittableRandom(t);
            threads.add(Thread.ofPlatform().start(() -> {
                awaitStart(start);
                for (int i = 0; i < 20_000; i++) {
                    useOnce(shared, random, holders, most);
                }
            }));
        }
        start.countDown();
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(most.get()).isBetween(1, permits);
        assertThat(shared.freePermits()).isEqualTo(permits);
        assertThat(shared.isIdle()).isTrue();
    }

    private static void awaitStart(CountDownLatch start) {
        try {
            start.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void useOnce(
            AsyncSemaphore shared, SplittableRandom random, AtomicInteger holders, AtomicInteger most) {
        if (!shared.tryAcquire()) {
            CompletableFuture<Void> waiter = shared.acquire();
            if (random.nextBoolean() && shared.cancel(waiter)) {
                return;
            }
            waiter.join();
        }
        most.accumulateAndGet(holders.incrementAndGet(), Math::max);
        holders.decrementAndGet();
        shared.release();
    }
}
