package io.coplane.nativecache.cache;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Native memory for values of block size: slabs that are cut into equal slots, a row of slabs for each slot size.
 *
 * <p>Blocks come and go by the ten thousand a second, and freeing an arena costs a handshake with every thread; a slot costs a short lock of its
 * size's row. A slab whose slots are all free goes back at once unless it is the only one of its row with room; {@link #trim} takes those as well.
 *
 * <p>Every slab is charged whole to the guard. Thread-safe.
 */
final class Slabs {
    /** Slots are multiples of this. */
    static final int STEP_BYTES = 4 << 10;

    /** Larger values get an arena of their own. */
    static final int MOST_SLOT_BYTES = 256 << 10;

    private static final int SLAB_BYTES = 1 << 20;

    private final MemoryGuard guard;
    private volatile boolean closing;
    private final Row[] rows = new Row[MOST_SLOT_BYTES / STEP_BYTES];

    /** @param guard borrowed */
    Slabs(MemoryGuard guard) {
        this.guard = guard;
        for (int i = 0; i < rows.length; i++) {
            rows[i] = new Row((i + 1) * STEP_BYTES);
        }
    }

    /**
     * @param bytes 1 or more
     * @return memory that the caller owns
     * @throws io.coplane.nativecache.MemoryLimitException if the guard refuses
     */
    NativeSlot allocate(long bytes) {
        if (bytes <= MOST_SLOT_BYTES) {
            return rows[(int) ((bytes - 1) / STEP_BYTES)].take(bytes);
        }
        var arena = new NativeArena(guard);
        try {
            return new NativeSlot.Alone(arena, arena.allocate(bytes));
        } catch (RuntimeException | OutOfMemoryError e) {
            arena.close();
            throw e;
        }
    }

    /** Frees the slabs that hold nothing, and from now on each one as soon as it holds nothing. */
    void close() {
        closing = true;
        trim();
    }

    /** Frees the slabs that hold nothing. */
    void trim() {
        for (Row row : rows) {
            row.trim();
        }
    }

    private final class Row {
        private final int slotBytes;
        private final ReentrantLock lock = new ReentrantLock();
        private final ArrayDeque<Slab> withRoom = new ArrayDeque<>();

        private Row(int slotBytes) {
            this.slotBytes = slotBytes;
        }

        private NativeSlot take(long bytes) {
            NativeSlot slot = takeFree(bytes);
            while (slot == null) {
                Slab fresh;
                try {
                    fresh = new Slab(this, SLAB_BYTES / slotBytes); // outside the lock: it may evict, which frees slots
                } catch (MemoryLimitException e) {
                    slot = takeFree(bytes);
                    if (slot == null) {
                        throw e;
                    }
                    return slot;
                }
                lock.lock();
                try {
                    withRoom.addFirst(fresh);
                } finally {
                    lock.unlock();
                }
                slot = takeFree(bytes);
            }
            return slot;
        }

        private NativeSlot takeFree(long bytes) {
            lock.lock();
            try {
                Slab slab = withRoom.peekFirst();
                if (slab == null) {
                    return null;
                }
                int index = slab.freeSlots[--slab.freeCount];
                if (slab.freeCount == 0) {
                    withRoom.removeFirst();
                }
                return new NativeSlot.InSlab(slab, index, slab.memory.asSlice((long) index * slotBytes, bytes));
            } finally {
                lock.unlock();
            }
        }

        private void giveBack(Slab slab, int index) {
            boolean close = false;
            lock.lock();
            try {
                slab.freeSlots[slab.freeCount++] = index;
                if (slab.freeCount == 1) {
                    withRoom.addFirst(slab);
                }
                if (slab.isEmpty() && (closing || withRoom.size() > 1)) {
                    close = withRoom.remove(slab);
                }
            } finally {
                lock.unlock();
            }
            if (close) {
                slab.arena.close();
            }
        }

        private void trim() {
            List<Slab> empty = new ArrayList<>();
            lock.lock();
            try {
                for (Slab slab : withRoom) {
                    if (slab.isEmpty()) {
                        empty.add(slab);
                    }
                }
                withRoom.removeAll(empty);
            } finally {
                lock.unlock();
            }
            empty.forEach(slab -> slab.arena.close());
        }
    }

    /** Memory for slots of one size. Its lists are guarded by the row's lock. */
    final class Slab {
        private final Row row;
        private final NativeArena arena;
        private final MemorySegment memory;
        private final int[] freeSlots;
        private int freeCount;

        private Slab(Row row, int slots) {
            this.row = row;
            arena = new NativeArena(guard);
            try {
                memory = arena.allocate((long) slots * row.slotBytes);
            } catch (RuntimeException | OutOfMemoryError e) {
                arena.close();
                throw e;
            }
            freeSlots = new int[slots];
            for (int i = 0; i < slots; i++) {
                freeSlots[i] = slots - 1 - i;
            }
            freeCount = slots;
        }

        int slotBytes() {
            return row.slotBytes;
        }

        void free(int index) {
            row.giveBack(this, index);
        }

        private boolean isEmpty() {
            return freeCount == freeSlots.length;
        }
    }
}
