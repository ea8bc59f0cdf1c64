package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/** Constants and small rules that all row store files share (sst.md 1, 5.1). */
final class Formats {
    static final int SST_MAGIC = 0xAF45_4059;
    static final int SPLIT_L0_MAGIC = 0xAF45_405A;
    static final int TABLE_FORMAT = 1;
    static final int BLOCK_FORMAT = 1;
    static final int INDEX_FORMAT = 1;
    static final int FILTER_TYPE = 1;

    static final int CHECKSUM_BYTES = 4;
    static final int MAX_KEY_BYTES = 0xFFFF;
    static final int MAX_USER_META_BYTES = 0xFF;

    /** Column families in file order: write, lock, extra. */
    static final int CF_COUNT = 3;

    private Formats() {}

    static String sstName(long fileId) {
        return HexFormat.of().toHexDigits(fileId) + ".sst";
    }

    static String blobName(long fileId) {
        return HexFormat.of().toHexDigits(fileId) + ".blob";
    }

    static String txnName(long chunkId) {
        return HexFormat.of().toHexDigits(chunkId) + ".txn";
    }

    static void requireNative(MemorySegment bytes) {
        if (!bytes.isNative()) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "file bytes are not in native memory");
        }
    }

    /** A new computation of the type, or null for type none. */
    static Checksum checksum(ChecksumType type) {
        return switch (type) {
            case NONE -> null;
            case CRC32C -> new CRC32C();
            case CRC32 -> new CRC32();
        };
    }

    /** Checks a section that begins with its checksum (sst.md 5.1); {@code from .. to - 1} are in bounds. */
    static void verifySection(MemorySegment bytes, long from, long to, ChecksumType type, String file, String section) {
        if (to - from < CHECKSUM_BYTES) {
            throw FileErrors.format(file, from, "Invalid checksum data is too short: section=" + section);
        }
        verify(bytes, from, to, checksum(type), type, file, from, section);
    }

    /**
     * Checks {@code bytes[from .. to - 1]} that begin with their checksum.
     *
     * @param checksum of {@code type}, in any state; null for none
     * @param offset   of these bytes in the file, for the message
     */
    static void verify(
            MemorySegment bytes,
            long from,
            long to,
            Checksum checksum,
            ChecksumType type,
            String file,
            long offset,
            String section) {
        int stored = bytes.get(Layouts.LE_INT, from);
        int computed = compute(bytes, from + CHECKSUM_BYTES, to, checksum);
        if (stored != computed) {
            throw FileErrors.checksum(
                    file,
                    offset,
                    "Invalid checksum " + type.label() + " checksum mismatch expect "
                            + Integer.toUnsignedString(stored) + " got "
                            + Integer.toUnsignedString(computed) + ": section=" + section);
        }
    }

    /** Checksum of {@code bytes[from .. to - 1]}; {@code checksum} in any state, null for none. */
    static int compute(MemorySegment bytes, long from, long to, Checksum checksum) {
        if (checksum == null) {
            return 0;
        }
        checksum.reset();
        for (long at = from; at < to; at += Integer.MAX_VALUE) {
            long end = Math.min(to, at + Integer.MAX_VALUE);
            checksum.update(bytes.asSlice(at, end - at).asByteBuffer());
        }
        return (int) checksum.getValue();
    }
}
