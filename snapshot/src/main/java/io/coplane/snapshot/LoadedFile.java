package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
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
 * A file of a snapshot: whole in the request's arena, or pinned in the block cache by the request, where an idle file has its indexes and filter
 * apart. Borrows all of it. Immutable.
 *
 * @param pin null if the file is not cached
 * @param indexes null if they are in the file
 * @param filter null if it is in the file, or there is none
 */
record LoadedFile(MemorySegment bytes, CachedBlock pin, CachedBlock indexes, CachedBlock filter) {
    static LoadedFile alone(MemorySegment bytes) {
        return new LoadedFile(bytes, null, null, null);
    }

    static LoadedFile cached(CachedBlock pin, CachedBlock indexes, CachedBlock filter) {
        return new LoadedFile(pin.segment(), pin, indexes, filter);
    }

    /** An L0 file without rows of the write CF. */
    record Nothing() {}

    /**
     * A reader that an earlier request made, and what it was made for: level decides on the filter, the key on the plain text, and the reader is
     * valid only with the sections that it was made over.
     */
    private record Opened(int level, ShardKey key, CachedBlock indexes, CachedBlock filter, Object reader) {
        @SuppressWarnings("ReferenceEquality") // values of the cache are what they are
        private boolean fits(LoadedFile file, int ofLevel, ShardKey ofKey) {
            return level == ofLevel && Objects.equals(key, ofKey) && indexes == file.indexes && filter == file.filter;
        }
    }

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
        Object before = pin.opened();
        if (before instanceof Opened opened && opened.fits(this, file.level(), key)) {
            return opened.reader;
        }
        try {
            Object reader = indexes == null ? make(file, key) : reopen(((Opened) before).reader, file, key);
            pin.noteOpened(new Opened(file.level(), key, indexes, filter, reader));
            switch (reader) {
                case L0Reader l0 -> pin.noteSections(l0.sections());
                case SstReader table -> pin.noteSections(table.sections(file.level()));
                default -> {
                    // nothing that has a clock
                }
            }
            return reader;
        } catch (CoplaneException e) {
            if (e.code() != ErrorCode.FILE_ENCRYPTED && e.code() != ErrorCode.BAD_ENCRYPTION_KEY) { // else it is sound
                discard();
            }
            throw e;
        }
    }

    private void discard() {
        pin.discard();
        if (indexes != null) {
            indexes.discard();
        }
        if (filter != null) {
            filter.discard();
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

    /** The reader of an earlier request, over the sections that were loaded anew. */
    private Object reopen(Object before, ShardFile file, ShardKey key) {
        return switch (before) {
            case L0Reader l0 when file.level() == 0 -> l0.reopen(pin, indexes, filter, key);
            case SstReader table when file.level() > 0 -> table.reopen(pin, indexes, filter, file.level(), key);
            default ->
                throw new CoplaneException( // a later request reads it whole
                        ErrorCode.BAD_CHANGE_SET,
                        "file is of another level than before: id=" + Long.toUnsignedString(file.id()) + " level="
                                + file.level());
        };
    }
}
