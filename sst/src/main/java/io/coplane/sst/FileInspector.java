package io.coplane.sst;

import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;

/**
 * Walks a whole file for tools: tells a visitor what is in it, and every way in which it is not as its format demands. Goes on behind what is broken
 * where it can. Holds one block at a time. Stateless; thread-safe.
 */
public final class FileInspector {
    private FileInspector() {}

    /**
     * Walks a file.
     *
     * @param bytes  the whole file, in native memory, mapped or not; borrowed
     * @param fileId part of the encryption
     * @param key    of the shard; null if it has none
     * @param guard  charged for decoded blocks; borrowed
     */
    public static void inspect(
            MemorySegment bytes, RowFileKind kind, long fileId, ShardKey key, MemoryGuard guard, FileVisitor visitor) {
        Formats.requireNative(bytes);
        try (NativeArena arena = new NativeArena(guard)) {
            switch (kind) {
                case SST -> new TableInspector(bytes, fileId, key, arena, visitor).inspect("", 0, bytes.byteSize());
                case L0 -> inspectL0(bytes, new TableInspector(bytes, fileId, key, arena, visitor), visitor);
                case BLOB -> new BlobInspector(bytes, fileId, key, arena, visitor).inspect();
                case TXN_CHUNK -> new TxnChunkInspector(bytes, fileId, key, arena, visitor).inspect();
            }
        }
    }

    private static void inspectL0(MemorySegment bytes, TableInspector tables, FileVisitor visitor) {
        long size = bytes.byteSize();
        if (size < L0Reader.TAIL_BYTES) {
            visitor.problem(ErrorCode.FILE_TRUNCATED, 0, "Invalid file size");
            return;
        }
        if (bytes.get(Layouts.LE_INT, size - Integer.BYTES) == Formats.SPLIT_L0_MAGIC) {
            tables.inspect(ColumnFamily.WRITE.label(), 0, size);
            return;
        }
        long tail = size - L0Reader.TAIL_BYTES;
        if (bytes.get(Layouts.LE_INT, tail + L0Reader.MAGIC_AT) != Formats.SST_MAGIC) {
            visitor.problem(ErrorCode.FILE_FORMAT, tail + L0Reader.MAGIC_AT, "Invalid magic number");
            return;
        }
        int families = bytes.get(Layouts.LE_INT, tail + L0Reader.FAMILIES_AT);
        if (families != Formats.CF_COUNT) {
            visitor.problem(
                    ErrorCode.FILE_FORMAT,
                    tail + L0Reader.FAMILIES_AT,
                    "L0 file with another number of families: families=" + Integer.toUnsignedString(families));
        }
        visitor.beginTable("file");
        visitor.footer("snap_version", bytes.get(Layouts.LE_LONG, tail + L0Reader.SNAP_VERSION_AT));
        visitor.footer("num_cfs", families);
        visitor.endTable();
        boolean any = false;
        long expected = 0;
        for (ColumnFamily family : ColumnFamily.values()) {
            long at = tail + 4L * family.ordinal();
            long start = bytes.get(Layouts.LE_INT, at) & 0xFFFF_FFFFL;
            long end = family.ordinal() + 1 < Formats.CF_COUNT
                    ? bytes.get(Layouts.LE_INT, at + Integer.BYTES) & 0xFFFF_FFFFL
                    : tail;
            if (start < expected || start > end || end > tail || family.ordinal() == 0 && start != 0) {
                visitor.problem(
                        ErrorCode.FILE_FORMAT, at, "offset of a family is out of bounds: family=" + family.label());
                return;
            }
            expected = end;
            if (start < end) {
                any = true;
                tables.inspect(family.label(), start, end);
            }
        }
        if (!any) {
            visitor.problem(ErrorCode.FILE_FORMAT, 0, "L0 file without a table");
        }
    }
}
