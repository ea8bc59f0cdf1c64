package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import javax.crypto.spec.SecretKeySpec;

/**
 * One blob file: large values that tables refer to (sst.md 7). Values are fetched by a {@link BlobFetcher}.
 *
 * <pre>
 * records, index, properties, then the footer: the last 24 bytes; all integers little-endian
 * at  bytes  field             unit and bounds
 *  0      4  totalBlobBytes    of the values given to the builder, low 32 bits
 *  4      4  indexOffset       bytes from file start; the meta offset
 *  8      4  propertiesOffset  indexOffset ..
 * 12      4  minBlobBytes
 * 16      4  magic             0xDEADBEEF
 * 20      2  formatVersion     1
 * 22      1  compressionType   0 .. 2
 * 23      1  checksumType      0 .. 2
 * </pre>
 *
 * Borrows the file's bytes, as {@link SstReader} does. Thread-safe.
 */
public final class BlobReader {
    static final int TOTAL_AT = 0;
    static final int INDEX_AT = TOTAL_AT + Integer.BYTES;
    static final int PROPERTIES_AT = INDEX_AT + Integer.BYTES;
    static final int MIN_BLOB_AT = PROPERTIES_AT + Integer.BYTES;
    static final int MAGIC_AT = MIN_BLOB_AT + Integer.BYTES;
    static final int FORMAT_AT = MAGIC_AT + Integer.BYTES;
    static final int COMPRESSION_AT = FORMAT_AT + Short.BYTES;
    static final int CHECKSUM_AT = COMPRESSION_AT + Byte.BYTES;
    static final int FOOTER_BYTES = CHECKSUM_AT + Byte.BYTES;

    static final int MAGIC = 0xDEAD_BEEF;
    static final int FORMAT = 1;

    /** Header of a record: checksum and length of its data. */
    static final int RECORD_HEADER_BYTES = 2 * Integer.BYTES;

    static final String SMALLEST = "smallest_key";
    static final String BIGGEST = "biggest_key";

    private final MemorySegment bytes; // null: values come with their records
    private final long fileId;
    private final String file;
    private final long indexOffset;
    private final long propertiesOffset;
    private final int totalBlobBytes;
    private final int minBlobBytes;
    private final CompressionType compression;
    private final ChecksumType checksum;
    private final SecretKeySpec key; // null: not encrypted
    private final byte[] smallest;
    private final byte[] biggest;

    /**
     * @param whole  the file; null if only its tail is held
     * @param bytes  the file from {@code tailAt} on: at least properties and footer
     */
    private BlobReader(MemorySegment whole, MemorySegment bytes, long tailAt, long fileId, ShardKey shardKey) {
        this.bytes = whole;
        this.fileId = fileId;
        this.file = Formats.blobName(fileId);
        if (bytes.byteSize() < FOOTER_BYTES) {
            throw FileErrors.truncated(file, 0, "Invalid file size");
        }
        long at = bytes.byteSize() - FOOTER_BYTES;
        if (bytes.get(Layouts.LE_INT, at + MAGIC_AT) != MAGIC) {
            throw FileErrors.format(file, at + MAGIC_AT, "Invalid magic number");
        }
        if (bytes.get(Layouts.LE_SHORT, at + FORMAT_AT) != FORMAT) {
            throw FileErrors.format(file, at + FORMAT_AT, "unknown blob format version");
        }
        totalBlobBytes = bytes.get(Layouts.LE_INT, at + TOTAL_AT);
        indexOffset = bytes.get(Layouts.LE_INT, at + INDEX_AT) & 0xFFFF_FFFFL;
        propertiesOffset = bytes.get(Layouts.LE_INT, at + PROPERTIES_AT) & 0xFFFF_FFFFL;
        minBlobBytes = bytes.get(Layouts.LE_INT, at + MIN_BLOB_AT);
        compression =
                CompressionType.of(bytes.get(Layouts.BYTE, at + COMPRESSION_AT) & 0xFF, file, at + COMPRESSION_AT);
        checksum = ChecksumType.of(bytes.get(Layouts.BYTE, at + CHECKSUM_AT) & 0xFF, file, at + CHECKSUM_AT);
        if (indexOffset > propertiesOffset || propertiesOffset > tailAt + at || propertiesOffset < tailAt) {
            throw FileErrors.format(file, at, "sections of the footer don't follow each other");
        }
        byte[] least = new byte[0];
        byte[] greatest = new byte[0];
        int version = 0;
        boolean encrypted = false;
        var properties = new TableProperties.Parser(bytes, propertiesOffset - tailAt, at, file);
        while (properties.next()) {
            switch (properties.name) {
                case SMALLEST -> least = Bytes.trim(properties.bytesValue());
                case BIGGEST -> greatest = Bytes.trim(properties.bytesValue());
                case TableProperties.ENCRYPTION_VERSION -> {
                    version = properties.intValue();
                    encrypted = true;
                }
                default -> {
                    // names of later versions are skipped
                }
            }
        }
        smallest = least;
        biggest = greatest;
        if (shardKey == null && encrypted) {
            throw FileErrors.of(
                    ErrorCode.FILE_ENCRYPTED,
                    file,
                    propertiesOffset,
                    "file is encrypted and the shard has no key: version=" + version,
                    null);
        }
        key = shardKey == null ? null : shardKey.fileKey(version);
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
        return tail.get(Layouts.LE_INT, tail.byteSize() - FOOTER_BYTES + PROPERTIES_AT) & 0xFFFF_FFFFL;
    }

    /**
     * The index of the file's records; not needed to fetch values. Checked anew with each call.
     *
     * @throws CoplaneException of code FILE_FORMAT, FILE_CHECKSUM
     */
    public BlobIndex index() {
        return new BlobIndex(bytes, indexOffset, propertiesOffset, indexOffset, checksum, file);
    }

    /** File id: what {@link BlobRef#fileId} names. */
    public long fileId() {
        return fileId;
    }

    /** Offset from which on all is metadata. */
    public long metaOffset() {
        return indexOffset;
    }

    /** Bytes of all values, low 32 bits; unsigned. */
    public int totalBlobBytes() {
        return totalBlobBytes;
    }

    /** Least length of the values that the builder was given; unsigned. */
    public int minBlobBytes() {
        return minBlobBytes;
    }

    /** Compression of the values. */
    public CompressionType compression() {
        return compression;
    }

    /** Checksum of the values. */
    public ChecksumType checksum() {
        return checksum;
    }

    /** Least inner key; a copy. */
    public byte[] smallest() {
        return smallest.clone();
    }

    /** Greatest inner key; a copy. */
    public byte[] biggest() {
        return biggest.clone();
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
        return propertiesOffset;
    }
}
