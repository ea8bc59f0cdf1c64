package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.Checksum;

/** What is in a txn chunk besides its blocks, parsed and checked; the same for every key. Borrows the file's bytes. Immutable; thread-safe. */
final class TxnChunkContents {
    private static final int KEY_VERSION_BYTES = Integer.BYTES;

    final MemorySegment bytes;
    final long chunkId;
    final String file;
    final ChecksumType checksum;
    final long[] blockOffsets; // one more than blocks
    final byte[][] firstKeys; // as stored: blocks take their prefix from them
    final byte[][] firstInnerKeys;
    final byte[] biggest;

    // properties
    long insertCount;
    long checkNotExistCount;
    byte[] checkingBlocks; // null: any block may hold checks
    int keyVersion;
    boolean encrypted;

    /**
     * @param bytes the whole file; borrowed
     * @throws io.coplane.nativecache.CoplaneException of code FILE_TRUNCATED, FILE_FORMAT, FILE_CHECKSUM
     */
    TxnChunkContents(MemorySegment bytes, long chunkId) {
        this.bytes = bytes;
        this.chunkId = chunkId;
        file = HexFormat.of().toHexDigits(chunkId) + ".txn";
        TxnChunkFooter footer = TxnChunkFooter.read(bytes, file);
        checksum = footer.checksum();
        verifyEnd(bytes, footer.indexOffset(), footer.hashIndexOffset(), footer.indexOffset());
        verifyEnd(bytes, footer.hashIndexOffset(), footer.propertiesOffset(), footer.hashIndexOffset());
        verifyEnd(bytes, footer.propertiesOffset(), footer.footerOffset(), footer.propertiesOffset());

        long at = footer.indexOffset();
        long end = footer.hashIndexOffset() - Formats.CHECKSUM_BYTES;
        long count = end - at < Integer.BYTES ? 0 : bytes.get(Layouts.LE_INT, at) & 0xFFFF_FFFFL;
        long keysAt = at + Integer.BYTES + 2 * Integer.BYTES * (count + 1);
        if (count == 0 || keysAt > end) {
            throw FileErrors.format(file, at, "index of a txn chunk is too short: blocks=" + count);
        }
        int blocks = (int) count; // fits: each takes 8 bytes of a file below 4 GiB
        blockOffsets = new long[blocks + 1];
        firstKeys = new byte[blocks][];
        firstInnerKeys = new byte[blocks][];
        long blockOffsetsAt = at + Integer.BYTES;
        for (int i = 0; i <= blocks; i++) {
            blockOffsets[i] = bytes.get(Layouts.LE_INT, blockOffsetsAt + 4L * i) & 0xFFFF_FFFFL;
            if (i > 0 && blockOffsets[i] <= blockOffsets[i - 1] || blockOffsets[i] > footer.indexOffset()) {
                throw FileErrors.format(file, blockOffsetsAt + 4L * i, "block offset is out of bounds: block=" + i);
            }
        }
        long keyOffsetsAt = blockOffsetsAt + 4L * (blocks + 1);
        for (int i = 0; i < blocks; i++) {
            firstKeys[i] = readKey(keyOffsetsAt + 4L * i, keysAt, end, false);
            firstInnerKeys[i] = Bytes.trim(firstKeys[i]);
            if (i > 0 && Arrays.compareUnsigned(firstInnerKeys[i - 1], firstInnerKeys[i]) >= 0) {
                throw FileErrors.format(
                        file, keyOffsetsAt + 4L * i, "first keys of blocks are out of order: block=" + i);
            }
        }
        biggest = Bytes.trim(readKey(keyOffsetsAt + 4L * blocks, keysAt, end, true));
        if (Arrays.compareUnsigned(firstInnerKeys[blocks - 1], biggest) > 0) {
            throw FileErrors.format(file, keyOffsetsAt + 4L * blocks, "biggest key is less than a key before it");
        }
        readProperties(footer.propertiesOffset(), footer.footerOffset() - Formats.CHECKSUM_BYTES);
    }

