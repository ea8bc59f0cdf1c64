package io.coplane.engine;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/** What does a permit cost against the JDK's fair semaphore? Expected: no more where one is free, alone and with two threads. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class PermitBenchmark {
    private final AsyncSemaphore ours = new AsyncSemaphore(64);
    private final Semaphore jdks = new Semaphore(64, true);

    @Benchmark
    @Threads(1)
    public boolean oursAlone() {
        return useOurs();
    }

    @Benchmark
    @Threads(1)
    public boolean jdkAlone() {
        return useJdks();
    }

    @Benchmark
    @Threads(2)
    public boolean oursWithTwoThreads() {
        return useOurs();
    }

    @Benchmark
    @Threads(2)
    public boolean jdkWithTwoThreads() {
        return useJdks();
    }

    private boolean useOurs() {
        boolean taken = ours.tryAcquire();
        ours.release();
        return taken;
    }

    private boolean useJdks() {
        boolean taken = jdks.tryAcquire();
        jdks.release();
        return taken;
    }
}
