package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/**
 * Footer of a blob file: its last 24 bytes (sst.md 7.1). All integers little-endian. Offsets are from the start of the file; that they are in bounds is
 * for the caller to check.
 *
 * <pre>
 * at  bytes  field             unit and bounds
 *  0      4  totalBlobBytes    of the values given to the builder, low 32 bits
 *  4      4  indexOffset       the meta offset
 *  8      4  propertiesOffset  indexOffset ..
 * 12      4  minBlobBytes
 * 16      4  magic             0xDEADBEEF
 * 20      2  formatVersion     1
 * 22      1  compressionType   0 .. 2
 * 23      1  checksumType      0 .. 2
 * </pre>
 */
record BlobFooter(
        int totalBlobBytes,
        long indexOffset,
        long propertiesOffset,
        int minBlobBytes,
        CompressionType compression,
        ChecksumType checksum) {
    static final int INDEX_AT = Integer.BYTES;
    static final int PROPERTIES_AT = INDEX_AT + Integer.BYTES;
    static final int MIN_BLOB_AT = PROPERTIES_AT + Integer.BYTES;
    static final int MAGIC_AT = MIN_BLOB_AT + Integer.BYTES;
    static final int FORMAT_AT = MAGIC_AT + Integer.BYTES;
    static final int COMPRESSION_AT = FORMAT_AT + Short.BYTES;
    static final int CHECKSUM_AT = COMPRESSION_AT + Byte.BYTES;
    static final int BYTES = CHECKSUM_AT + Byte.BYTES;

    static final int MAGIC = 0xDEAD_BEEF;
    static final int FORMAT = 1;

    /** Until blob files had an index, the magic stood at their very end (sst.md 13). */
    private static final int OLD_MAGIC_AT = BYTES - Integer.BYTES;

    /** Reads and checks the footer at the end of a file or of its meta part. */
    static BlobFooter read(MemorySegment bytes, String file) {
        long at = bytes.byteSize() - BYTES;
        if (at < 0) {
            throw FileErrors.truncated(file, 0, "Invalid file size");
        }
        if (bytes.get(Layouts.LE_INT, at + MAGIC_AT) != MAGIC) {
            boolean old = bytes.get(Layouts.LE_INT, at + OLD_MAGIC_AT) == MAGIC;
            throw FileErrors.format(
                    file, at + MAGIC_AT, old ? "blob file of an old version without index" : "Invalid magic number");
        }
        if (bytes.get(Layouts.LE_SHORT, at + FORMAT_AT) != FORMAT) {
            throw FileErrors.format(file, at + FORMAT_AT, "unknown blob format version");
        }
        var footer = new BlobFooter(
                bytes.get(Layouts.LE_INT, at),
                bytes.get(Layouts.LE_INT, at + INDEX_AT) & 0xFFFF_FFFFL,
                bytes.get(Layouts.LE_INT, at + PROPERTIES_AT) & 0xFFFF_FFFFL,
                bytes.get(Layouts.LE_INT, at + MIN_BLOB_AT),
                CompressionType.of(bytes.get(Layouts.BYTE, at + COMPRESSION_AT) & 0xFF, file, at + COMPRESSION_AT),
                ChecksumType.of(bytes.get(Layouts.BYTE, at + CHECKSUM_AT) & 0xFF, file, at + CHECKSUM_AT));
        if (footer.indexOffset > footer.propertiesOffset) {
            throw FileErrors.format(file, at, "sections of the footer don't follow each other");
        }
        return footer;
    }

    /**
     * Properties of a blob file (sst.md 7.1); no checksum covers them.
     *
     * @param smallest   least inner key
     * @param biggest    greatest inner key
     * @param keyVersion that encrypts the values; 0 if the file doesn't say
     * @param encrypted  whether the file names a key version
     */
    record Properties(byte[] smallest, byte[] biggest, int keyVersion, boolean encrypted) {
        static final String SMALLEST = "smallest_key";
        static final String BIGGEST = "biggest_key";

        /** Reads {@code from .. to - 1}, which are in bounds. */
        static Properties read(MemorySegment bytes, long from, long to, String file) {
            byte[] least = new byte[0];
            byte[] greatest = new byte[0];
            int version = 0;
            boolean encrypted = false;
            var properties = new TableProperties.Parser(bytes, from, to, file);
            while (properties.next()) {
                switch (properties.name) {
                    case SMALLEST -> least = Bytes.trim(properties.keyValue());
                    case BIGGEST -> greatest = Bytes.trim(properties.keyValue());
                    case TableProperties.ENCRYPTION_VERSION -> {
                        version = properties.intValue();
                        encrypted = true;
                    }
                    default -> {
                        // names of later versions are skipped
                    }
                }
            }
            return new Properties(least, greatest, version, encrypted);
        }
    }
}
