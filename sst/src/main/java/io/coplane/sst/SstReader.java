package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.cache.CachedBlock;
import io.coplane.nativecache.cache.FileSections;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import javax.crypto.spec.SecretKeySpec;

/**
 * One SST, or one column family of an L0 file (sst.md 3, 9). Footer, indexes, filter and properties are checked when it is opened, blocks when they
 * are first read.
 *
 * <p>Borrows the file's bytes: whoever gives them keeps them in native memory, unchanged, until the last reader and cursor are done. Owns nothing.
 * Thread-safe.
 */
public final class SstReader {
    /** Level at which a filter of small values isn't asked (sst.md 4.5). */
    private static final int FILTER_LEVEL = 3;

    private static final long FILTER_LEAST_ENTRY_BYTES = 96;

    /** How long indexes and filter of an idle file stay; each level below halves it (sst.md 9.1). */
    private static final long LEVEL_0_INDEX_SECONDS = 480;

    private static final long LEVEL_0_FILTER_SECONDS = 120;

    private final long fileId;
    private final SstFooter footer;
    private final TableProperties properties;
    private final BinaryFuse8 filter; // null: the table has none
    private final BlockTable blocks;

    private SstReader(
            long fileId, SstFooter footer, TableProperties properties, BinaryFuse8 filter, BlockTable blocks) {
        this.fileId = fileId;
        this.footer = footer;
        this.properties = properties;
        this.filter = filter;
        this.blocks = blocks;
    }

    /**
     * Opens a table file.
     *
     * @param bytes  the whole file, in native memory; borrowed
     * @param fileId names the file in errors
     * @param level  0 .. 3; decides whether point lookups ask the filter
     * @param key    of the shard; null if it has none
     * @throws CoplaneException of code FILE_TRUNCATED, FILE_FORMAT, FILE_CHECKSUM; FILE_ENCRYPTED if the file needs a key
     */
    public static SstReader open(MemorySegment bytes, long fileId, int level, ShardKey key) {
        Formats.requireNative(bytes);
        return open(bytes, null, 0, bytes.byteSize(), fileId, level, key);
    }

    /**
     * Opens a table file that is in the block cache; its blocks go through the cache as well (sst.md 9.5). As the other one, but that the caller
     * holds a pin of the file as long as he uses the reader or a cursor.
     */
    public static SstReader open(CachedBlock file, long fileId, int level, ShardKey key) {
        return open(file.segment(), file, 0, file.segment().byteSize(), fileId, level, key);
    }

    /** Opens the table in {@code start .. end - 1} of a file; both are in bounds. {@code cached}: the file, or null. */
    static SstReader open(
            MemorySegment bytes, CachedBlock cached, long start, long end, long fileId, int level, ShardKey key) {
        String file = Formats.sstName(fileId);
        SstFooter footer = SstFooter.read(bytes, start, end, file);
        ChecksumType checksum = footer.checksum();
        Formats.verifySection(bytes, footer.propertiesOffset(), footer.footerOffset(), checksum, file, "properties");
        TableProperties properties = TableProperties.read(
                bytes,
                footer.propertiesOffset() + Formats.CHECKSUM_BYTES,
                footer.footerOffset(),
                file,
                fileId,
                end - start);
        var indexes = new Place(bytes, footer.indexOffset());
        var filter = new Place(bytes, footer.filterOffset());
        return make(footer, properties, indexes, filter, bytes, cached, fileId, level, key);
    }

    /**
     * The same table over a file of the block cache that has given its indexes and filter back (sst.md 9.1). As {@link #open(CachedBlock, long, int,
     * ShardKey)}; of this reader, only what it knows of footer and properties is used, so its file may be gone.
     *
     * @param file    the blocks; the caller holds pins of all three as long as he uses the reader or a cursor
     * @param indexes what {@link #sections} calls so
     * @param filter  the same; null if there is none
     */
    public SstReader reopen(CachedBlock file, CachedBlock indexes, CachedBlock filter, int level, ShardKey key) {
        long filterBytes = filter == null ? 0 : filter.segment().byteSize();
        if (indexes.segment().byteSize() != footer.filterOffset() - footer.indexOffset()
                || filterBytes != footer.propertiesOffset() - footer.filterOffset()
                || file.segment().byteSize() < footer.indexOffset()) {
            throw new CoplaneException(
                    ErrorCode.INVARIANT_BROKEN, "parts of a file don't fit: file=" + Formats.sstName(fileId));
        }
        return make(
                footer,
                properties,
                new Place(indexes.segment(), 0),
                new Place(filter == null ? MemorySegment.NULL : filter.segment(), 0),
                file.segment(),
                file,
                fileId,
                level,
                key);
    }

