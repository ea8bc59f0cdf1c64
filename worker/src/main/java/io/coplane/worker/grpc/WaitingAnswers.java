package io.coplane.worker.grpc;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;

/**
 * Bounds the answers that wait in native memory for clients which do not read them: each that is not short is charged until its call is over, and together they
 * hold at most a quarter of the limiter's cap. Thread-safe.
 */
final class WaitingAnswers {
    private static final int PART = 4;

    /** Shorter ones hold no more than their calls do, whose number is bounded. */
    private static final int COUNTED_BYTES = 4 << 10;

    private final MemoryLimiter memory;
    private final MemoryLimiter waiting;

    /** @param memory what answers are charged to */
    WaitingAnswers(MemoryLimiter memory) {
        this.memory = memory;
        waiting = new MemoryLimiter(memory.capBytes() / PART);
    }

    /** Room for the answer of one call, given back when the call is over. */
    Room room() {
        return new Room();
    }

    /** Owns what the answer of a call is charged with until {@link #close()}. Thread-safe. */
    final class Room implements AutoCloseable {
        private MemoryGuard part; // of all that wait
        private MemoryGuard charge;
        private boolean closed;

        private Room() {}

        /**
         * Takes room for the call's one answer. After the end of the call there is always room, since nothing is sent.
         *
         * @throws MemoryLimitException if there is none; nothing is taken then
         */
        synchronized void take(long bytes) {
            if (closed || bytes < COUNTED_BYTES) {
                return;
            }
            part = waiting.acquire(Math.min(bytes, waiting.capBytes())); // one that is larger goes out alone
            try {
                charge = memory.acquire(bytes);
            } catch (MemoryLimitException e) {
                free();
                throw e;
            }
        }

        /** Idempotent. */
        @Override
        public synchronized void close() {
            closed = true;
            free();
        }

        private void free() {
            if (charge != null) {
                charge.close();
                charge = null;
            }
            if (part != null) {
                part.close();
                part = null;
            }
        }
    }
}
