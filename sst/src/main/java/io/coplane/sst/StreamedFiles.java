package io.coplane.sst;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * Opens files that are read once from front to back, without holding them whole: footers, indexes and properties are read at once, blocks when a
 * cursor gets to them, a piece ahead of it. Filters are not read: a point lookup in such a table goes to its blocks.
 *
 * <p>A reader opened here has one cursor at a time, which moves forward; {@link SstReader#release} frees what it has read.
 * Indexes live in the arena, pieces are charged to the guard. Thread-safe.
 */
public final class StreamedFiles {
    /** What is read at the end of a file at first: footer and, as a rule, properties. */
    private static final long TAIL_BYTES = 4 << 10;

    private final NativeArena arena;
    private final MemoryGuard guard;
    private final ShardKey key;
    private final int pieceBytes;
    private final BooleanSupplier relief;

    /**
     * @param arena      owns indexes and properties; borrowed
     * @param guard      charged for pieces; borrowed
     * @param key        of the shard; null if it has none
     * @param pieceBytes bytes read at a time, if blocks aren't larger; of each table two pieces of main and two of old blocks may be held
     * @param relief     asked when a piece that is needed gets no memory, on the reader's thread: frees some, and says whether it did
     */
    public StreamedFiles(NativeArena arena, MemoryGuard guard, ShardKey key, int pieceBytes, BooleanSupplier relief) {
        this.arena = arena;
        this.guard = guard;
        this.key = key;
        this.pieceBytes = pieceBytes;
        this.relief = relief;
    }

    /** Opens a table file of levels 1 to 3. Fails as {@link SstReader#open} throws. */
    public CompletableFuture<SstReader> openSst(FileParts file, long fileId) {
        return openTable(file, 0, file.byteSize(), fileId);
    }

    /** Opens an L0 file with all its families. Fails as {@link L0Reader#open} throws. */
    public CompletableFuture<L0Reader> openL0(FileParts file, long fileId) {
        String name = Formats.sstName(fileId);
        long size = file.byteSize();
        if (size < L0Reader.TAIL_BYTES) {
            return CompletableFuture.failedFuture(FileErrors.truncated(name, 0, "Invalid file size"));
        }
        long tailAt = size - L0Reader.TAIL_BYTES;
        return read(file, tailAt, size, name).thenCompose(tail -> {
            if (L0Reader.isSplit(tail, 0)) {
                return openTable(file, 0, size, fileId)
                        .thenApply(write -> new L0Reader(
                                fileId, size, write.properties().snapVersion(), new SstReader[] {write, null, null}));
            }
            long[] bounds = L0Reader.bounds(tail, 0, tailAt, name);
            var families = new SstReader[Formats.CF_COUNT];
            CompletableFuture<Void> all = CompletableFuture.completedFuture(null);
            for (int cf = 0; cf < Formats.CF_COUNT; cf++) {
                if (bounds[cf] < bounds[cf + 1]) {
                    int family = cf;
                    CompletableFuture<SstReader> opening = openTable(file, bounds[cf], bounds[cf + 1], fileId);
                    all = all.thenCombine(opening, (nothing, table) -> {
                        families[family] = table;
                        return null;
                    });
                }
            }
            return all.thenApply(nothing -> {
                if (families[0] == null && families[1] == null && families[2] == null) {
                    throw FileErrors.format(name, 0, "L0 file without a table");
                }
                return new L0Reader(fileId, size, L0Reader.snapVersion(tail, 0), families);
            });
        });
    }

    /** Opens a blob file; values are fetched with their record. Fails as {@link BlobReader#open} throws. */
    public CompletableFuture<BlobReader> openBlob(FileParts file, long fileId) {
        String name = Formats.blobName(fileId);
        long size = file.byteSize();
        if (size < BlobFooter.BYTES) {
            return CompletableFuture.failedFuture(FileErrors.truncated(name, 0, "Invalid file size"));
        }
        long tailAt = Math.max(0, size - TAIL_BYTES);
        return read(file, tailAt, size, name).thenCompose(tail -> {
            long needed = BlobReader.propertiesOffset(tail);
            if (needed >= tailAt || needed > size) {
                return CompletableFuture.completedFuture(BlobReader.openTail(tail, tailAt, fileId, key));
            }
            return read(file, needed, size, name).thenApply(longer -> BlobReader.openTail(longer, needed, fileId, key));
        });
    }

    private CompletableFuture<SstReader> openTable(FileParts file, long start, long end, long fileId) {
        String name = Formats.sstName(fileId);
        if (end - start < SstFooter.BYTES) {
            return CompletableFuture.failedFuture(FileErrors.truncated(name, start, "Invalid file size"));
        }
        long tailAt = Math.max(start, end - TAIL_BYTES);
        return read(file, tailAt, end, name).thenCompose(tail -> {
            SstFooter footer = SstFooter.readAt(tail, tail.byteSize() - SstFooter.BYTES, start, end, name);
            CompletableFuture<MemorySegment> indexes = read(file, footer.indexOffset(), footer.filterOffset(), name);
            if (footer.propertiesOffset() >= tailAt) {
                MemorySegment properties = tail.asSlice(
                        footer.propertiesOffset() - tailAt, footer.footerOffset() - footer.propertiesOffset());
                return indexes.thenApply(index -> open(file, footer, index, properties, end - start, fileId));
            }
            return indexes.thenCombine(
                    read(file, footer.propertiesOffset(), footer.footerOffset(), name),
                    (index, properties) -> open(file, footer, index, properties, end - start, fileId));
        });
    }

    private SstReader open(
            FileParts file,
            SstFooter footer,
            MemorySegment indexes,
            MemorySegment properties,
            long tableBytes,
            long fileId) {
        return SstReader.openStreamed(
                footer,
                indexes,
                properties,
                tableBytes,
                fileId,
                key,
                table -> table.streamed(file, pieceBytes, guard, relief));
    }

    private CompletableFuture<MemorySegment> read(FileParts file, long start, long end, String name) {
        if (start == end) {
            return CompletableFuture.completedFuture(MemorySegment.NULL);
        }
        return file.read(start, end, arena).thenApply(bytes -> {
            if (bytes.byteSize() != end - start) {
                throw FileErrors.truncated(
                        name,
                        start,
                        "read another number of bytes: bytes=" + bytes.byteSize() + " wanted=" + (end - start));
            }
            return bytes;
        });
    }

    /** Bytes that a blob's record takes in its file. */
    public static long recordBytes(BlobRef ref) {
        return BlobReader.RECORD_HEADER_BYTES + Integer.toUnsignedLong(ref.storedBytes());
    }
}