    private byte[] readKey(long offsetAt, long keysAt, long end, boolean last) {
        long from = keysAt + (bytes.get(Layouts.LE_INT, offsetAt) & 0xFFFF_FFFFL);
        long to = last ? end : keysAt + (bytes.get(Layouts.LE_INT, offsetAt + Integer.BYTES) & 0xFFFF_FFFFL);
        if (from > to || to > end || to - from > Formats.MAX_KEY_BYTES) {
            throw FileErrors.format(file, offsetAt, "key of the index is out of bounds");
        }
        return bytes.asSlice(from, to - from).toArray(Layouts.BYTE);
    }

    private void readProperties(long from, long end) {
        long at = from;
        while (at < end) {
            if (end - at < Short.BYTES) {
                throw FileErrors.format(file, at, "property is cut");
            }
            int nameBytes = bytes.get(Layouts.LE_SHORT, at) & 0xFFFF;
            long valueBytesAt = at + Short.BYTES + nameBytes;
            if (end - valueBytesAt < Integer.BYTES) {
                throw FileErrors.format(file, at, "property is cut");
            }
            long valueBytes = bytes.get(Layouts.LE_INT, valueBytesAt) & 0xFFFF_FFFFL;
            long valueAt = valueBytesAt + Integer.BYTES;
            if (valueBytes > end - valueAt) {
                throw FileErrors.format(file, at, "property is cut");
            }
            String name = new String(
                    bytes.asSlice(at + Short.BYTES, nameBytes).toArray(Layouts.BYTE), StandardCharsets.ISO_8859_1);
            readProperty(name, valueAt, valueBytes);
            at = valueAt + valueBytes;
        }
    }

    private void readProperty(String name, long at, long length) {
        switch (name) {
            case TxnChunkReader.INSERT -> insertCount = number(name, at, length) & 0xFFFF_FFFFL;
            case TxnChunkReader.CHECK_NOT_EXIST -> checkNotExistCount = number(name, at, length) & 0xFFFF_FFFFL;
            case TableProperties.ENCRYPTION_VERSION -> {
                keyVersion = number(name, at, length);
                encrypted = true;
            }
            case TxnChunkReader.CHECKING_BLOCKS ->
                checkingBlocks =
                        bytes.asSlice(at, Math.min(length, firstKeys.length)).toArray(Layouts.BYTE);
            default -> {
                // unknown properties are ignored (snapshot.md 7.5)
            }
        }
    }

    private int number(String name, long at, long length) {
        if (length != KEY_VERSION_BYTES) {
            throw FileErrors.format(file, at, "property has a wrong length: name=" + name + " bytes=" + length);
        }
        return bytes.get(Layouts.LE_INT, at);
    }

    /** Checks {@code from .. to - 1} of a segment, which end with their checksum. */
    void verifyEnd(MemorySegment of, long from, long to, long fileOffset) {
        long stop = to - Formats.CHECKSUM_BYTES;
        if (stop < from) {
            throw FileErrors.format(file, fileOffset, "Invalid checksum data is too short");
        }
        int stored = of.get(Layouts.LE_INT, stop);
        int computed = 0;
        Checksum crc = Formats.checksum(checksum);
        if (crc != null) {
            for (long at = from; at < stop; at += Integer.MAX_VALUE) {
                crc.update(
                        of.asSlice(at, Math.min(Integer.MAX_VALUE, stop - at)).asByteBuffer());
            }
            computed = (int) crc.getValue();
        }
        if (stored != computed) {
            throw FileErrors.checksum(
                    file,
                    fileOffset,
                    "Invalid checksum checksum mismatch expect " + Integer.toUnsignedString(stored) + " got "
                            + Integer.toUnsignedString(computed) + " file_id " + Long.toUnsignedString(chunkId));
        }
    }
}
