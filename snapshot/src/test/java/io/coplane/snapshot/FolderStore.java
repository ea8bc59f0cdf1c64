package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Files of a flat folder, {@code {id:016x}.{suffix}}, and files put in memory on top of it; completes at once. */
final class FolderStore implements ObjectStore {
    private final Path folder;
    private final Map<String, byte[]> files = new ConcurrentHashMap<>();

    private final AtomicInteger reads = new AtomicInteger();

    /** @param folder null: no files but those put */
    FolderStore(Path folder) {
        this.folder = folder;
    }

    void put(FileKind kind, long fileId, byte[] bytes) {
        files.put(name(kind, fileId), bytes);
    }

    /** How often a file was read. */
    int reads() {
        return reads.get();
    }

    /** Puts into another store what was put here. */
    void copyTo(ObjectStore other) {
        files.forEach((name, bytes) -> {
            int dot = name.indexOf('.');
            FileKind kind = Arrays.stream(FileKind.values())
                    .filter(candidate -> candidate.suffix().equals(name.substring(dot + 1)))
                    .findFirst()
                    .orElseThrow();
            other.put(kind, Long.parseUnsignedLong(name.substring(0, dot), 16), MemorySegment.ofArray(bytes))
                    .join();
        });
    }

    @Override
    public CompletableFuture<MemorySegment> read(FileKind kind, long fileId, long start, long end, NativeArena arena) {
        reads.incrementAndGet();
        byte[] file;
        try {
            file = bytes(kind, fileId);
        } catch (CoplaneException e) {
            return CompletableFuture.failedFuture(e);
        }
        int to = end == TO_END ? file.length : (int) end;
        MemorySegment segment = arena.allocate(to - start);
        MemorySegment.copy(MemorySegment.ofArray(file), start, segment, 0, to - start);
        return CompletableFuture.completedFuture(segment);
    }

    @Override
    public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
        return CompletableFuture.completedFuture((long) bytes(kind, fileId).length);
    }

    @Override
    public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}

    private byte[] bytes(FileKind kind, long fileId) {
        String name = name(kind, fileId);
        byte[] put = files.get(name);
        if (put != null) {
            return put;
        }
        try {
            if (folder != null) {
                return Files.readAllBytes(folder.resolve(name));
            }
        } catch (IOException e) {
            throw new CoplaneException(ErrorCode.FILE_NOT_FOUND, "no such file: " + name, e);
        }
        throw new CoplaneException(ErrorCode.FILE_NOT_FOUND, "no such file: " + name);
    }

    private static String name(FileKind kind, long fileId) {
        return HexFormat.of().toHexDigits(fileId) + "." + kind.suffix();
    }
}
