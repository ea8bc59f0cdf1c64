package io.coplane.sst;

import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Native memory that is used over and over for one block at a time. Borrows its arena, which frees it. One thread. */
final class NativeScratch {
    private static final int LEAST_BYTES = 4 << 10;

    private final NativeArena arena;
    private MemorySegment segment = MemorySegment.NULL;
    private ByteBuffer buffer;

    NativeScratch(NativeArena arena) {
        this.arena = arena;
    }

    /** At least {@code bytes} of native memory; what was in it may be gone. */
    MemorySegment atLeast(long bytes) {
        if (segment.byteSize() < bytes) {
            // doubling: what earlier, smaller segments hold until the arena closes is less than the last one
            segment = arena.allocate(Math.max(Math.max(LEAST_BYTES, bytes + bytes / 4), 2 * segment.byteSize()));
            buffer = null;
        }
        return segment;
    }

    /** The same memory for codecs that take buffers. */
    ByteBuffer buffer() {
        if (buffer == null) {
            buffer = segment.asByteBuffer();
        }
        return buffer;
    }
}
