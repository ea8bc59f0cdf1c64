package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import javax.crypto.spec.SecretKeySpec;

/**
 * One blob file: large values that tables refer to (sst.md 7). Records, then index, properties and footer ({@link BlobFooter}). Values are fetched by
 * a {@link BlobFetcher}.
 *
 * <p>Borrows the file's bytes, as {@link SstReader} does. Thread-safe.
 */
public final class BlobReader {
    /** Header of a record: checksum and length of its data. */
    static final int RECORD_HEADER_BYTES = 2 * Integer.BYTES;

    private final MemorySegment bytes; // null: values come with their records
    private final long fileId;
    private final String file;
    private final BlobFooter footer;
    private final BlobFooter.Properties properties;
    private final SecretKeySpec key; // null: not encrypted

    /**
     * @param whole  the file; null if only its tail is held
     * @param bytes  the file from {@code tailAt} on: at least properties and footer
     */
    private BlobReader(MemorySegment whole, MemorySegment bytes, long tailAt, long fileId, ShardKey shardKey) {
        this.bytes = whole;
        this.fileId = fileId;
        this.file = Formats.blobName(fileId);
        footer = BlobFooter.read(bytes, file);
        long at = bytes.byteSize() - BlobFooter.BYTES;
        if (footer.propertiesOffset() > tailAt + at || footer.propertiesOffset() < tailAt) {
            throw FileErrors.format(file, tailAt + at, "sections of the footer don't follow each other");
        }
        properties = BlobFooter.Properties.read(bytes, footer.propertiesOffset() - tailAt, at, file);
        if (shardKey == null && properties.encrypted()) {
            throw FileErrors.encrypted(
                    "file is encrypted and the shard has no key",
                    properties.keyVersion(),
                    file,
                    footer.propertiesOffset());
        }
        key = shardKey == null
                ? null
                : shardKey.fileKey(properties.keyVersion(), properties.encrypted(), file, footer.propertiesOffset());
    }

    /**
     * Opens a blob file.
     *
     * @param bytes the whole file, in native memory; borrowed
     * @param key   of the shard; null if it has none
     * @throws CoplaneException of code FILE_TRUNCATED, FILE_FORMAT; FILE_ENCRYPTED if the file needs a key
     */
    public static BlobReader open(MemorySegment bytes, long fileId, ShardKey key) {
        Formats.requireNative(bytes);
        return new BlobReader(bytes, bytes, 0, fileId, key);
    }

    /** Opens a file of which only the end is held, from {@code tailAt} on: at least properties and footer. */
    static BlobReader openTail(MemorySegment tail, long tailAt, long fileId, ShardKey key) {
        return new BlobReader(null, tail, tailAt, fileId, key);
    }

    /** Offset of the properties, as the footer at the end of these bytes says; not checked. */
    static long propertiesOffset(MemorySegment tail) {
        return tail.get(Layouts.LE_INT, tail.byteSize() - BlobFooter.BYTES + BlobFooter.PROPERTIES_AT) & 0xFFFF_FFFFL;
    }

    /**
     * The index of the file's records; not needed to fetch values. Checked anew with each call. Not of a file of which only the end is held.
     *
     * @throws CoplaneException of code FILE_FORMAT, FILE_CHECKSUM
     */
    public BlobIndex index() {
        return new BlobIndex(
                bytes, footer.indexOffset(), footer.propertiesOffset(), footer.indexOffset(), footer.checksum(), file);
    }

    /** File id: what {@link BlobRef#fileId} names. */
    public long fileId() {
        return fileId;
    }

    /** Offset from which on all is metadata. */
    public long metaOffset() {
        return footer.indexOffset();
    }

    /** Bytes of all values, low 32 bits; unsigned. */
    public int totalBlobBytes() {
        return footer.totalBlobBytes();
    }

    /** Least length of the values that the builder was given; unsigned. */
    public int minBlobBytes() {
        return footer.minBlobBytes();
    }

    /** Compression of the values. */
    public CompressionType compression() {
        return footer.compression();
    }

    /** Checksum of the values. */
    public ChecksumType checksum() {
        return footer.checksum();
    }

    /** Least inner key; a copy. */
    public byte[] smallest() {
        return properties.smallest().clone();
    }

    /** Greatest inner key; a copy. */
    public byte[] biggest() {
        return properties.biggest().clone();
    }

    MemorySegment bytes() {
        return bytes;
    }

    String file() {
        return file;
    }

    SecretKeySpec key() {
        return key;
    }

    long propertiesOffset() {
        return footer.propertiesOffset();
    }
}
