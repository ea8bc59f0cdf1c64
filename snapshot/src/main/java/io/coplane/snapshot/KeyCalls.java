package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Calls of key services (worker.md 17), which may take long: each on a virtual thread of its own, so that none holds a thread of a pool. At most 16 run at
 * one time, the others wait for them; whoever asked waits for a bounded time, whether his call runs or waits. Thread-safe.
 */
public final class KeyCalls {
    /** How long somebody waits for a key. Longer than a call of AWS KMS lasts, so that its own error is told where there is one. */
    public static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final int MOST_AT_ONCE = 16;

    private final Semaphore slots = new Semaphore(MOST_AT_ONCE, true);
    private final Executor threads =
            task -> Thread.ofVirtual().name("coplane-key-service").start(task);
    private final Duration patience;

    /** @param patience how long somebody waits for a call */
    public KeyCalls(Duration patience) {
        this.patience = patience;
    }

    /**
     * Makes a call.
     *
     * @param call may block; its end is its own time-out's affair
     * @return completed by the call's thread: heavy work belongs elsewhere. Fails with what the call raises, or with {@link CoplaneException}
     *     STORE_UNAVAILABLE if the time is over
     */
    public <T> CompletableFuture<T> call(int keyspaceId, Supplier<T> call) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        threads.execute(() -> run(call, answer));
        return answer.orTimeout(patience.toMillis(), TimeUnit.MILLISECONDS)
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(
                        failure instanceof TimeoutException ? late(keyspaceId) : failure));
    }

    private <T> void run(Supplier<T> call, CompletableFuture<T> answer) {
        slots.acquireUninterruptibly();
        try {
            if (!answer.isDone()) { // else nobody waits any more
                answer.complete(call.get());
            }
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        } finally {
            slots.release();
        }
    }

    private CoplaneException late(int keyspaceId) {
        return new CoplaneException(
                ErrorCode.STORE_UNAVAILABLE,
                "the key service does not answer: keyspace=" + Integer.toUnsignedString(keyspaceId) + " waitedMillis="
                        + patience.toMillis());
    }
}
