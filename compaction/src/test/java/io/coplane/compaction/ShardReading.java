package io.coplane.compaction;

import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.BlobFetcher;
import io.coplane.sst.BlobReader;
import io.coplane.sst.BlobRef;
import io.coplane.sst.L0Reader;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstReader;
import io.coplane.sst.TableCursor;
import io.coplane.sst.ValueMeta;
import io.coplane.testing.Dumps;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Reads files of a {@link MemoryStore} by the readers that hold files whole. Owns its memory. */
final class ShardReading implements AutoCloseable {
    private final MemoryStore store;
    private final ShardKey key;
    private final MemoryGuard guard = MemoryGuard.unlimited();
    private final NativeArena arena = new NativeArena(guard);
    private final BlobFetcher fetcher = new BlobFetcher(arena);

    ShardReading(MemoryStore store, ShardKey key) {
        this.store = store;
        this.key = key;
    }

    MemorySegment bytes(FileKind kind, long fileId) {
        byte[] object = store.objects.get(new MemoryStore.Name(kind, fileId));
        if (object == null) {
            throw new AssertionError("no such object: kind=" + kind + " fileId=" + fileId);
        }
        MemorySegment segment = arena.allocate(object.length);
        MemorySegment.copy(object, 0, segment, Layouts.BYTE, 0, object.length);
        return segment;
    }

    SstReader sst(long fileId, int level) {
        return SstReader.open(bytes(FileKind.SST, fileId), fileId, level, key);
    }

    L0Reader l0(long fileId) {
        return L0Reader.open(bytes(FileKind.SST, fileId), fileId, key);
    }

    BlobReader blob(long fileId) {
        return BlobReader.open(bytes(FileKind.BLOB, fileId), fileId, key);
    }

    /** Entries as a dump writes them: key, version, meta without the bits of old versions and blobs, user meta, value, {@code blob} or {@code -}. */
    List<String> lines(SstReader table) {
        var lines = new ArrayList<String>();
        TableCursor cursor = table.cursor(false, arena);
        for (boolean more = cursor.rewind(); more; more = cursor.nextAllVersions()) {
            boolean isBlob = (cursor.meta() & ValueMeta.BLOB_REF) != 0;
            byte[] value = isBlob ? value(cursor) : cursor.copyValue();
            lines.add(String.join(
                    "\t",
                    Dumps.hex(cursor.copyKey()),
                    Long.toUnsignedString(cursor.version()),
                    Dumps.hex(new byte[] {(byte) (cursor.meta() & ~(ValueMeta.HAS_OLD_VERSION | ValueMeta.BLOB_REF))}),
                    Dumps.hex(cursor.copyUserMeta()),
                    Dumps.value(value),
                    isBlob ? "blob" : Dumps.NONE));
        }
        return lines;
    }

    byte[] value(TableCursor cursor) {
        BlobRef ref = BlobRef.read(cursor.valueSegment(), cursor.valueOffset(), cursor.valueLength());
        return fetcher.fetch(blob(ref.fileId()), ref).toArray(Layouts.BYTE);
    }

    NativeArena arena() {
        return arena;
    }

    @Override
    public void close() {
        arena.close();
        guard.close();
    }
}
