package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/**
 * The end of a table file: its properties and its footer. Enough to know what it holds and how large it is (sst.md 10). Borrows the bytes. Immutable,
 * thread-safe.
 */
public final class TinyMeta {
    private static final String NAME = ".tiny";

    private final MemorySegment bytes;
    private final long fileId;
    private final String file;
    private final SstFooter footer;
    private final long propertiesOffset;

    private TinyMeta(MemorySegment bytes, long fileId, String file, SstFooter footer, long propertiesOffset) {
        this.bytes = bytes;
        this.fileId = fileId;
        this.file = file;
        this.footer = footer;
        this.propertiesOffset = propertiesOffset;
    }

    /**
     * Opens the tiny meta of a table. The properties are checked when they are asked for.
     *
     * @param bytes from the properties to the end of the file, borrowed
     * @throws io.coplane.nativecache.CoplaneException of code FILE_TRUNCATED, FILE_FORMAT
     */
    public static TinyMeta open(MemorySegment bytes, long fileId) {
        String file = Formats.sstName(fileId) + NAME;
        SstFooter.requireMatch(bytes, file, "SstTinyMeta: footer not match: " + Long.toUnsignedString(fileId));
        long at = bytes.byteSize() - SstFooter.BYTES;
        long propertiesOffset = bytes.get(Layouts.LE_INT, at + SstFooter.PROPERTIES_AT) & 0xFFFF_FFFFL;
        SstFooter footer = SstFooter.read(bytes, -propertiesOffset, bytes.byteSize(), file);
        return new TinyMeta(bytes, fileId, file, footer, propertiesOffset);
    }

    /** Bytes of the whole file. */
    public long fileBytes() {
        return propertiesOffset + bytes.byteSize();
    }

    /** Bytes of its meta part. */
    public long metaBytes() {
        return fileBytes() - metaOffset();
    }

    /** Offset in the file from which on all is metadata. */
    public long metaOffset() {
        return propertiesOffset + footer.indexOffset();
    }

    /**
     * The properties.
     *
     * @throws io.coplane.nativecache.CoplaneException of code FILE_FORMAT, FILE_CHECKSUM
     */
    public TableProperties properties() {
        return properties(bytes, footer, fileId, fileBytes(), file);
    }

    /** Verifies and reads the properties section that a footer names. */
    static TableProperties properties(
            MemorySegment bytes, SstFooter footer, long fileId, long tableBytes, String file) {
        long from = footer.propertiesOffset();
        long to = footer.footerOffset();
        Formats.verifySection(bytes, from, to, footer.checksum(), file, "properties");
        return TableProperties.read(bytes, from + Formats.CHECKSUM_BYTES, to, file, fileId, tableBytes);
    }
}
