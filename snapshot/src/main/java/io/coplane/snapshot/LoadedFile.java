package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.cache.CachedBlock;
import io.coplane.snapshot.ShardFiles.ShardFile;
import io.coplane.sst.BlobReader;
import io.coplane.sst.L0Reader;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstReader;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A file of a snapshot, whole: in the request's arena, or pinned in the block cache by the request. Borrows both. Immutable.
 *
 * @param pin null if the file is not cached
 */
record LoadedFile(MemorySegment bytes, CachedBlock pin) {
    static LoadedFile alone(MemorySegment bytes) {
        return new LoadedFile(bytes, null);
    }

    static LoadedFile cached(CachedBlock pin) {
        return new LoadedFile(pin.segment(), pin);
    }

    /** An L0 file without rows of the write CF. */
    record Nothing() {}

    /** A reader that an earlier request made, and what it was made for: level decides on the filter, the key on the plain text. */
    private record Opened(int level, ShardKey key, Object reader) {}

    /**
     * Opens the file, or takes the reader of an earlier request.
     *
     * @param key null if the shard has none
     * @return a {@link BlobReader}, {@link L0Reader}, {@link SstReader} or {@link Nothing}
     * @throws CoplaneException what opening raises; the cache drops the file then, so that the next request reads it anew
     */
    Object open(ShardFile file, ShardKey key) {
        if (pin == null) {
            return make(file, key);
        }
        if (pin.opened() instanceof Opened before && before.level == file.level() && Objects.equals(before.key, key)) {
            return before.reader;
        }
        try {
            Object reader = make(file, key);
            pin.noteOpened(new Opened(file.level(), key, reader));
            return reader;
        } catch (CoplaneException e) {
            pin.discard();
            throw e;
        }
    }

    private Object make(ShardFile file, ShardKey key) {
        if (file.kind() == FileKind.BLOB) {
            return BlobReader.open(bytes, file.id(), key);
        }
        if (file.level() > 0) {
            return pin == null
                    ? SstReader.open(bytes, file.id(), file.level(), key)
                    : SstReader.open(pin, file.id(), file.level(), key);
        }
        L0Reader l0 = pin == null
                ? L0Reader.openWriteOnly(bytes, file.id(), key)
                : L0Reader.openWriteOnly(pin, file.id(), key);
        return l0 == null ? new Nothing() : l0;
    }
}
