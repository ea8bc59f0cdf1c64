package io.coplane.testing;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what other threads do. */
public final class Waits {
    /** So long that only a fault takes it, however slow the machine is. */
    private static final Duration MOST = Duration.ofMinutes(2);

    private static final long PAUSE_NANOS = 1_000_000;

    private Waits() {}

    /** Waits until a condition holds, which is asked every millisecond. Fails after two minutes, or by an interrupt. */
    public static void until(BooleanSupplier condition) {
        long end = System.nanoTime() + MOST.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("waited in vain: seconds=" + MOST.toSeconds());
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new AssertionError("interrupted while it waited");
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