    /** Where a section begins in some bytes, which have all of it. */
    private record Place(MemorySegment bytes, long at) {}

    private static SstReader make(
            SstFooter footer,
            TableProperties properties,
            Place indexes,
            Place filterSection,
            MemorySegment bytes,
            CachedBlock cached,
            long fileId,
            int level,
            ShardKey key) {
        String file = Formats.sstName(fileId);
        BlockIndex index = openIndex(footer, indexes, file);
        BlockIndex oldIndex = openOldIndex(footer, indexes, file);
        BinaryFuse8 filter = openFilter(filterSection, footer, file);
        BlockTable blocks = new BlockTable(
                bytes,
                cached,
                fileId,
                file,
                index,
                oldIndex,
                footer.compression(),
                footer.checksum(),
                fileKey(properties, key, file, footer.propertiesOffset()),
                properties.smallest(),
                properties.biggest(),
                properties.maxTs(),
                asksFilter(properties, level) && !index.hasKeyspaces() ? filter : null,
                false);
        return new SstReader(fileId, footer, properties, filter, blocks);
    }

    private static BlockIndex openIndex(SstFooter footer, Place indexes, String file) {
        long from = indexes.at;
        long to = from + footer.oldIndexOffset() - footer.indexOffset();
        Formats.verifySection(indexes.bytes, from, to, footer.checksum(), file, "index");
        BlockIndex index = BlockIndex.open(
                indexes.bytes, from + Formats.CHECKSUM_BYTES, to, footer.tableStart(), footer.oldDataOffset(), file);
        if (index.count() == 0) {
            throw FileErrors.format(file, footer.indexOffset(), "table without blocks");
        }
        return index;
    }

    private static BlockIndex openOldIndex(SstFooter footer, Place indexes, String file) {
        long from = indexes.at + footer.oldIndexOffset() - footer.indexOffset();
        long to = indexes.at + footer.filterOffset() - footer.indexOffset();
        Formats.verifySection(indexes.bytes, from, to, footer.checksum(), file, "old index");
        return BlockIndex.open(
                indexes.bytes, from + Formats.CHECKSUM_BYTES, to, footer.oldDataOffset(), footer.indexOffset(), file);
    }

    /**
     * Opens a table whose blocks are read later.
     *
     * @param indexes    of the file, from the index to the filter
     * @param properties of the file, from the properties to the footer
     * @param stream     has the table's blocks streamed
     */
    static SstReader openStreamed(
            SstFooter footer,
            MemorySegment indexes,
            MemorySegment properties,
            long tableBytes,
            long fileId,
            ShardKey key,
            UnaryOperator<BlockTable> stream) {
        String file = Formats.sstName(fileId);
        ChecksumType checksum = footer.checksum();
        Formats.verifySection(properties, 0, properties.byteSize(), checksum, file, "properties");
        TableProperties read = TableProperties.read(
                properties, Formats.CHECKSUM_BYTES, properties.byteSize(), file, fileId, tableBytes);
        var place = new Place(indexes, 0);
        BlockTable blocks = new BlockTable(
                MemorySegment.NULL,
                null,
                fileId,
                file,
                openIndex(footer, place, file),
                openOldIndex(footer, place, file),
                footer.compression(),
                checksum,
                fileKey(read, key, file, footer.propertiesOffset()),
                read.smallest(),
                read.biggest(),
                read.maxTs(),
                null,
                false);
        return new SstReader(fileId, footer, read, null, stream.apply(blocks));
    }

    /** What a cached file can give back while nobody uses it, and when (sst.md 9.1). {@code level}: 0 .. 3 */
    public FileSections sections(int level) {
        return new FileSections(
                footer.indexOffset(),
                footer.filterOffset(),
                footer.propertiesOffset(),
                TimeUnit.SECONDS.toNanos(LEVEL_0_INDEX_SECONDS >> level),
                TimeUnit.SECONDS.toNanos(LEVEL_0_FILTER_SECONDS >> level));
    }

    /** Frees what a streamed table has read; without effect on others. Its cursors are done. */
    public void release() {
        blocks.release();
    }

