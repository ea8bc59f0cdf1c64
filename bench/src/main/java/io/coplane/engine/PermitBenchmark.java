package io.coplane.engine;

import io.coplane.nativecache.Clock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What do both permits of a request cost (worker.md 10) against two fair semaphores of the JDK, one for the keyspace and one for all? Goals: 0.9 times its
 * speed or better where permits are free, 2 times where they are not, and no allocation where they are free ({@code -prof gc}).
 *
 * <p>Where permits are free, a request takes both and gives them back. Where they are not, eight threads want two permits, and whoever has them works for
 * a while. A thread of the JDK's has to stand and wait. Ours is measured twice: {@code contendedOurs} as the worker does it, a request goes on when its permits
 * come while its thread takes the next one; {@code contendedOursJoined} with a thread that stands and waits, which nothing in the worker does.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("FutureReturnValueIgnored") // a request goes on by itself; the hand counts it
public class PermitBenchmark {
    private static final int KEYSPACE = 7;
    private static final int WORK_TOKENS = 200;

    /** Requests that one thread has in hand at one time. */
    private static final int IN_HAND = 32;

    private static final long NEVER = Long.MAX_VALUE / 2;

    private ScheduledExecutorService timer;
    private WorkerLimiter free;
    private WorkerLimiter scarce;
    private final Semaphore freeKeyspace = new Semaphore(128, true);
    private final Semaphore freeGlobal = new Semaphore(384, true);
    private final Semaphore scarceKeyspace = new Semaphore(2, true);
    private final Semaphore scarceGlobal = new Semaphore(2, true);

    @Setup
    public void open() {
        timer = Executors.newScheduledThreadPool(
                1, Thread.ofPlatform().name("benchmark-timer").daemon().factory());
        free = new WorkerLimiter(384, 128, timer, Clock.system());
        scarce = new WorkerLimiter(2, 2, timer, Clock.system());
    }

    @TearDown
    public void close() {
        timer.shutdownNow();
    }

    /** Requests of one thread. */
    @State(Scope.Thread)
    public static class Hand {
        private final AtomicInteger inHand = new AtomicInteger();

        /** Waits for the last requests, so that none is left over for the next iteration. */
        @TearDown(Level.Iteration)
        public void drain() {
            while (inHand.get() > 0) {
                Thread.onSpinWait();
            }
        }
    }

    @Benchmark
    @Threads(1)
    public int freeOurs() {
        return useOurs();
    }

    @Benchmark
    @Threads(1)
    public int freeJdk() throws InterruptedException {
        return useJdks();
    }

    @Benchmark
    @Threads(2)
    public int freeOursTwoThreads() {
        return useOurs();
    }

    @Benchmark
    @Threads(2)
    public int freeJdkTwoThreads() throws InterruptedException {
        return useJdks();
    }

    @Benchmark
    @Threads(8)
    public void contendedOurs(Hand hand) {
        while (hand.inHand.get() >= IN_HAND) {
            Thread.onSpinWait();
        }
        WorkerLimiter.Keyspace permits = scarce.tryAcquire(KEYSPACE);
        if (permits != null) {
            Blackhole.consumeCPU(WORK_TOKENS);
            scarce.release(permits);
            return;
        }
        hand.inHand.incrementAndGet();
        scarce.acquire(KEYSPACE, NEVER, () -> false).whenComplete((taken, failure) -> {
            Blackhole.consumeCPU(WORK_TOKENS);
            scarce.release(taken);
            hand.inHand.decrementAndGet();
        });
    }

    @Benchmark
    @Threads(8)
    public void contendedOursJoined() {
        WorkerLimiter.Keyspace permits = scarce.tryAcquire(KEYSPACE);
        if (permits == null) {
            CompletableFuture<WorkerLimiter.Keyspace> waiting = scarce.acquire(KEYSPACE, NEVER, () -> false);
            permits = waiting.join();
        }
        Blackhole.consumeCPU(WORK_TOKENS);
        scarce.release(permits);
    }

    @Benchmark
    @Threads(8)
    public void contendedJdk() throws InterruptedException {
        scarceKeyspace.acquire();
        scarceGlobal.acquire();
        Blackhole.consumeCPU(WORK_TOKENS);
        scarceGlobal.release();
        scarceKeyspace.release();
    }

    private int useOurs() {
        WorkerLimiter.Keyspace permits = free.tryAcquire(KEYSPACE);
        int left = free.freeGlobalPermits();
        free.release(permits);
        return left;
    }

    private int useJdks() throws InterruptedException {
        freeKeyspace.acquire();
        freeGlobal.acquire();
        int left = freeGlobal.availablePermits();
        freeGlobal.release();
        freeKeyspace.release();
        return left;
    }
}
