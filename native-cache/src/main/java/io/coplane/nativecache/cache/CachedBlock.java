package io.coplane.nativecache.cache;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A value of the block cache. Whoever got it from the cache holds a pin and must {@link #release()} it once; the bytes stay as they are until
 * then, even if the cache drops the value in between. Thread-safe.
 */
public final class CachedBlock {
    /** No clock. */
    static final long NEVER = Long.MAX_VALUE;

    /** The cache's own pin. */
    private static final int CACHED_ONLY = 1;

    private final BlockCache cache;
    private final BlockKey key;
    private final NativeSlot slot;
    private final AtomicInteger pins; // 0: gone for ever; the cache itself holds one pin while the value is in it
    private final AtomicReference<Object> opened = new AtomicReference<>();
    private final boolean isWhole;
    private volatile FileSections sections; // of a file; null: not known, or it has none
    private volatile long idleNanos = NEVER; // how long it stays unused, if it has a clock
    private volatile long usedNanos; // when a pin was given back last, if it has a clock

    /**
     * @param slot owned; freed by the last release
     * @param isWhole false for a file without its sections
     */
    CachedBlock(BlockCache cache, BlockKey key, NativeSlot slot, int pins, boolean isWhole) {
        this.cache = cache;
        this.key = key;
        this.slot = slot;
        this.pins = new AtomicInteger(pins);
        this.isWhole = isWhole;
    }

    /** The bytes, read-only by agreement; valid until this pin is released. */
    public MemorySegment segment() {
        return slot.segment();
    }

    /** The cache that the value is, or was, in. */
    public BlockCache cache() {
        return cache;
    }

    /**
     * What a reader made of a file's bytes, so that the next request need not open it again; null if none did. It may borrow {@link #segment}:
     * whoever uses it holds a pin.
     */
    public Object opened() {
        return opened.get();
    }

    /** Notes what a reader made of the bytes; it must own nothing that has to be freed. The last one wins. */
    public void noteOpened(Object reader) {
        opened.set(reader);
    }

    /** Whether the bytes are all of the file; else only those before {@link FileSections#indexStart}. */
    public boolean isWhole() {
        return isWhole;
    }

    /** Notes what the file can give back while it is idle; the last one wins. {@code found} is in bounds. */
    public void noteSections(FileSections found) {
        sections = found;
        if (isWhole) {
            startClock(found.filterIdleNanos(), cache.nanoTime());
            cache.watch(this);
        }
    }

    /** What {@link #noteSections} noted, here or for the whole file; null if nothing. */
    FileSections sections() {
        return sections;
    }

    /** Takes over what is known of the same file. */
    void inherit(CachedBlock whole) {
        sections = whole.sections;
        opened.set(whole.opened.get());
    }

    void startClock(long mostIdleNanos, long now) {
        usedNanos = now;
        idleNanos = mostIdleNanos;
    }

    /** When a pin was given back last. */
    long usedNanos() {
        return usedNanos;
    }

    /** Whether nobody but the cache has had a pin for the value's time. */
    boolean isOver(long now) {
        return idleNanos != NEVER && pins.get() == CACHED_ONLY && now - usedNanos >= idleNanos;
    }

    /** Takes the value out of the cache, because its bytes turned out to be broken: the next request loads them anew. Pins stay valid. */
    public void discard() {
        cache.remove(key, this);
    }

    /** @return false if the value is gone: the caller has no pin then */
    boolean tryPin() {
        int before = pins.get();
        while (before > 0) {
            int seen = pins.compareAndExchange(before, before + 1);
            if (seen == before) {
                return true;
            }
            before = seen;
        }
        return false;
    }

    /** Gives a pin back; the last one frees the bytes. */
    public void release() {
        if (idleNanos != NEVER) {
            usedNanos = cache.nanoTime();
        }
        unpin();
    }

    /** As {@link #release}, of a pin that was no use of the value. */
    void unpin() {
        int left = pins.decrementAndGet();
        if (left == 0) {
            slot.free();
        } else if (left < 0) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "cached block released too often: key=" + key);
        }
    }

    BlockKey key() {
        return key;
    }

    /** Bytes of native memory that the value takes. */
    long chargedBytes() {
        return slot.chargedBytes();
    }
}
