package io.coplane.nativecache.memory;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Owns a read-only mapping of a whole file, for tools: pages are the operating system's, so files of any size can be read. The file must not be cut
 * while it is mapped. Any thread may read; {@link #close()} comes after the last one.
 */
public final class MappedFile implements AutoCloseable {
    private final Arena arena;
    private final MemorySegment bytes;

    private MappedFile(Arena arena, MemorySegment bytes) {
        this.arena = arena;
        this.bytes = bytes;
    }

    /** @throws CoplaneException FILE_NOT_FOUND if there is none, STORE_UNAVAILABLE if it can't be read */
    public static MappedFile open(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new CoplaneException(ErrorCode.FILE_NOT_FOUND, "no such file: " + file);
        }
        Arena arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long size = channel.size();
            MemorySegment bytes = size == 0
                    ? arena.allocate(1).asSlice(0, 0)
                    : channel.map(FileChannel.MapMode.READ_ONLY, 0, size, arena);
            return new MappedFile(arena, bytes);
        } catch (IOException e) {
            arena.close();
            ErrorCode code = e instanceof NoSuchFileException ? ErrorCode.FILE_NOT_FOUND : ErrorCode.STORE_UNAVAILABLE;
            throw new CoplaneException(code, "can't read a file: file=" + file + " cause=" + e, e);
        }
    }

    /** The file's bytes; valid until {@link #close()}. */
    public MemorySegment viewBytes() {
        return bytes;
    }

    /** Unmaps the file. Idempotent. */
    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
