package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.Checksum;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/**
 * Writes blob files (sst.md 7.3). Keys may come in any order, also several times. Several files may be written in turn: {@link #finish}, then
 * {@link #reset}. Owns heap memory charged to the guard, and codec state, until closed. One thread.
 */
public final class BlobBuilder implements AutoCloseable {
    private final BlobOptions options;
    private final SecretKeySpec fileKey; // null: not encrypted
    private final Cipher cipher;
    private final BlockCompressor compressor;
    private final Checksum checksum; // null: none
    private final GrowableBytes records;
    private final GrowableBytes value;
    private final GrowableBytes indexKeys; // keyLength (4), offset (4), key
    private final GrowableBytes meta;
    private int indexed;
    private long sinceIndexed;
    private long totalBytes;
    private byte[] smallest;
    private byte[] biggest;
    private long fileId;

    /**
     * A builder of blob files.
     *
     * @param fileId of the first file
     * @param guard  charged for what is held; borrowed
     */
    public BlobBuilder(BlobOptions options, long fileId, MemoryGuard guard) {
        this.options = options;
        this.fileId = fileId;
        this.fileKey = options.key() == null
                ? null
                : options.key().fileKey(options.key().version());
        this.cipher = fileKey == null ? null : ShardKey.newCipher();
        this.compressor = new BlockCompressor(options.compression(), options.compressionLevel());
        this.checksum = Formats.checksum(options.checksum());
        this.records = new GrowableBytes(guard);
        this.value = new GrowableBytes(guard);
        this.indexKeys = new GrowableBytes(guard);
        this.meta = new GrowableBytes(guard);
    }

    /**
     * Adds a value.
     *
     * @param key   inner key, copied
     * @param bytes the value, copied
     * @return where it is: what the table's entry holds instead
     */
    public BlobRef add(byte[] key, int keyOffset, int keyLength, MemorySegment bytes, long offset, int length) {
        value.clear();
        value.put(bytes, offset, length);
        return add(key, keyOffset, keyLength, value.bytes, 0, length);
    }

    /** As the other one, with the value on the heap. */
    public BlobRef add(byte[] key, int keyOffset, int keyLength, byte[] bytes, int offset, int length) {
        if (totalBytes + length > 0xFFFF_FFFFL) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "blob file is too large: bytes=" + totalBytes);
        }
        widen(key, keyOffset, keyLength);
        totalBytes += length;
        sinceIndexed += length;
        if (records.length == 0 || sinceIndexed >= options.blockBytes()) {
            indexKeys.putInt(keyLength);
            indexKeys.putInt(records.length);
            indexKeys.put(key, keyOffset, keyLength);
            indexed++;
            sinceIndexed = 0;
        }
        int at = records.length;
        records.putInt(0); // checksum, set below
        records.putInt(0); // length, set below
        int dataAt = records.length;
        compressor.compress(bytes, offset, length, false, records);
        int stored = records.length - dataAt;
        if (fileKey != null) {
            ShardKey.crypt(cipher, fileKey, fileId, at, records.bytes, dataAt, records.length);
        }
        Bytes.LE_INT.set(records.bytes, at + Integer.BYTES, stored);
        if (checksum != null) {
            checksum.reset();
            checksum.update(records.bytes, dataAt, stored);
            Bytes.LE_INT.set(records.bytes, at, (int) checksum.getValue());
        }
        return new BlobRef(fileId, at, stored, length);
    }

    private void widen(byte[] key, int offset, int length) {
        if (smallest == null || Bytes.compare(key, offset, length, smallest) < 0) {
            smallest = Arrays.copyOfRange(key, offset, offset + length);
        }
        if (biggest == null || Bytes.compare(key, offset, length, biggest) > 0) {
            biggest = Arrays.copyOfRange(key, offset, offset + length);
        }
    }

    /** Whether nothing was added: then there is no file to write. */
    public boolean isEmpty() {
        return records.length == 0;
    }

    /** Bytes of the values added. */
    public long totalBlobBytes() {
        return totalBytes;
    }

    /**
     * Completes the file.
     *
     * @param arena owns the file's memory; borrowed
     */
    public SstFile finish(NativeArena arena) {
        if (isEmpty()) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "a blob file needs a value: fileId=" + fileId);
        }
        meta.clear();
        IndexWriter.writeBlob(indexKeys.bytes, indexKeys.length, indexed, meta, checksum);
        int properties = meta.length;
        property(BlobFooter.Properties.SMALLEST, smallest);
        property(BlobFooter.Properties.BIGGEST, biggest);
        if (options.key() != null) {
            byte[] version = new byte[Integer.BYTES];
            Bytes.LE_INT.set(version, 0, options.key().version());
            property(TableProperties.ENCRYPTION_VERSION, version);
        }
        meta.putInt((int) totalBytes);
        meta.putInt(records.length);
        meta.putInt(records.length + properties);
        meta.putInt(options.minBlobBytes());
        meta.putInt(BlobFooter.MAGIC);
        meta.putShort(BlobFooter.FORMAT);
        meta.putByte(options.compression().number());
        meta.putByte(options.checksum().number());
        MemorySegment bytes = arena.allocate((long) records.length + meta.length);
        MemorySegment.copy(MemorySegment.ofArray(records.bytes), 0, bytes, 0, records.length);
        MemorySegment.copy(MemorySegment.ofArray(meta.bytes), 0, bytes, records.length, meta.length);
        return new SstFile(fileId, records.length, (long) records.length + properties, smallest, biggest, bytes);
    }

    private void property(String name, byte[] bytes) {
        byte[] nameBytes = name.getBytes(StandardCharsets.US_ASCII);
        meta.putShort(nameBytes.length);
        meta.put(nameBytes, 0, nameBytes.length);
        meta.putInt(bytes.length);
        meta.put(bytes, 0, bytes.length);
    }

    /** Forgets what was added and begins another file. */
    public void reset(long newFileId) {
        fileId = newFileId;
        records.clear();
        indexKeys.clear();
        meta.clear();
        indexed = 0;
        sinceIndexed = 0;
        totalBytes = 0;
        smallest = null;
        biggest = null;
    }

    @Override
    public void close() {
        records.close();
        value.close();
        indexKeys.close();
        meta.close();
        compressor.close();
    }
}
