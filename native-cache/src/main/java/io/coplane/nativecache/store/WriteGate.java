package io.coplane.nativecache.store;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Lets one writer into memory until its future completes, and lets any thread end it at any time: who ends it in the middle of a write leaves the
 * ending to the writer. So once {@link #future} has completed, nobody writes. Lock-free.
 */
final class WriteGate {
    private enum State {
        IDLE,
        WRITING,
        /** Failed while a piece is being written: its writer ends it. */
        ENDING,
        ENDED
    }

    private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);
    private final CompletableFuture<MemorySegment> future = new CompletableFuture<>();
    private final Consumer<Throwable> beforeFailure;
    private volatile Throwable reason;

    /** @param beforeFailure runs once, before the future fails */
    WriteGate(Consumer<Throwable> beforeFailure) {
        this.beforeFailure = beforeFailure;
    }

    CompletableFuture<MemorySegment> future() {
        return future;
    }

    boolean isEnded() {
        return state.get() == State.ENDED;
    }

    /** Runs {@code piece}, by the one writer. @return false if the end came before: nothing was run */
    boolean write(Runnable piece) {
        if (!state.compareAndSet(State.IDLE, State.WRITING)) {
            return false;
        }
        try {
            piece.run();
        } finally {
            if (!state.compareAndSet(State.WRITING, State.IDLE)) {
                state.set(State.ENDED);
                endFailed(reason);
            }
        }
        return true;
    }

    /** Ends well, by the writer. @return false if a failure came before */
    boolean complete(MemorySegment bytes) {
        return state.compareAndSet(State.IDLE, State.ENDED) && future.complete(bytes);
    }

    /** Ends it badly, by any thread. */
    void fail(Throwable why) {
        while (true) {
            switch (state.get()) {
                case IDLE -> {
                    if (state.compareAndSet(State.IDLE, State.ENDED)) {
                        endFailed(why);
                        return;
                    }
                }
                case WRITING -> {
                    reason = why; // published by the exchange; of two at the same time either is true
                    if (state.compareAndSet(State.WRITING, State.ENDING)) {
                        return;
                    }
                }
                case ENDING, ENDED -> {
                    return;
                }
            }
        }
    }

    private void endFailed(Throwable why) {
        beforeFailure.accept(why);
        future.completeExceptionally(why);
    }
}
