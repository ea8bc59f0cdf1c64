package io.coplane.nativecache.memory;

import io.coplane.nativecache.MemoryGuard;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Owns native memory that is freed together: one per file, snapshot or scan, never per block. Every byte is charged to the guard and counted
 * in {@link #mappedBytes()}.
 *
 * <p>Any thread may allocate and read, but for {@link #ofThread}; {@link #close()} must come after the last reader is done.
 */
public final class NativeArena implements AutoCloseable {
    private static final AtomicLong MAPPED_BYTES = new AtomicLong();

    private final Thread owner; // null: all threads
    private final Arena arena;
    private final MemoryGuard guard;
    private final AtomicLong ownedBytes = new AtomicLong();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final AtomicReference<MemorySegment> reserved = new AtomicReference<>(); // null: none, or in use
    private volatile MemorySegment reserve; // what was reserved, whether in use or not
    private final List<Runnable> closeActions = new ArrayList<>(); // guarded by itself

    /** @param guard borrowed; must stay open until this arena is closed */
    public NativeArena(MemoryGuard guard) {
        this(guard, null);
    }

    private NativeArena(MemoryGuard guard, Thread owner) {
        this.guard = guard;
        this.owner = owner;
        arena = newScope();
    }

    /**
     * An arena of the calling thread, for scratch memory that nobody else sees: only this thread reads, allocates and closes. The end of any other arena has to
     * be told to all threads of the process, which costs as much as a small request's own work.
     */
    public static NativeArena ofThread(MemoryGuard guard) {
        return new NativeArena(guard, Thread.currentThread());
    }

    /** Of memory that lives no longer than this arena, and is used by the same threads. */
    Arena newScope() {
        return owner == null ? Arena.ofShared() : Arena.ofConfined();
    }

    /** Native bytes that arenas and growing memory of this process own now. */
    public static long mappedBytes() {
        return MAPPED_BYTES.get();
    }

    /** Counts bytes that were taken, or given back if there are less than 0. */
    static void count(long bytes) {
        MAPPED_BYTES.addAndGet(bytes);
    }

    MemoryGuard guard() {
        return guard;
    }

    /**
     * @param bytes at least 0
     * @return a segment of this size, 8-byte aligned, valid until {@link #close()}; zero, unless it was used before {@link #reuse}
     * @throws io.coplane.nativecache.MemoryLimitException if the guard refuses; nothing is allocated then
     */
    public MemorySegment allocate(long bytes) {
        MemorySegment kept = reserved.get();
        if (kept != null && kept.byteSize() >= bytes && reserved.compareAndSet(kept, null)) {
            return kept.asSlice(0, bytes);
        }
        return allocateNew(bytes);
    }

    private MemorySegment allocateNew(long bytes) {
        guard.charge(bytes);
        MemorySegment segment;
        try {
            segment = bytes == 0 ? arena.allocate(0) : take(bytes);
        } catch (RuntimeException | OutOfMemoryError e) {
            guard.release(bytes);
            throw e;
        }
        ownedBytes.addAndGet(bytes);
        MAPPED_BYTES.addAndGet(bytes);
        return segment;
    }

    @SuppressWarnings("restricted") // as many bytes as there are
    private MemorySegment take(long bytes) {
        MemorySegment memory = CLibrary.allocate(bytes);
        try {
            return memory.reinterpret(bytes, arena, CLibrary::free);
        } catch (RuntimeException e) { // closed, or another thread's
            CLibrary.free(memory);
            throw e;
        }
    }

    /**
     * Takes memory for one allocation that comes, of no more than so many bytes: for an arena whose memory is used again and again. Of an arena that
     * has allocated nothing.
     *
     * @throws io.coplane.nativecache.MemoryLimitException if the guard refuses; nothing is taken then
     */
    public void reserve(long bytes) {
        MemorySegment segment = allocateNew(bytes);
        reserve = segment;
        reserved.set(segment);
    }

    /**
     * Has what was reserved used by the next allocation, after the last user of the one before.
     *
     * @return false if there is nothing of so many bytes, or if more was allocated than that: close the arena then
     */
    public boolean reuse(long bytes) {
        MemorySegment segment = reserve;
        if (segment == null || segment.byteSize() < bytes || ownedBytes.get() != segment.byteSize()) {
            return false;
        }
        reserved.set(segment);
        return true;
    }

    /** Has {@code action} run by {@link #close()}, before memory is freed, or now if that is past: for what users of the arena hold besides memory. It must not throw. */
    public void onClose(Runnable action) {
        synchronized (closeActions) {
            if (!closed.get()) {
                closeActions.add(action);
                return;
            }
        }
        action.run();
    }

    /** Bytes allocated from this arena. */
    public long ownedBytes() {
        return ownedBytes.get();
    }

    /** Idempotent. @throws WrongThreadException if this is another thread's; nothing is freed then */
    @Override
    public void close() {
        if (owner != null && !owner.equals(Thread.currentThread())) {
            throw new WrongThreadException("native memory is " + owner.getName() + "'s");
        }
        if (closed.compareAndSet(false, true)) {
            synchronized (closeActions) {
                closeActions.forEach(Runnable::run);
            }
            reserved.set(null);
            arena.close();
            long bytes = ownedBytes.getAndSet(0);
            MAPPED_BYTES.addAndGet(-bytes);
            guard.release(bytes);
        }
    }
}
