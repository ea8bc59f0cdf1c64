package io.coplane.compaction;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.sst.NativeBytes;
import java.util.ArrayDeque;

/** Memory that files are built in, used again once a file is uploaded: so the second file costs no new pages. Owns what is spare. One thread. */
final class FileMemory implements AutoCloseable {
    /** One is filled while the other's file is on its way. */
    private static final int MOST_SPARE = 2;

    private final MemoryGuard guard;
    private final ArrayDeque<NativeBytes> spare = new ArrayDeque<>();

    FileMemory(MemoryGuard guard) {
        this.guard = guard;
    }

    /** Memory for a file; the caller's. */
    NativeBytes take() {
        NativeBytes used = spare.pollLast();
        return used == null ? new NativeBytes(guard) : used;
    }

    /** Takes memory that isn't used any more. */
    void giveBack(NativeBytes memory) {
        if (memory.capacity() == 0 || spare.size() == MOST_SPARE) {
            memory.close();
        } else {
            spare.add(memory);
        }
    }

    /** Frees what is spare. @return whether there was any */
    boolean freeSpare() {
        boolean any = !spare.isEmpty();
        spare.forEach(NativeBytes::close);
        spare.clear();
        return any;
    }

    /** Frees what is spare. Idempotent. */
    @Override
    public void close() {
        freeSpare();
    }
}
