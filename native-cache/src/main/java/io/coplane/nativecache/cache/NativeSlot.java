package io.coplane.nativecache.cache;

import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;

/** Native memory of one cached value. {@link #free} is called once. */
sealed interface NativeSlot {
    /** Exactly the value's bytes. */
    MemorySegment segment();

    /** Bytes taken from the account. */
    long chargedBytes();

    void free();

    /** A part of a slab. */
    record InSlab(Slabs.Slab slab, int index, MemorySegment segment) implements NativeSlot {
        @Override
        public long chargedBytes() {
            return slab.slotBytes();
        }

        @Override
        public void free() {
            slab.free(index);
        }
    }

    /** Memory of its own, for files and large blocks. */
    record Alone(NativeArena arena, MemorySegment segment) implements NativeSlot {
        @Override
        public long chargedBytes() {
            return segment.byteSize();
        }

        @Override
        public void free() {
            arena.close();
        }
    }
}
