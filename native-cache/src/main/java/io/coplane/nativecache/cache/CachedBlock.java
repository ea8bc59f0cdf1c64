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
    private final BlockCache cache;
    private final BlockKey key;
    private final NativeSlot slot;
    private final AtomicInteger pins; // 0: gone for ever; the cache itself holds one pin while the value is in it
    private final AtomicReference<Object> opened = new AtomicReference<>();

    /** @param slot owned; freed by the last release */
    CachedBlock(BlockCache cache, BlockKey key, NativeSlot slot, int pins) {
        this.cache = cache;
        this.key = key;
        this.slot = slot;
        this.pins = new AtomicInteger(pins);
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
