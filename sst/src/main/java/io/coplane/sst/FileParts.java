package io.coplane.sst;

import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

/** A file that is read in parts, for {@link StreamedFiles}. Thread-safe. */
public interface FileParts {
    /** Bytes of the file. */
    long byteSize();

    /**
     * Reads bytes {@code start .. end - 1}, at least one, into memory allocated from {@code arena}.
     *
     * @return exactly these bytes, owned by {@code arena}
     */
    CompletableFuture<MemorySegment> read(long start, long end, NativeArena arena);
}
