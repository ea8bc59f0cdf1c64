package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.Checksum;
import javax.crypto.spec.SecretKeySpec;

/**
 * Writes blob files (sst.md 7.3). Keys may come in any order, also several times. Several files may be written in turn: {@link #finish()}, then
 * {@link #reset}; {@link #takeFile} hands over the memory that a file was built in. Owns native memory charged to the guard, and codec state, until
 * closed. One thread.
 */
public final class BlobBuilder implements AutoCloseable {
    private final BlobOptions options;
    private final SecretKeySpec fileKey; // null: not encrypted
    private final BlockCipher cipher; // null: not encrypted
    private final BlockCompressor compressor;
    private final Checksum checksum; // null: none
    private final MemoryGuard guard;
    private final NativeArena scratch;
    private final NativeBytes value;
    private final NativeBytes indexKeys; // keyLength (4), offset (4), key
    private NativeBytes file; // records, to which all else is appended
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
        this.cipher = fileKey == null ? null : new BlockCipher();
        this.compressor = new BlockCompressor(options.compression(), options.compressionLevel(), guard);
        this.checksum = Formats.checksum(options.checksum());
        this.guard = guard;
        this.scratch = new NativeArena(guard);
        this.value = new NativeBytes(scratch);
        this.indexKeys = new NativeBytes(scratch);
        this.file = new NativeBytes(guard);
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
        return add(key, keyOffset, keyLength);
    }

    /** As the other one, with the value on the heap. */
    public BlobRef add(byte[] key, int keyOffset, int keyLength, byte[] bytes, int offset, int length) {
        value.clear();
        value.put(bytes, offset, length);
        return add(key, keyOffset, keyLength);
    }

    private BlobRef add(byte[] key, int keyOffset, int keyLength) {
        int length = value.length;
        if (totalBytes + length > 0xFFFF_FFFFL) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "blob file is too large: bytes=" + totalBytes);
        }
        widen(key, keyOffset, keyLength);
        totalBytes += length;
        sinceIndexed += length;
        if (file.length == 0 || sinceIndexed >= options.blockBytes()) {
            indexKeys.putInt(keyLength);
            indexKeys.putInt(file.length);
            indexKeys.put(key, keyOffset, keyLength);
            indexed++;
            sinceIndexed = 0;
        }
        int at = file.length;
        file.putInt(0); // checksum, set below
        file.putInt(0); // length, set below
        int dataAt = file.length;
        compressor.compress(value, false, file);
        int stored = file.length - dataAt;
        if (fileKey != null) {
            cipher.crypt(fileKey, fileId, at, file.segment, dataAt, stored);
        }
        file.setInt(at + Integer.BYTES, stored);
        if (checksum != null) {
            checksum.reset();
            ByteBuffer buffer = file.buffer();
            checksum.update(buffer.limit(file.length).position(dataAt));
            file.setInt(at, (int) checksum.getValue());
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
        return file.length == 0;
    }

    /** Bytes of the values added. */
    public long totalBlobBytes() {
        return totalBytes;
    }

    /**
     * Completes the file in memory of the caller's.
     *
     * @param arena owns the file's memory; borrowed
     */
    public SstFile finish(NativeArena arena) {
        return finish().copyInto(arena);
    }

    /** Completes the file; its bytes are valid until {@link #reset} or {@link #close}, or as long as what {@link #takeFile} returns. */
    public SstFile finish() {
        if (isEmpty()) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "a blob file needs a value: fileId=" + fileId);
        }
        int indexAt = file.length;
        IndexWriter.writeBlob(indexKeys, indexed, file, checksum);
        int propertiesAt = file.length;
        property(BlobFooter.Properties.SMALLEST, smallest);
        property(BlobFooter.Properties.BIGGEST, biggest);
        if (options.key() != null) {
            byte[] version = new byte[Integer.BYTES];
            Bytes.LE_INT.set(version, 0, options.key().version());
            property(TableProperties.ENCRYPTION_VERSION, version);
        }
        file.putInt((int) totalBytes);
        file.putInt(indexAt);
        file.putInt(propertiesAt);
        file.putInt(options.minBlobBytes());
        file.putInt(BlobFooter.MAGIC);
        file.putShort(BlobFooter.FORMAT);
        file.putByte(options.compression().number());
        file.putByte(options.checksum().number());
        return new SstFile(fileId, indexAt, propertiesAt, smallest, biggest, file.view());
    }

    /** Has the next file built in this memory. Before its first value. @param memory taken */
    public void buildIn(NativeBytes memory) {
        if (!isEmpty()) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "blob file is begun: fileId=" + fileId);
        }
        file.close();
        memory.clear();
        file = memory;
    }

    /** Hands over the memory of the finished file, whose bytes stay valid until it is closed. The next file gets other memory. */
    public NativeBytes takeFile() {
        NativeBytes taken = file;
        file = new NativeBytes(guard);
        return taken;
    }

    private void property(String name, byte[] bytes) {
        byte[] nameBytes = name.getBytes(StandardCharsets.US_ASCII);
        file.putShort(nameBytes.length);
        file.put(nameBytes, 0, nameBytes.length);
        file.putInt(bytes.length);
        file.put(bytes, 0, bytes.length);
    }

    /** Forgets what was added and begins another file. */
    public void reset(long newFileId) {
        fileId = newFileId;
        file.clear();
        indexKeys.clear();
        indexed = 0;
        sinceIndexed = 0;
        totalBytes = 0;
        smallest = null;
        biggest = null;
    }

    @Override
    public void close() {
        file.close();
        scratch.close();
        compressor.close();
    }
}
