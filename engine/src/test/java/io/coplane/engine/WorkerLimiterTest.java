package io.coplane.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** worker.md 10. */
final class WorkerLimiterTest {
    private final ScheduledExecutorService timer =
            Executors.newScheduledThreadPool(1, task -> new Thread(task, "test-timer"));
    private final Clock clock = Clock.system();
    private final WorkerLimiter limiter = new WorkerLimiter(3, 2, timer, clock);

    @AfterEach
    void stopTimer() {
        timer.shutdownNow();
    }

    @ParameterizedTest
    @CsvSource({"4, 96, 384", "4, 32, 128", "1, 0.5, 2", "16, 1.5, 24"})
    void countsPermitsByTheFactor(double cores, double factor, int permits) {
        assertThat(DataPlaneConfig.permits(cores, factor)).isEqualTo(permits);
    }

    @Test
    void takesTheKeyspacePermitFirstAndThenTheGlobalOne() {
        var one = acquire(1, 60_000);
        var two = acquire(1, 60_000);
        var third = acquire(1, 60_000);
        assertThat(third).as("keyspace 1 is full").isNotDone();
        assertThat(limiter.freeGlobalPermits())
                .as("a waiter of a keyspace holds no global permit")
                .isEqualTo(1);

        var other = acquire(2, 60_000);
        assertThat(other).isCompleted();
        var fourth = acquire(2, 60_000);
        assertThat(fourth).as("no global permit is left").isNotDone();

        limiter.release(one.join());
        assertThat(fourth)
                .as("it waited for the global permit; the third still has to take one")
                .isCompleted();
        limiter.release(two.join());
        assertThat(third).isCompleted();
        limiter.release(other.join());
        limiter.release(third.join());
        limiter.release(fourth.join());
        assertThat(limiter.freeGlobalPermits()).isEqualTo(3);
    }

    @Test
    void aWaitEndsAtItsDeadlineAndFreesTheKeyspacePermit() {
        var held = List.of(acquire(1, 60_000), acquire(1, 60_000), acquire(2, 60_000));
        var late = acquire(3, 20);

        assertThatThrownBy(late::join)
                .cause()
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PERMIT_TIMEOUT))
                .hasMessage("wait permit timeout");
        held.forEach(permits -> limiter.release(permits.join()));
        var again = List.of(acquire(3, 60_000), acquire(3, 60_000));
        assertThat(again).as("keyspace 3 has both its permits").allMatch(CompletableFuture::isDone);
        again.forEach(permits -> limiter.release(permits.join()));
    }

    @Test
    void whoseClientIsGoneWaitsNoMore() {
        var held = List.of(acquire(1, 60_000), acquire(1, 60_000), acquire(2, 60_000));
        var gone = new AtomicBoolean();
        long deadline = clock.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        var atKeyspace = limiter.acquire(1, deadline, gone::get);
        var atAll = limiter.acquire(2, deadline, gone::get);
        assertThat(List.of(atKeyspace, atAll)).noneMatch(CompletableFuture::isDone);

        gone.set(true);

        for (var wait : List.of(atKeyspace, atAll)) {
            assertThatThrownBy(wait::join)
                    .cause()
                    .isInstanceOfSatisfying(
                            CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
        }
        held.forEach(permits -> limiter.release(permits.join()));
        assertThat(limiter.heldPermits()).isZero();
        assertThat(limiter.waiting()).isZero();
    }

    @Test
    void whoWouldHaveToWaitHoldsNothing() {
        var one = limiter.tryAcquire(1);
        var two = limiter.tryAcquire(1);
        assertThat(limiter.tryAcquire(1)).as("keyspace 1 is full").isNull();
        var three = limiter.tryAcquire(2);
        assertThat(limiter.tryAcquire(2)).as("no global permit").isNull();

        limiter.release(one);
        assertThat(limiter.tryAcquire(2))
                .as("its keyspace permit was given back")
                .isNotNull();
        limiter.release(two);
        limiter.release(three);
        limiter.release(three);
        assertThat(limiter.freeGlobalPermits()).isEqualTo(3);
    }

    @Test
    void aFreePermitCostsNoAllocation() {
        var bean = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        int rounds = 100_000;
        use(rounds); // classes, and the keyspaces
        long before = bean.getCurrentThreadAllocatedBytes();
        use(rounds);
        long allocated = bean.getCurrentThreadAllocatedBytes() - before;

        assertThat(allocated).as("bytes in " + rounds + " rounds").isLessThan(rounds); // not one a round
    }

    private void use(int rounds) {
        for (int i = 0; i < rounds; i++) {
            WorkerLimiter.Keyspace permits = limiter.tryAcquire(1000 + i % 500);
            if (permits == null) {
                throw new AssertionError("a free permit");
            }
            limiter.release(permits);
        }
    }

    @Test
    void keyspacesWithoutWorkAreForgottenOnceThereAreVeryMany() {
        var held = limiter.tryAcquire(-1);
        for (int id = 0; id < 200_000; id++) {
            limiter.release(limiter.tryAcquire(id));
        }
        var second = limiter.tryAcquire(-1);

        assertThat(second).as("the same keyspace").isSameAs(held);
        assertThat(limiter.tryAcquire(-1)).as("its permits are counted on").isNull();
        limiter.release(held);
        limiter.release(second);
    }

    /** Threads that take, wait, and give up by deadline: never more than the permits are out, and all come back. */
    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void deadlinesAmongCrowdsLoseNoPermit(long seed) throws InterruptedException {
        AtomicInteger inWork = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger timeouts = new AtomicInteger();
        AtomicInteger served = new AtomicInteger();
        List<WorkerLimiter.Keyspace> held = List.of(limiter.tryAcquire(0), limiter.tryAcquire(1)); // one permit is left
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 6; t++) {
            SplittableRandom random = new SplittableRandom(seed + t);
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 600; i++) {
                    try {
                        WorkerLimiter.Keyspace permits = limiter.acquire(
                                        random.nextInt(2),
                                        clock.nanoTime() + random.nextInt(200_000) - 50_000,
                                        () -> false)
                                .join();
                        most.accumulateAndGet(inWork.incrementAndGet(), Math::max);
                        if (random.nextInt(200) == 0) {
                            LockSupport.parkNanos(11_000_000); // beyond a sweep
                        }
                        inWork.decrementAndGet();
                        served.incrementAndGet();
                        limiter.release(permits);
                    } catch (CompletionException e) {
                        timeouts.incrementAndGet();
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        held.forEach(limiter::release);
        assertThat(most.get()).isEqualTo(1);
        assertThat(served.get() + timeouts.get()).isEqualTo(6 * 600);
        assertThat(served.get()).isPositive();
        assertThat(timeouts.get()).isPositive();
        assertThat(limiter.freeGlobalPermits()).isEqualTo(3);
        assertThat(limiter.waiting()).isZero();
        for (int keyspace = 0; keyspace < 2; keyspace++) {
            assertThat(limiter.tryAcquire(keyspace)).isNotNull();
        }
    }

    private CompletableFuture<WorkerLimiter.Keyspace> acquire(int keyspaceId, long millis) {
        return limiter.acquire(keyspaceId, clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis), () -> false);
    }
}
