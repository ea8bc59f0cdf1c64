package io.coplane.nativecache;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import io.coplane.nativecache.memory.NativeArena;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An object store in a local directory, in the reference's key layout (ia.md 14).
 *
 * <p>A put writes a temporary file beside the object, syncs it and renames it, so that a reader sees the whole file or none. Owns its I/O
 * threads until {@link #close()}. Thread-safe.
 */
public final class DirectoryStore implements ObjectStore {
    /** Most bytes in one channel transfer: a ByteBuffer's limit, rounded down. */
    private static final long MOST_BYTES_PER_TRANSFER = 1 << 30;

    private static final int MOST_ENTRIES = 1000;
    private static final String TEMPORARY = ".tmp";
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryStore.class);

    private final Path root;
    private final String prefix;
    private final ExecutorService io;
    private final AtomicLong temporaryNumber = new AtomicLong();

    /**
     * @param root existing directory
     * @param prefix first part of every key; empty reads {@code default}
     * @param ioThreads threads that read and write; 1 .. 1024
     */
    public DirectoryStore(Path root, String prefix, int ioThreads) {
        this.root = root;
        this.prefix = prefix;
        Require.range("ioThreads", ioThreads, 1, 1024);
        AtomicInteger number = new AtomicInteger();
        io = Executors.newFixedThreadPool(ioThreads, task -> {
            Thread thread = new Thread(task, "coplane-store-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    @Override
    public CompletableFuture<MemorySegment> read(FileKind kind, long fileId, long start, long end, NativeArena arena) {
        if (start < 0 || end != TO_END && end <= start) {
            return CompletableFuture.failedFuture(new CoplaneException(
                    ErrorCode.BAD_ARGUMENT,
                    "no such range: start=" + start + " end=" + end + " file=" + name(kind, fileId)));
        }
        return submit(() -> readNow(kind, fileId, start, end, arena));
    }

    @Override
    public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
        return submit(() -> {
            try {
                return Files.size(path(kind, fileId));
            } catch (IOException e) {
                throw failure(kind, fileId, e);
            }
        });
    }

    @Override
    public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
        return submit(() -> {
            putNow(kind, fileId, bytes);
            return null;
        });
    }

    /** Unlinks the file at once, as the reference does in a directory (ia.md 20); a missing one is no error. */
    @Override
    public CompletableFuture<Boolean> markRemoved(FileKind kind, long fileId, long byteSize) {
        return submit(() -> {
            try {
                Files.deleteIfExists(path(kind, fileId));
                return true;
            } catch (IOException e) {
                LOG.error("can't remove: file={}", path(kind, fileId), e);
                return false;
            }
        });
    }

    /** A file that was removed is gone here, so none that is there was. */
    @Override
    public CompletableFuture<Boolean> isRemoved(FileKind kind, long fileId) {
        return byteSize(kind, fileId).thenApply(bytes -> false);
    }

    /** As {@link #isRemoved}: there is nothing to undo. */
    @Override
    public CompletableFuture<Boolean> retain(FileKind kind, long fileId) {
        return isRemoved(kind, fileId);
    }

    @Override
    public CompletableFuture<Void> permanentlyRemove(FileKind kind, long fileId) {
        return submit(() -> {
            try {
                Files.deleteIfExists(path(kind, fileId));
                return null;
            } catch (IOException e) {
                throw failure(kind, fileId, e);
            }
        });
    }

    @Override
    public CompletableFuture<ObjectListing> list(String after, int most) {
        Require.range("most", most, 1, MOST_ENTRIES);
        return submit(() -> listNow(after, most));
    }

    /** Ends the I/O threads once what they do is done. Idempotent. */
    @Override
    public void close() {
        io.close();
    }

    private MemorySegment readNow(FileKind kind, long fileId, long start, long end, NativeArena arena) {
        try (FileChannel channel = FileChannel.open(path(kind, fileId), READ)) {
            long fileBytes = channel.size();
            long last = end == TO_END ? fileBytes : end;
            if (last > fileBytes || start > fileBytes) {
                throw new CoplaneException(
                        ErrorCode.FILE_TRUNCATED,
                        "file ends before the range: file=" + name(kind, fileId) + " start=" + start + " end=" + last
                                + " fileBytes=" + fileBytes);
            }
            MemorySegment segment = arena.allocate(last - start);
            transfer(segment, start, (buffer, offset) -> channel.read(buffer, offset), name(kind, fileId));
            return segment;
        } catch (IOException e) {
            throw failure(kind, fileId, e);
        }
    }

    private void putNow(FileKind kind, long fileId, MemorySegment bytes) {
        Path target = path(kind, fileId);
        try {
            Files.createDirectories(target.getParent());
            Path temporary = writeTemporary(target, bytes, name(kind, fileId));
            try {
                Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException e) {
                Files.deleteIfExists(temporary);
                throw e;
            }
            try (FileChannel folder = FileChannel.open(target.getParent(), READ)) {
                folder.force(true); // the new name survives a crash of the machine too
            }
        } catch (IOException e) {
            throw failure(kind, fileId, e);
        }
    }

    /** A synced file beside {@code target} with these bytes. */
    private Path writeTemporary(Path target, MemorySegment bytes, String file) throws IOException {
        while (true) {
            Path temporary =
                    target.resolveSibling(target.getFileName() + "." + temporaryNumber.incrementAndGet() + TEMPORARY);
            try (FileChannel channel = FileChannel.open(temporary, CREATE_NEW, WRITE)) {
                try {
                    transfer(bytes, 0, (buffer, offset) -> channel.write(buffer, offset), file);
                    channel.force(false);
                    return temporary;
                } catch (IOException | RuntimeException e) {
                    Files.deleteIfExists(temporary);
                    throw e;
                }
            } catch (FileAlreadyExistsException e) {
                LOG.debug("left by a process that ended: file={}", temporary, e);
            }
        }
    }

    private ObjectListing listNow(String after, int most) {
        Path top = root.resolve(ObjectKeys.prefix(prefix));
        if (!Files.isDirectory(top)) {
            return new ObjectListing(List.of(), Optional.empty());
        }
        TreeMap<String, Long> first = new TreeMap<>();
        boolean[] cut = {false};
        try (Stream<Path> files = Files.walk(top)) {
            files.filter(Files::isRegularFile)
                    .filter(file -> !file.toString().endsWith(TEMPORARY))
                    .forEach(file -> {
                        String key = top.relativize(file).toString();
                        if (key.compareTo(after) > 0) {
                            first.put(key, file.toFile().length());
                            if (first.size() > most) {
                                first.pollLastEntry();
                                cut[0] = true;
                            }
                        }
                    });
        } catch (IOException | UncheckedIOException e) {
            throw new CoplaneException(ErrorCode.STORE_UNAVAILABLE, "IO error: " + e.getMessage() + ": root=" + top, e);
        }
        List<ObjectListing.Entry> entries = first.entrySet().stream()
                .map(entry -> new ObjectListing.Entry(entry.getKey(), entry.getValue()))
                .toList();
        return new ObjectListing(entries, cut[0] ? Optional.of(first.lastKey()) : Optional.empty());
    }

    private interface Transfer {
        int apply(ByteBuffer buffer, long fileOffset) throws IOException;
    }

    private static void transfer(MemorySegment segment, long fileOffset, Transfer transfer, String file)
            throws IOException {
        long done = 0;
        while (done < segment.byteSize()) {
            long count = Math.min(MOST_BYTES_PER_TRANSFER, segment.byteSize() - done);
            int moved = transfer.apply(segment.asSlice(done, count).asByteBuffer(), fileOffset + done);
            if (moved < 0) {
                throw new CoplaneException(
                        ErrorCode.FILE_TRUNCATED,
                        "file shrank while it was read: file=" + file + " offset=" + (fileOffset + done));
            }
            done += moved;
        }
    }

    private interface Task<T> {
        T run();
    }

    private <T> CompletableFuture<T> submit(Task<T> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        try {
            io.execute(() -> {
                try {
                    result.complete(task.run());
                } catch (Throwable e) {
                    result.completeExceptionally(e);
                }
            });
        } catch (RejectedExecutionException e) {
            result.completeExceptionally(
                    new CoplaneException(ErrorCode.SHUTTING_DOWN, "store is closed: root=" + root, e));
        }
        return result;
    }

    private CoplaneException failure(FileKind kind, long fileId, IOException e) {
        if (e instanceof NoSuchFileException) {
            return new CoplaneException(
                    ErrorCode.FILE_NOT_FOUND, "File " + fileId + " not exists: key=" + key(kind, fileId), e);
        }
        return new CoplaneException(
                ErrorCode.STORE_UNAVAILABLE, "IO error: " + e.getMessage() + ": key=" + key(kind, fileId), e);
    }

    private Path path(FileKind kind, long fileId) {
        return root.resolve(key(kind, fileId));
    }

    private String key(FileKind kind, long fileId) {
        return ObjectKeys.key(prefix, kind, fileId);
    }

    private static String name(FileKind kind, long fileId) {
        return ObjectKeys.fileName(kind, fileId);
    }
}