    private static SecretKeySpec fileKey(TableProperties properties, ShardKey key, String file, long offset) {
        if (key != null) {
            return key.fileKey(properties.encryptionVersion(), properties.encrypted(), file, offset);
        }
        if (properties.encrypted()) {
            throw FileErrors.encrypted(
                    "file is encrypted and the shard has no key", properties.encryptionVersion(), file, offset);
        }
        return null;
    }

    private static boolean asksFilter(TableProperties properties, int level) {
        return level != FILTER_LEVEL
                || Long.compareUnsigned(
                                properties.kvBytes(),
                                FILTER_LEAST_ENTRY_BYTES * Integer.toUnsignedLong(properties.entries()))
                        >= 0;
    }

    private static BinaryFuse8 openFilter(Place section, SstFooter footer, String file) {
        MemorySegment bytes = section.bytes;
        long from = section.at;
        long to = from + footer.propertiesOffset() - footer.filterOffset();
        if (from == to) {
            return null;
        }
        Formats.verifySection(bytes, from, to, footer.checksum(), file, "filter");
        FilterSection.check(bytes, from, to, file);
        return BinaryFuse8.open(bytes, from + FilterSection.HEADER_BYTES, to, file);
    }

    /**
     * A cursor over this table.
     *
     * @param arena owns the cursor's scratch memory; borrowed
     */
    public TableCursor cursor(boolean reverse, NativeArena arena) {
        return new TableCursor(new BlockTable[] {blocks}, reverse, arena);
    }

    /** File id. */
    public long fileId() {
        return fileId;
    }

    /** What the builder noted about the table. */
    public TableProperties properties() {
        return properties;
    }

    /** First inner key; a copy. */
    public byte[] smallest() {
        return properties.smallest().clone();
    }

    /** Last inner key; a copy. */
    public byte[] biggest() {
        return properties.biggest().clone();
    }

    /** Whether a key lies within the bounds of the table. */
    public boolean spans(byte[] key, int offset, int length) {
        return blocks.spans(key, offset, length);
    }

    /** Order of the table and a key: below 0 if all of its keys are less, above 0 if all are greater, else 0. */
    public int compareBounds(byte[] key, int offset, int length) {
        if (Bytes.compare(key, offset, length, properties.biggest()) > 0) {
            return -1;
        }
        return Bytes.compare(key, offset, length, properties.smallest()) < 0 ? 1 : 0;
    }

    /**
     * Whether the table's bounds touch a range: the loose test, without reading blocks (sst.md 9.7).
     *
     * @param upperInclusive whether {@code upper} belongs to the range
     */
    public boolean touches(byte[] lower, byte[] upper, boolean upperInclusive) {
        int order = Arrays.compareUnsigned(properties.smallest(), upper);
        return Arrays.compareUnsigned(lower, properties.biggest()) <= 0 && (order < 0 || order == 0 && upperInclusive);
    }

    /**
     * Whether the table holds a key of a range (sst.md 9.3).
     *
     * @param arena owns the scratch memory for the block that is read
     */
    public boolean overlaps(byte[] lower, byte[] upper, boolean upperInclusive, NativeArena arena) {
        if (!touches(lower, upper, upperInclusive)) {
            return false;
        }
        TableCursor cursor = cursor(false, arena);
        if (!cursor.seek(lower, 0, lower.length)) {
            return false;
        }
        int order = cursor.compareKey(upper, 0, upper.length);
        return order < 0 || order == 0 && upperInclusive;
    }

    /** What the filter says to a key hash, whether point lookups ask it or not; true without a filter. */
    public boolean mayContain(long keyHash) {
        return filter == null || filter.mayContain(keyHash);
    }

    /** Whether the table has a filter. */
    public boolean hasFilter() {
        return filter != null;
    }

    /** Compression of the blocks. */
    public CompressionType compression() {
        return footer.compression();
    }

    /** Checksum of the sections. */
    public ChecksumType checksum() {
        return footer.checksum();
    }

    /** Offset in the table from which on all is metadata (sst.md 10). */
    public long metaOffset() {
        return footer.indexOffset() - footer.tableStart();
    }

    /** How many blocks of newest versions there are. */
    public int blockCount() {
        return blocks.index.count();
    }

    /** First inner key of a block of newest versions; a copy. No key is in two of them. */
    public byte[] copyBlockKey(int block) {
        return blocks.index.copyKey(block);
    }

    /** Bytes that a block of newest versions takes in the file. */
    public long blockBytes(int block) {
        return blocks.index.end(block) - blocks.index.start(block);
    }

    SstFooter footer() {
        return footer;
    }

    BlockTable blocks() {
        return blocks;
    }
}
