package io.coplane.sst;

import io.coplane.nativecache.cache.CachedBlock;
import io.coplane.nativecache.cache.FileSections;
import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * One L0 file: a table for each column family that has rows, or a split L0 file with the write family only (sst.md 6).
 *
 * <pre>
 * last 28 bytes of a file with several families; all integers little-endian
 * at  bytes  field        unit and bounds
 *  0   3 x 4  offsets      bytes from file start; an empty family starts where the next one does
 * 12      8  snapVersion
 * 20      4  families     3
 * 24      4  magic        0xAF454059
 * </pre>
 *
 * Borrows the file's bytes, as {@link SstReader} does. Thread-safe.
 */
public final class L0Reader {
    static final int SNAP_VERSION_AT = Formats.CF_COUNT * Integer.BYTES;
    static final int FAMILIES_AT = SNAP_VERSION_AT + Long.BYTES;
    static final int MAGIC_AT = FAMILIES_AT + Integer.BYTES;
    static final int TAIL_BYTES = MAGIC_AT + Integer.BYTES;

    private final long fileId;
    private final long byteSize;
    private final long snapVersion;
    private final SstReader[] families;
    private final byte[] smallest;
    private final byte[] biggest;

    L0Reader(long fileId, long byteSize, long snapVersion, SstReader[] families) {
        this.fileId = fileId;
        this.byteSize = byteSize;
        this.snapVersion = snapVersion;
        this.families = families;
        byte[] least = null;
        byte[] greatest = null;
        for (SstReader family : families) {
            if (family != null) {
                byte[] from = family.smallest();
                byte[] to = family.biggest();
                least = least == null || Arrays.compareUnsigned(from, least) < 0 ? from : least;
                greatest = greatest == null || Arrays.compareUnsigned(to, greatest) > 0 ? to : greatest;
            }
        }
        this.smallest = least;
        this.biggest = greatest;
    }

    /**
     * Opens a file with all its families.
     *
     * @param bytes the whole file, in native memory; borrowed
     * @param key   of the shard; null if it has none
     * @throws io.coplane.nativecache.CoplaneException as {@link SstReader#open}; FILE_FORMAT if no family has rows
     */
    public static L0Reader open(MemorySegment bytes, long fileId, ShardKey key) {
        L0Reader reader = open(bytes, null, fileId, key, Formats.CF_COUNT);
        if (reader == null) {
            throw FileErrors.format(Formats.sstName(fileId), 0, "L0 file without a table");
        }
        return reader;
    }

    /**
     * Opens a file with its write family only.
     *
     * @return null if it has none
     */
    public static L0Reader openWriteOnly(MemorySegment bytes, long fileId, ShardKey key) {
        return open(bytes, null, fileId, key, 1);
    }

    /** As the other one, of a file in the block cache; the caller holds a pin of it as long as he uses the reader or a cursor. */
    public static L0Reader openWriteOnly(CachedBlock file, long fileId, ShardKey key) {
        return open(file.segment(), file, fileId, key, 1);
    }

    /** As {@link SstReader#reopen}, of a reader with the write family only. */
    public L0Reader reopen(CachedBlock file, CachedBlock indexes, CachedBlock filter, ShardKey key) {
        var write = new SstReader[Formats.CF_COUNT];
        write[0] = families[0].reopen(file, indexes, filter, 0, key);
        return new L0Reader(fileId, byteSize, snapVersion, write);
    }

    /** What a cached file can give back while nobody uses it: of the write family, and what the reader does not read at all. */
    public FileSections sections() {
        return families[0].sections(0);
    }

    private static L0Reader open(MemorySegment bytes, CachedBlock cached, long fileId, ShardKey key, int wanted) {
        Formats.requireNative(bytes);
        String file = Formats.sstName(fileId);
        long size = bytes.byteSize();
        if (size < TAIL_BYTES) {
            throw FileErrors.truncated(file, 0, "Invalid file size");
        }
        long tail = size - TAIL_BYTES;
        var families = new SstReader[Formats.CF_COUNT];
        if (isSplit(bytes, tail)) {
            SstReader write = SstReader.open(bytes, cached, 0, size, fileId, 0, key);
            families[0] = write;
            return new L0Reader(fileId, size, write.properties().snapVersion(), families);
        }
        long[] bounds = bounds(bytes, tail, tail, file);
        boolean any = false;
        for (int cf = 0; cf < wanted; cf++) {
            if (bounds[cf] < bounds[cf + 1]) {
                families[cf] = SstReader.open(bytes, cached, bounds[cf], bounds[cf + 1], fileId, 0, key);
                any = true;
            }
        }
        return any ? new L0Reader(fileId, size, snapVersion(bytes, tail), families) : null;
    }

