package io.coplane.nativecache.store;

import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongFunction;

/**
 * Memory for one body, however many attempts it takes: a later attempt writes over what an earlier one left. Attempts follow one another, so it is
 * used by one thread at a time.
 */
final class BodyMemory implements LongFunction<MemorySegment> {
    private final NativeArena arena;
    private MemorySegment segment = MemorySegment.NULL;

    /** @param arena owns and accounts the memory */
    BodyMemory(NativeArena arena) {
        this.arena = arena;
    }

    /** Memory for exactly so many bytes; more is allocated only if no earlier attempt had as much. */
    @Override
    public MemorySegment apply(long bytes) {
        if (segment.equals(MemorySegment.NULL) || segment.byteSize() < bytes) {
            segment = arena.allocate(bytes);
        }
        return segment.asSlice(0, bytes);
    }
}
