package io.coplane.nativecache.memory;

import io.coplane.nativecache.MemoryGuard;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * One piece of native memory that grows where it is, as far as the C library can: large pieces are moved by their page tables, so that old and new are
 * not held at a time, and none of it is touched before it is used. What is new in it has any content.
 *
 * <p>Every byte is charged to the guard, and counted in {@link NativeArena#mappedBytes()}, until {@link #close()}. One thread; others may read the segment
 * until it grows or is closed.
 */
@SuppressWarnings("restricted") // calls the C library, which is told no more bytes than it gave
public final class GrowingMemory implements AutoCloseable {
    private final MemoryGuard guard;
    private final Supplier<Arena> scopes;
    private Arena scope; // of the segment, whose readers it tells when the memory is gone; null: there is no memory
    private MemorySegment segment = MemorySegment.NULL;

    /** No memory yet. @param guard charged; borrowed */
    public GrowingMemory(MemoryGuard guard) {
        this(guard, Arena::ofShared);
    }

    /** No memory yet; closed with the arena at the latest. @param arena borrowed; its guard is charged */
    public GrowingMemory(NativeArena arena) {
        this(arena.guard(), arena::newScope);
        arena.onClose(this::close);
    }

    private GrowingMemory(MemoryGuard guard, Supplier<Arena> scopes) {
        this.guard = guard;
        this.scopes = scopes;
    }

    /** The memory, 8-byte aligned; of size 0 if there is none. */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Grows to so many bytes; what is there stays. Segments handed out before are not valid any more.
     *
     * @param bytes more than there are
     * @return the memory
     * @throws io.coplane.nativecache.MemoryLimitException if the guard refuses; all is as before then
     */
    public MemorySegment grow(long bytes) {
        if (!segment.isAccessibleBy(Thread.currentThread())) {
            throw new WrongThreadException("native memory is another thread's");
        }
        long before = segment.byteSize();
        guard.charge(bytes - before);
        MemorySegment memory = MemorySegment.ofAddress(segment.address());
        if (scope != null) {
            scope.close(); // a reader who comes now fails, instead of reading what is gone
        }
        MemorySegment grown;
        try {
            grown = CLibrary.reallocate(memory, bytes);
        } catch (OutOfMemoryError e) {
            use(memory, before);
            guard.release(bytes - before);
            throw e;
        }
        NativeArena.count(bytes - before);
        use(grown, bytes);
        return segment;
    }

    private void use(MemorySegment memory, long bytes) {
        scope = bytes == 0 ? null : scopes.get();
        segment = bytes == 0 ? MemorySegment.NULL : memory.reinterpret(bytes, scope, null);
    }

    /** Frees the memory. It may grow again. Idempotent. */
    @Override
    public void close() {
        if (scope == null) {
            return;
        }
        long bytes = segment.byteSize();
        MemorySegment memory = MemorySegment.ofAddress(segment.address());
        scope.close();
        use(MemorySegment.NULL, 0);
        CLibrary.free(memory);
        NativeArena.count(-bytes);
        guard.release(bytes);
    }
}
