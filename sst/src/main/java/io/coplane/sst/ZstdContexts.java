package io.coplane.sst;

import com.github.luben.zstd.ZstdDecompressCtx;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Decompression states of zstd that are used over and over: making one for every block costs a sixth of the block's time. At most
 * {@value #SLOTS} idle ones live on in the process, and each thread that decompresses has one. They are outside of all accounts, as the threads' stacks are: a
 * state takes 160 KiB, of which it touched 13 KiB in blocks of up to 256 KiB, and there are never more than threads and slots. Lock-free, thread-safe.
 */
final class ZstdContexts {
    static final int SLOTS = 16;

    private static final AtomicReferenceArray<ZstdDecompressCtx> IDLE = new AtomicReferenceArray<>(SLOTS);

    private ZstdContexts() {}

    /** Takes an idle state, or makes one. The caller gives it back. */
    static ZstdDecompressCtx take() {
        int first = firstSlot();
        for (int i = 0; i < SLOTS; i++) {
            ZstdDecompressCtx context = IDLE.getAndSet((first + i) % SLOTS, null);
            if (context != null) {
                return context;
            }
        }
        return new ZstdDecompressCtx();
    }

    static void giveBack(ZstdDecompressCtx context) {
        int first = firstSlot();
        for (int i = 0; i < SLOTS; i++) {
            if (IDLE.compareAndSet((first + i) % SLOTS, null, context)) {
                return;
            }
        }
        context.close();
    }

    /** Threads begin at different slots, so that they seldom meet. */
    private static int firstSlot() {
        return (int) (Thread.currentThread().threadId() % SLOTS);
    }
}
