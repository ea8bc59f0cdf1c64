package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The meta part of a table or blob file, kept apart from its data: all from the meta offset on (sst.md 10, ia.md 7 and 8). It tells how large the file
 * is, and where its data may be cut into segments that no block crosses.
 *
 * <p>Offsets are of the whole file. Borrows the bytes. Immutable, thread-safe.
 */
public final class MetaFile {
    private static final String NAME_SUFFIX = ".meta";
    private static final int ID_DIGITS = 16;
    private static final int HEX = 16;

    /** What a cache entry counts besides the meta bytes and 8 for each segment offset (ia.md 7.4). */
    private static final int OVERHEAD_BYTES = 25;

    private final MemorySegment bytes;
    private final FileKind kind;
    private final long fileId;
    private final long metaOffset;
    private final byte[] smallest;
    private final byte[] biggest;
    private final SstFooter footer; // null, as the next three: a blob file
    private final TableProperties properties;
    private final BlockIndex index;
    private final BlockIndex oldIndex;
    private final BlobIndex blobIndex; // null: a table

    private MetaFile(MemorySegment bytes, long fileId, SstFooter footer, long metaOffset, String file) {
        this.bytes = bytes;
        this.kind = FileKind.SST;
        this.fileId = fileId;
        this.metaOffset = metaOffset;
        this.footer = footer;
        this.blobIndex = null;
        ChecksumType checksum = footer.checksum();
        Formats.verifySection(bytes, 0, footer.oldIndexOffset(), checksum, file, "index");
        Formats.verifySection(bytes, footer.oldIndexOffset(), footer.filterOffset(), checksum, file, "old index");
        long oldDataOffset = metaOffset + footer.oldDataOffset();
        index = BlockIndex.open(bytes, Formats.CHECKSUM_BYTES, footer.oldIndexOffset(), 0, oldDataOffset, file);
        oldIndex = BlockIndex.open(
                bytes,
                footer.oldIndexOffset() + Formats.CHECKSUM_BYTES,
                footer.filterOffset(),
                oldDataOffset,
                metaOffset,
                file);
        properties = TinyMeta.properties(bytes, footer, fileId, metaOffset + bytes.byteSize(), file);
        smallest = properties.smallest();
        biggest = properties.biggest();
    }

    private MetaFile(MemorySegment bytes, long fileId, BlobFooter blob, String file) {
        this.bytes = bytes;
        this.kind = FileKind.BLOB;
        this.fileId = fileId;
        this.metaOffset = blob.indexOffset();
        this.footer = null;
        this.properties = null;
        this.index = null;
        this.oldIndex = null;
        long propertiesAt = blob.propertiesOffset() - blob.indexOffset();
        blobIndex = new BlobIndex(bytes, 0, propertiesAt, metaOffset, blob.checksum(), file);
        BlobFooter.Properties named =
                BlobFooter.Properties.read(bytes, propertiesAt, bytes.byteSize() - BlobFooter.BYTES, file);
        smallest = named.smallest();
        biggest = named.biggest();
    }

    /**
     * Opens the meta part of a table file.
     *
     * @param bytes  from the meta offset to the end of the file, in native memory; borrowed
     * @param fileId of the table
     * @throws CoplaneException of code FILE_FORMAT, FILE_TRUNCATED, FILE_CHECKSUM
     */
    public static MetaFile openSst(MemorySegment bytes, long fileId) {
        Formats.requireNative(bytes);
        String file = name(FileKind.SST, fileId);
        SstFooter.requireMatch(
                bytes, file, "IA manager error: " + Long.toUnsignedString(fileId) + " open for sst: footer not match");
        long at = bytes.byteSize() - SstFooter.BYTES;
        long metaOffset = bytes.get(Layouts.LE_INT, at + SstFooter.INDEX_AT) & 0xFFFF_FFFFL;
        // the table starts before these bytes: at a negative offset
        SstFooter footer = SstFooter.read(bytes, -metaOffset, bytes.byteSize(), file);
        return new MetaFile(bytes, fileId, footer, metaOffset, file);
    }

