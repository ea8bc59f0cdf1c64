package io.coplane.worker.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How many bytes of answers may wait on the heap for clients that do not read them: beyond, an answer is given up for one that says to come again. Short answers are
 * not counted. Thread-safe.
 */
final class AnswerBudget {
    /** Shorter ones are copied to the socket's buffers about at once. */
    private static final int COUNTED_BYTES = 16 << 10;

    private final long mostBytes;
    private final AtomicLong heldBytes = new AtomicLong();

    /** @param mostBytes at least 0 */
    AnswerBudget(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /** @return bytes to {@link #giveBack}; -1 if there is no room, then nothing is taken. An answer is let through if none other waits */
    long take(long bytes) {
        if (bytes < COUNTED_BYTES) {
            return 0;
        }
        long held = heldBytes.addAndGet(bytes);
        if (held > mostBytes && held > bytes) {
            heldBytes.addAndGet(-bytes);
            return -1;
        }
        return bytes;
    }

    void giveBack(long bytes) {
        heldBytes.addAndGet(-bytes);
    }
}