    /** Whether the file that ends with the tail at {@code at} is a split one. */
    static boolean isSplit(MemorySegment bytes, long at) {
        return bytes.get(Layouts.LE_INT, at + MAGIC_AT) == Formats.SPLIT_L0_MAGIC;
    }

    static long snapVersion(MemorySegment bytes, long at) {
        return bytes.get(Layouts.LE_LONG, at + SNAP_VERSION_AT);
    }

    /**
     * Where the families are: one begins where the one before it ends.
     *
     * @param at   of the tail in {@code bytes}
     * @param tail offset of the tail in the file
     * @return of families 0 to 2 the start, and the end of the last one
     */
    static long[] bounds(MemorySegment bytes, long at, long tail, String file) {
        if (bytes.get(Layouts.LE_INT, at + MAGIC_AT) != Formats.SST_MAGIC) {
            throw FileErrors.format(file, tail + MAGIC_AT, "Invalid magic number");
        }
        if (bytes.get(Layouts.LE_INT, at + FAMILIES_AT) != Formats.CF_COUNT) {
            throw FileErrors.format(
                    file,
                    tail + FAMILIES_AT,
                    "L0 file with another number of families: families="
                            + Integer.toUnsignedString(bytes.get(Layouts.LE_INT, at + FAMILIES_AT)));
        }
        long[] bounds = new long[Formats.CF_COUNT + 1];
        bounds[Formats.CF_COUNT] = tail;
        for (int cf = 0; cf < Formats.CF_COUNT; cf++) {
            bounds[cf] = bytes.get(Layouts.LE_INT, at + 4L * cf) & 0xFFFF_FFFFL;
        }
        for (int cf = 0; cf < Formats.CF_COUNT; cf++) {
            if (bounds[cf] > bounds[cf + 1] || bounds[cf + 1] > tail) {
                throw FileErrors.format(file, tail + 4L * cf, "offset of a family is out of bounds: family=" + cf);
            }
        }
        return bounds;
    }

    /** The table of a family; null if it has no rows or was not opened. */
    public SstReader family(ColumnFamily family) {
        return families[family.ordinal()];
    }

    /** The tables of all families opened. */
    public List<SstReader> families() {
        return Arrays.stream(families).filter(Objects::nonNull).toList();
    }

    /** File id. */
    public long fileId() {
        return fileId;
    }

    /** Bytes of the file. */
    public long byteSize() {
        return byteSize;
    }

    /** Orders L0 files: of two, the greater one has the newer rows. */
    public long snapVersion() {
        return snapVersion;
    }

    /** Least key of all families opened; a copy. */
    public byte[] smallest() {
        return smallest.clone();
    }

    /** Greatest key of all families opened; a copy. */
    public byte[] biggest() {
        return biggest.clone();
    }

    /** Newest timestamp of the write and extra families, unsigned: versions of locks are none. */
    public long maxTs() {
        long newest = 0;
        for (ColumnFamily family : ColumnFamily.values()) {
            SstReader table = family(family);
            if (table != null
                    && family != ColumnFamily.LOCK
                    && Long.compareUnsigned(table.properties().maxTs(), newest) > 0) {
                newest = table.properties().maxTs();
            }
        }
        return newest;
    }

    /** Distinct keys of all families opened. */
    public long entries() {
        long sum = 0;
        for (SstReader family : families) {
            sum += family == null
                    ? 0
                    : Integer.toUnsignedLong(family.properties().entries());
        }
        return sum;
    }

    /** Key and value bytes of the write family. */
    public long kvBytes() {
        return families[0] == null ? 0 : families[0].properties().kvBytes();
    }

    /** Entries without a value in the write family. */
    public long tombs() {
        return families[0] == null
                ? 0
                : Integer.toUnsignedLong(families[0].properties().tombs());
    }

    /** Stored bytes of the blobs that all families opened refer to. */
    public long blobBytes() {
        long sum = 0;
        for (SstReader family : families) {
            sum += family == null ? 0 : family.properties().inUseBlobBytes();
        }
        return sum;
    }
}
