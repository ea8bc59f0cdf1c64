package io.coplane.worker.inspect;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.MappedFile;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.nativecache.store.StoreUrl;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.CompletionException;

/** A file under inspection, mapped. Owns the mapping, and the temporary copy of an object that came from a store. */
final class OpenedFile implements AutoCloseable {
    private static final long PART_BYTES = 8L << 20;
    private static final int ID_DIGITS = 2 * Long.BYTES;

    private final String name;
    private final MappedFile mapped;
    private final Path temporary; // null: the file itself was mapped

    private OpenedFile(String name, MappedFile mapped, Path temporary) {
        this.name = name;
        this.mapped = mapped;
        this.temporary = temporary;
    }

    /**
     * Opens a file of the file system, or an object {@code s3://BUCKET/PREFIX/.../ID.SUFFIX?endpoint=..}, which is copied part by part.
     *
     * @param environment credentials of the store
     */
    static OpenedFile open(String place, Map<String, String> environment) {
        if (!place.contains("://")) {
            return new OpenedFile(place, MappedFile.open(Path.of(place)), null);
        }
        String path = withoutParameters(place);
        ObjectKeys.File file = ObjectKeys.parse(path)
                .orElseThrow(() -> new CoplaneException(
                        ErrorCode.BAD_ARGUMENT,
                        "no object key of a table file, as PREFIX/xx/0123456789abcdef.sst: " + path));
        String tail = ObjectKeys.key("", file.kind(), file.fileId())
                .substring(ObjectKeys.prefix("").length());
        String storeUrl = path.substring(0, path.length() - tail.length()) + place.substring(path.length());
        try (ObjectStore store = StoreUrl.parse(storeUrl).open(environment, 1)) {
            return open(store, file, path);
        }
    }

    /** Opens an object of a store, which is copied part by part. {@code store}: borrowed until this returns */
    static OpenedFile open(ObjectStore store, ObjectKeys.File file, String name) {
        Path copy = null;
        try {
            copy = Files.createTempFile("coplane-inspect", ".tmp");
            copyObject(store, file, copy);
            return new OpenedFile(name, MappedFile.open(copy), copy);
        } catch (IOException e) {
            delete(copy);
            throw new CoplaneException(
                    ErrorCode.STORE_UNAVAILABLE, "can't copy an object: name=" + name + " cause=" + e, e);
        } catch (RuntimeException e) {
            delete(copy);
            throw e;
        }
    }

    /** A URL without what follows the question mark. */
    static String withoutParameters(String url) {
        int query = url.indexOf('?');
        return query < 0 ? url : url.substring(0, query);
    }

    private static void copyObject(ObjectStore store, ObjectKeys.File file, Path to) throws IOException {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                FileChannel out = FileChannel.open(to, StandardOpenOption.WRITE)) {
            long size = store.byteSize(file.kind(), file.fileId()).join();
            for (long at = 0; at < size; at += PART_BYTES) {
                try (NativeArena arena = new NativeArena(guard)) {
                    long end = Math.min(size, at + PART_BYTES);
                    MemorySegment part = store.read(file.kind(), file.fileId(), at, end, arena)
                            .join();
                    var buffer = part.asByteBuffer();
                    while (buffer.hasRemaining()) {
                        out.write(buffer);
                    }
                }
            }
        } catch (CompletionException e) {
            throw e.getCause() instanceof CoplaneException typed ? typed : e;
        }
    }

    /** Path or key, without parameters. */
    String name() {
        return name;
    }

    /** All bytes; valid until {@link #close()}. */
    MemorySegment viewBytes() {
        return mapped.viewBytes();
    }

    /** Id that the name begins with; 0 if it has none. */
    long fileId() {
        int slash = Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\'));
        int dot = name.indexOf('.', slash + 1);
        if (dot - slash - 1 != ID_DIGITS) {
            return 0;
        }
        try {
            return HexFormat.fromHexDigitsToLong(name, slash + 1, dot);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    @Override
    public void close() {
        mapped.close();
        delete(temporary);
    }

    private static void delete(Path file) {
        if (file != null) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                throw new CoplaneException(ErrorCode.STORE_UNAVAILABLE, "can't delete a copy: file=" + file, e);
            }
        }
    }
}
