package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.zip.Checksum;

/** Fetches values from blob files: verifies, decrypts, decompresses (sst.md 7.4), in this order. One thread. */
public final class BlobFetcher {
    private static final MemorySegment EMPTY = MemorySegment.NULL;

    private final NativeScratch plain;
    private final NativeScratch value;
    private BlockCipher cipher; // made when first needed

    /** @param arena owns the scratch memory; borrowed */
    public BlobFetcher(NativeArena arena) {
        plain = new NativeScratch(arena);
        value = new NativeScratch(arena);
    }

    /**
     * The value that a reference stands for.
     *
     * @return exactly the value's bytes, in the file or in scratch memory; valid until the next call
     * @throws CoplaneException of code FILE_MISMATCH if the reference is to another file, FILE_FORMAT, FILE_CHECKSUM or MEMORY_LIMIT
     */
    public MemorySegment fetch(BlobReader from, BlobRef ref) {
        long at = Integer.toUnsignedLong(ref.offset());
        checkBounds(from, ref);
        return fetch(from, ref, from.bytes(), at);
    }

    /**
     * The value that a reference stands for, given its record.
     *
     * @param record bytes of the file from {@link BlobRef#offset} on, {@link StreamedFiles#recordBytes} of them
     */
    public MemorySegment fetch(BlobReader from, BlobRef ref, MemorySegment record) {
        checkBounds(from, ref);
        return fetch(from, ref, record, 0);
    }

    private static void checkBounds(BlobReader from, BlobRef ref) {
        long at = Integer.toUnsignedLong(ref.offset());
        if (ref.fileId() != from.fileId()) {
            throw FileErrors.of(
                    ErrorCode.FILE_MISMATCH,
                    from.file(),
                    at,
                    "blob table not found, fid: " + Long.toUnsignedString(ref.fileId()),
                    null);
        }
        long stored = Integer.toUnsignedLong(ref.storedBytes());
        if (at + BlobReader.RECORD_HEADER_BYTES + stored > from.metaOffset()) {
            throw FileErrors.format(from.file(), at, "blob is out of bounds: storedBytes=" + stored);
        }
    }

    /** @param position of the record in {@code bytes} */
    private MemorySegment fetch(BlobReader from, BlobRef ref, MemorySegment bytes, long position) {
        long at = Integer.toUnsignedLong(ref.offset());
        long stored = Integer.toUnsignedLong(ref.storedBytes());
        long dataAt = position + BlobReader.RECORD_HEADER_BYTES;
        long recorded = bytes.get(Layouts.LE_INT, position + Integer.BYTES) & 0xFFFF_FFFFL;
        if (recorded != stored) {
            throw FileErrors.format(
                    from.file(), at, "blob has another length: storedBytes=" + stored + " recorded=" + recorded);
        }
        verify(from, at, bytes, position, stored);
        long length = Integer.toUnsignedLong(ref.valueBytes());
        if (from.compression() == CompressionType.NONE ? length != stored : stored == 0 && length != 0) {
            throw FileErrors.format(
                    from.file(), at, "blob has another length: valueBytes=" + length + " storedBytes=" + stored);
        }
        if (stored == 0) {
            return EMPTY;
        }
        MemorySegment data = bytes;
        long start = dataAt;
        if (from.key() != null) {
            if (cipher == null) {
                cipher = new BlockCipher();
            }
            data = plain.atLeast(stored);
            cipher.decrypt(from.key(), from.fileId(), ref.offset(), bytes, dataAt, stored, data);
            start = 0;
        }
        return decompress(from, ref, data, start, start + stored);
    }

    private MemorySegment decompress(BlobReader from, BlobRef ref, MemorySegment data, long start, long end) {
        long length = Integer.toUnsignedLong(ref.valueBytes());
        long at = Integer.toUnsignedLong(ref.offset());
        if (from.compression() == CompressionType.NONE) {
            return data.asSlice(start, end - start);
        }
        if (length == 0) {
            return EMPTY;
        }
        if (from.compression() == CompressionType.LZ4) {
            Codecs.lz4(data, start, end, length, value, from.file(), at);
            return value.atLeast(length).asSlice(0, length);
        }
        long decoded = Codecs.zstd(data, start, end, value, from.file(), at);
        if (decoded != length) {
            throw FileErrors.format(
                    from.file(), at, "blob has another length: valueBytes=" + length + " decoded=" + decoded);
        }
        return value.atLeast(length).asSlice(0, length);
    }

    private static void verify(BlobReader from, long at, MemorySegment bytes, long position, long stored) {
        if (from.checksum() == ChecksumType.NONE) {
            return; // what is stored then is not looked at
        }
        int expected = bytes.get(Layouts.LE_INT, position);
        long dataAt = position + BlobReader.RECORD_HEADER_BYTES;
        Checksum checksum = Formats.checksum(from.checksum());
        if (Formats.compute(bytes, dataAt, dataAt + stored, checksum) != expected) {
            throw FileErrors.checksum(from.file(), at, "Invalid checksum blob checksum mismatch");
        }
    }
}
