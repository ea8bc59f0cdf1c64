package io.coplane.sst;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;

/** A file in native memory, with an arena for all that a test needs besides. Closing checks that nothing stays charged. */
final class TestFile implements AutoCloseable {
    final MemoryGuard guard = MemoryGuard.unlimited();
    final NativeArena arena = new NativeArena(guard);
    final MemorySegment bytes;

    TestFile(byte[] file) {
        bytes = arena.allocate(file.length);
        MemorySegment.copy(MemorySegment.ofArray(file), 0, bytes, 0, file.length);
    }

    @Override
    public void close() {
        arena.close();
        if (guard.chargedBytes() != 0) {
            throw new AssertionError("still charged: bytes=" + guard.chargedBytes());
        }
        guard.close();
    }
}