    /** Opens the meta part of a blob file. As {@link #openSst}. */
    public static MetaFile openBlob(MemorySegment bytes, long fileId) {
        Formats.requireNative(bytes);
        String file = name(FileKind.BLOB, fileId);
        BlobFooter footer = BlobFooter.read(bytes, file);
        long length = bytes.byteSize() - BlobFooter.BYTES;
        if (footer.propertiesOffset() - footer.indexOffset() > length) {
            throw FileErrors.format(file, length, "sections of the footer don't follow each other");
        }
        return new MetaFile(bytes, fileId, footer, file);
    }

    /**
     * The meta part of a whole table file; borrows from it. No more is checked than that it is in bounds.
     *
     * @throws CoplaneException of code FILE_TRUNCATED
     */
    public static MemorySegment ofTable(MemorySegment file, long fileId) {
        long at = file.byteSize() - SstFooter.BYTES;
        long from = at < 0 ? 0 : file.get(Layouts.LE_INT, at + SstFooter.INDEX_AT) & 0xFFFF_FFFFL;
        if (at < 0 || from > at + SstFooter.BYTES) {
            throw FileErrors.truncated(Formats.sstName(fileId), Math.max(0, at), "Invalid file size");
        }
        return file.asSlice(from);
    }

    /** Name of a local file with the meta part: {@code 000000000000002a.sst.meta}. */
    public static String name(FileKind kind, long fileId) {
        return ObjectKeys.fileName(kind, fileId) + NAME_SUFFIX;
    }

    /**
     * Whose meta part a local file is.
     *
     * @param kind   of the file
     * @param fileId of the file
     */
    public record Name(FileKind kind, long fileId) {
        /** Parses a file name (ia.md 2.2). @return null if it is none of a meta part */
        public static Name parse(String name) {
            int idEnd = name.indexOf('.');
            int suffixEnd = name.length() - NAME_SUFFIX.length();
            if (idEnd < 1 || idEnd > ID_DIGITS || idEnd >= suffixEnd || !name.endsWith(NAME_SUFFIX)) {
                return null;
            }
            for (int i = 0; i < idEnd; i++) {
                if (!HexFormat.isHexDigit(name.charAt(i))) {
                    return null;
                }
            }
            String suffix = name.substring(idEnd + 1, suffixEnd);
            for (FileKind kind : FileKind.values()) {
                if (kind.suffix().equals(suffix) && hasMeta(kind)) {
                    return new Name(kind, Long.parseUnsignedLong(name.substring(0, idEnd), HEX));
                }
            }
            return null;
        }

        private static boolean hasMeta(FileKind kind) {
            return switch (kind) {
                case SST, COLUMNAR, BLOB, VECTOR_INDEX, FTS_PACKED, FTS_DEDICATED -> true;
                case TXN_CHUNK, SCHEMA, ENCRYPTION -> false;
            };
        }
    }

    /**
     * Checks a table's filter, which nobody needs to look for blocks: its checksum, its sizes, and that it admits the first key of every block.
     *
     * @throws CoplaneException of code FILE_FORMAT, FILE_CHECKSUM
     */
    public void verifyFilter() {
        if (footer == null || footer.filterOffset() == footer.propertiesOffset()) {
            return;
        }
        String file = name(kind, fileId);
        long from = footer.filterOffset();
        long to = footer.propertiesOffset();
        Formats.verifySection(bytes, from, to, footer.checksum(), file, "filter");
        FilterSection.check(bytes, from, to, file);
        BinaryFuse8 filter = BinaryFuse8.open(bytes, from + FilterSection.HEADER_BYTES, to, file);
        for (int i = 0; i < index.count() && !index.hasKeyspaces(); i++) { // else it is over other keys (sst.md 13)
            if (!filter.mayContain(Fingerprint64.hash(index.copyKey(i)))) {
                throw FileErrors.format(file, from, "filter denies the first key of a block: block=" + i);
            }
        }
    }

    /** Offset of the filter in these bytes, for whoever says where something is broken. */
    public long filterOffset() {
        return footer == null ? 0 : footer.filterOffset();
    }

    /** Kind of the file: a table or a blob file. */
    public FileKind kind() {
        return kind;
    }

    /** File id. */
    public long fileId() {
        return fileId;
    }

