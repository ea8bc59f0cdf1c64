package io.coplane.nativecache.memory;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Memory of the C library, 16-byte aligned. Nobody counts it here, and segments have no end of life. Thread-safe. */
@SuppressWarnings("restricted") // the C library is told no more bytes than it gave
final class CLibrary {
    private static final MethodHandle CALLOC = function(
            "calloc", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    private static final MethodHandle REALLOC =
            function("realloc", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle FREE = function("free", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));

    private CLibrary() {}

    private static MethodHandle function(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
    }

    /** Memory that is zero, large ones without being touched. @param bytes at least 1 */
    static MemorySegment allocate(long bytes) {
        MemorySegment memory;
        try {
            memory = (MemorySegment) CALLOC.invokeExact(1L, bytes);
        } catch (Throwable e) {
            throw new LinkageError("the C library's calloc can't be called", e);
        }
        return orOutOfMemory(memory, bytes);
    }

    /** Memory with what was in it, and any content behind. The one before is gone, unless this fails. @param bytes at least 1 */
    static MemorySegment reallocate(MemorySegment memory, long bytes) {
        MemorySegment moved;
        try {
            moved = (MemorySegment) REALLOC.invokeExact(memory, bytes);
        } catch (Throwable e) {
            throw new LinkageError("the C library's realloc can't be called", e);
        }
        return orOutOfMemory(moved, bytes);
    }

    static void free(MemorySegment memory) {
        try {
            FREE.invokeExact(memory);
        } catch (Throwable e) {
            throw new LinkageError("the C library's free can't be called", e);
        }
    }

    private static MemorySegment orOutOfMemory(MemorySegment memory, long bytes) {
        if (memory.address() == 0) {
            throw new OutOfMemoryError("no native memory: bytes=" + bytes);
        }
        return memory;
    }
}
