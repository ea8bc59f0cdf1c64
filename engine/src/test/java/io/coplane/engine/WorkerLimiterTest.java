package io.coplane.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

        one.join().close();
        assertThat(fourth)
                .as("it waited for the global permit; the third still has to take one")
                .isCompleted();
        two.join().close();
        assertThat(third).isCompleted();
        other.join().close();
        third.join().close();
        fourth.join().close();
        assertThat(limiter.freeGlobalPermits()).isEqualTo(3);
    }

    @Test
    void aWaitEndsAtItsDeadlineAndFreesTheKeyspacePermit() {
        var held = java.util.List.of(acquire(1, 60_000), acquire(1, 60_000), acquire(2, 60_000));
        var late = acquire(3, 20);

        assertThatThrownBy(late::join)
                .cause()
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PERMIT_TIMEOUT))
                .hasMessage("wait permit timeout");
        held.forEach(permit -> permit.join().close());
        var again = java.util.List.of(acquire(3, 60_000), acquire(3, 60_000));
        assertThat(again).as("keyspace 3 has both its permits").allMatch(CompletableFuture::isDone);
        again.forEach(permit -> permit.join().close());
    }

    @Test
    void closingAPermitTwiceGivesBackOnce() {
        var permit = acquire(1, 60_000).join();
        permit.close();
        permit.close();
        assertThat(limiter.freeGlobalPermits()).isEqualTo(3);
    }

    private CompletableFuture<WorkerLimiter.Permit> acquire(int keyspaceId, long millis) {
        return limiter.acquire(keyspaceId, clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis));
    }
}