    /** Bytes of the whole file. */
    public long fileBytes() {
        return metaOffset + bytes.byteSize();
    }

    /** Offset from which on all is metadata. */
    public long metaOffset() {
        return metaOffset;
    }

    /** Least inner key; a copy. */
    public byte[] smallest() {
        return smallest.clone();
    }

    /** Greatest inner key; a copy. */
    public byte[] biggest() {
        return biggest.clone();
    }

    /** Properties of a table; null for a blob file. */
    public TableProperties properties() {
        return properties;
    }

    /**
     * A property by its name in the file.
     *
     * @return its value, unsigned
     * @throws CoplaneException of code UNSUPPORTED for any other than {@code max_ts}, the only one that is asked for (sst.md 10)
     */
    public long property(String name) {
        if (!name.equals(TableProperties.MAX_TS)) {
            throw new CoplaneException(ErrorCode.UNSUPPORTED, "property not supported: " + name);
        }
        if (properties == null) {
            throw new CoplaneException(ErrorCode.UNSUPPORTED, "property not found: " + name);
        }
        return properties.maxTs();
    }

    /** Properties and footer of a table: its tiny meta. Borrowed. */
    public MemorySegment tinyMeta() {
        if (footer == null) {
            throw new CoplaneException(ErrorCode.UNSUPPORTED, "blob files have no tiny meta");
        }
        return bytes.asSlice(footer.propertiesOffset());
    }

    /**
     * Where the data is cut into segments (ia.md 7.1): ascending from 0; the last is the end of the data.
     *
     * @param segmentBytes a segment ends with the block that reaches this size; at least 1
     */
    public long[] segmentOffsets(long segmentBytes) {
        var cuts = new Cuts(segmentBytes);
        if (blobIndex != null) {
            for (int i = 0; i < blobIndex.count(); i++) {
                cuts.block(blobIndex.offset(i));
            }
            cuts.end(metaOffset);
            return cuts.offsets();
        }
        for (int i = 0; i < index.count(); i++) {
            cuts.block(index.start(i));
        }
        cuts.end(metaOffset + footer.oldDataOffset());
        for (int i = 0; i < oldIndex.count(); i++) {
            cuts.block(oldIndex.start(i));
        }
        cuts.end(metaOffset);
        return cuts.offsets();
    }

    /**
     * Bytes of a table's data blocks that may hold keys of a range (ia.md 7.3).
     *
     * @param upper exclusive
     * @return first offset and end; equal if there are none
     */
    public long[] dataRange(byte[] lower, byte[] upper) {
        boolean touches = Arrays.compareUnsigned(lower, upper) < 0
                && Arrays.compareUnsigned(smallest, upper) < 0
                && Arrays.compareUnsigned(lower, biggest) <= 0;
        if (index == null || index.count() == 0 || !touches) {
            return new long[] {0, 0};
        }
        int first = index.blockOf(lower, 0, lower.length);
        int last = index.blockOf(upper, 0, upper.length);
        if (last > first && Arrays.compareUnsigned(index.copyKey(last), upper) >= 0) {
            last--; // begins with the bound itself, which isn't in the range
        }
        return new long[] {index.start(first), index.end(last)};
    }

    /** What a cache entry with so many segment offsets counts (ia.md 7.4). */
    public long memoryBytes(int segmentOffsets) {
        return bytes.byteSize() + (long) Long.BYTES * segmentOffsets + OVERHEAD_BYTES;
    }

    /** Collects the offsets at which data is cut. */
    private static final class Cuts {
        private final long segmentBytes;
        private long[] offsets = new long[16]; // the first is 0
        private int count = 1;

        Cuts(long segmentBytes) {
            this.segmentBytes = Math.max(1, segmentBytes);
        }

        void block(long start) {
            if (start - offsets[count - 1] >= segmentBytes) {
                add(start);
            }
        }

        void end(long offset) {
            if (offset > offsets[count - 1]) {
                add(offset);
            }
        }

        private void add(long offset) {
            if (count == offsets.length) {
                offsets = Arrays.copyOf(offsets, 2 * count);
            }
            offsets[count++] = offset;
        }

        long[] offsets() {
            return Arrays.copyOf(offsets, count);
        }
    }
}
